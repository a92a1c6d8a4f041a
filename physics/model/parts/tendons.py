"""Tendons: sums of coordinates, and paths from site to site around geoms (MuJoCo documentation, Computation: Tendons).

Lengths and their derivatives are in `kinematics.tendons`, forces in `dynamics.tendon_forces`, both of which stages of
several rooms call. A tendon of a model in which all only measure is left out: readings
follow from the coordinates.

Sizes ntendon: tendons, 0 where they only measure; ntendondof: dofs of all; nlink and nlinkdof: links of their paths,
and dofs of their tendons.

A path is a list of links, each straight from one site to the next, or around a geom between them.
"""

from typing import NamedTuple

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field, ids
from ...base.hooks import (
    EXTERNAL_FORCES,
    INERTIA,
    INERTIAL_FORCES,
    MOMENT_ROWS,
    PASSIVE_FORCES,
    POSITION,
    ROW_SLOPES,
    TENDON_FORCES,
    TENDON_REST,
    VELOCITY,
)
from ...base.math import SpatialMotion, Vec3, func
from ...base.math.lanes import traced
from ...base.stage import piece
from ...files.mjmodel.actuators import from_tendon_actuators, owners
from ...files.mjmodel.allowed import DAMPER, FINITE, FORM, HIGHER_ORDER, MASS, RANGE, SPRING, AllowedNumbers, Parameter
from ...files.mjmodel.dofs import dofs_of_body
from ...files.mjmodel.flags import UNLIMITED, disabled
from ...files.mjmodel.sleep import no_sleep
from ...files.mjmodel.tendons import acting_tendons, coefficients, spatial, tendon_dofs
from ...mechanics.dynamics.tendon_forces import add_inertial_forces, entry_of, pull, tendon_rates
from ...mechanics.kinematics.tendons import FIRST, GEOM, SECOND, tendon_lengths
from .part import Part, Rule, Variant

_COUNTED = {"ntendon": "tendon_dofnum", "ntendondof": "tendon_dof", "nlink": "link_shape", "nlinkdof": "link_moves"}
"""Sizes, and a field that has as many numbers."""


@piece(reads="ten_length ten_velocity ten_J", writes="ten_passive", updates="qfrc_passive")
def add_springs(model, work):
    """Add the forces of springs and dampers of tendons to qfrc_passive.

    A spring is at rest between two lengths. Its stiffness is a polynomial of the stretch, the damping one of the speed.
    """
    for t in range(model.ntendon):
        work.ten_passive[t] = work.real(0.0)
        if model.any_true(work.lanes, _acts(model, t)):
            length = work.ten_length[t]
            x = ti.max(length - _rest(model, work, t, 1), 0.0)
            x += ti.min(length - _rest(model, work, t, 0), 0.0)
            stiffness = model.tendon_stiffness.at(t, 1) + x * model.tendon_stiffness.at(t, 2)
            force = x * (x * stiffness + model.tendon_stiffness.at(t, 0))
            speed = work.ten_velocity[t]
            size = ti.abs(speed)
            damping = model.tendon_damping.at(t, 1) + size * model.tendon_damping.at(t, 2)
            force += speed * (size * damping + model.tendon_damping.at(t, 0))
            work.ten_passive[t] = -force
            pull(model, work, t, -force, work.qfrc_passive)


@piece(reads="ten_J ten_velocity")
def damping_row(model, work, t: ti.i32):
    """Return the row of tendon t, and the derivative of its damper's force by its velocity (N s/m)."""
    size, first = ti.abs(work.ten_velocity[t]), model.tendon_dofadr[t]
    steeper = model.tendon_damping.at(t, 1) * 2.0 + size * (model.tendon_damping.at(t, 2) * 3.0)
    slope = -(size * steeper + model.tendon_damping.at(t, 0))
    return first, first + model.tendon_dofnum[t], model.tendon_dof, work.ten_J, slope


@piece(reads="ten_J")
def moment_row(model, work, u: ti.i32):
    """Return the row of the tendon that output u pulls, and its gear."""
    t = model.actuator_tendon[u]
    first = model.tendon_dofadr[t]
    return first, first + model.tendon_dofnum[t], model.tendon_dof, work.ten_J, model.actuator_gear.at(u, 0)


@func
def _rest(model, work, t: ti.i32, side):
    """Return the lower (0) or upper (1) end of the lengths at which tendon t's spring rests (m)."""
    find = ti.static(TENDON_REST.around(model.has, _usual_rest))
    return find(model, work, t, side)


@func
def _usual_rest(model, work, t: ti.i32, side):
    return model.tendon_lengthspring.at(t, side)


@func
def _acts(model, t: ti.i32):
    """Return True if a tendon has a spring or a damper."""
    spring, damper = model.tendon_stiffness, model.tendon_damping
    stiff = (spring.at(t, 0) != 0.0) | (spring.at(t, 1) != 0.0) | (spring.at(t, 2) != 0.0)
    return stiff | (damper.at(t, 0) != 0.0) | (damper.at(t, 1) != 0.0) | (damper.at(t, 2) != 0.0)


@piece(reads="ten_J M_rownnz M_rowadr M_colind", updates="M")
def add_inertia(model, work):
    """Add J' armature J to M, as far as M has entries, as MuJoCo does."""
    for t in range(model.ntendon):
        first, end = model.tendon_dofadr[t], model.tendon_dofadr[t] + model.tendon_dofnum[t]
        for e in range(first, end):
            i = model.tendon_dof[e]
            scaled = work.ten_J[e] * model.tendon_armature[t]
            for f in range(e, end):
                entry = entry_of(work, i, model.tendon_dof[f])
                if entry >= 0:
                    work.M[entry] = work.M[entry] + scaled * work.ten_J[f]


@piece(
    reads="xquat root_offset com_offset ten_J ten_bias ten_passive link_* actuator_force qacc",
    updates="ten_force cfrc_ext",
)
def push_bodies(model, work):
    """Add the forces of spatial tendons on bodies to cfrc_ext: they pull at their sites and at geoms they wrap."""
    _sum_forces(model, work)
    for t in range(model.ntendon):
        for link in range(model.tendon_linkadr[t], model.tendon_linkadr[t] + model.tendon_linknum[t]):
            force = work.ten_force[t] * model.link_share[link]
            out, back = work.link_out[link] * force, work.link_back[link] * force
            b1, b2 = model.link_body1[link], model.link_body2[link]
            _push(model, work, b1, _site(model, work, b1, model.link_pos1[link]), out * -1.0)
            _push(model, work, b2, _site(model, work, b2, model.link_pos2[link]), back)
            if ti.static(model.has.wrapping):
                if model.link_shape[link] > 0:
                    b = model.geom_bodyid[model.link_geom[link]]
                    _push(model, work, b, work.link_meets[link], out)
                    _push(model, work, b, work.link_leaves[link], back * -1.0)


@func
def _sum_forces(model, work):
    """Set ten_force (N): springs, dampers, actuators, the tendon's inertia, and constraints."""
    # Passive forces and the tendon's inertia.
    for t in range(model.ntendon):
        force = work.real(0.0) + work.ten_passive[t]
        if ti.static(model.has.tendon_armature):
            rate = work.real(0.0) + work.ten_bias[t]
            for at in range(model.tendon_dofadr[t], model.tendon_dofadr[t] + model.tendon_dofnum[t]):
                rate += work.ten_J[at] * work.qacc[model.tendon_dof[at]]
            force -= rate * model.tendon_armature[t]
        work.ten_force[t] = force
    # Actuators.
    for u in range(model.nout):
        t = model.actuator_tendon[u]
        if t >= 0:
            work.ten_force[t] = work.ten_force[t] + work.actuator_force[u] * model.actuator_gear.at(u, 0)
    # Constraints.
    for add_to in ti.static(TENDON_FORCES.of(model.has)):
        add_to(model, work)


@func
def _site(model, work, b: ti.i32, pos):
    """Return a point of body b, given in its frame (m), relative to the root of its tree, in world axes."""
    zero = work.real(0.0)
    arm = work.lanes.cast(work.xquat[b]).rotate(Vec3(zero + pos.x, zero + pos.y, zero + pos.z))
    return work.lanes.cast(work.root_offset[b]) + arm


@func
def _push(model, work, b: ti.i32, point, force):
    """Add a force (N) at a point of body b, relative to the root of its tree, to cfrc_ext."""
    if b > 0:
        arm = point - work.com_offset[model.body_rootid[b]]
        work.cfrc_ext.put(b, work.cfrc_ext[b] + SpatialMotion(arm.cross(force), force))


_D, _WRAP = mujoco.mjtDisableBit, mujoco.mjtWrap
_PULLEY = int(_WRAP.mjWRAP_PULLEY)
_SPHERE, _CYLINDER = int(_WRAP.mjWRAP_SPHERE), int(_WRAP.mjWRAP_CYLINDER)
_ON_TENDON = int(mujoco.mjtTrn.mjTRN_TENDON)
SHAPES = {_SPHERE: 1, _CYLINDER: 2}
"""Values of `link_shape`."""


class TendonPiece(NamedTuple):
    """A piece of a path: from site `first` to `second`, around `geom` unless -1, beside `side` unless -1."""

    first: int
    second: int
    geom: int
    shape: int
    side: int
    divisor: float


def path(mjm: mujoco.MjModel, t: int) -> list[TendonPiece]:
    """Return the links of tendon `t`, none for a fixed one; behind a pulley all count a part."""
    if not spatial(mjm)[t]:
        return []
    first, count = int(mjm.tendon_adr[t]), int(mjm.tendon_num[t])
    kind, item, number = (x[first : first + count] for x in (mjm.wrap_type, mjm.wrap_objid, mjm.wrap_prm))
    links, divisor, at = [], 1.0, 0
    while at < count - 1:
        if _PULLEY in (kind[at], kind[at + 1]):
            divisor = float(number[at]) if kind[at] == _PULLEY else divisor
            at += 1
        elif kind[at + 1] in SHAPES:
            side = round(float(number[at + 1]))
            shape = SHAPES[int(kind[at + 1])]
            links.append(TendonPiece(int(item[at]), int(item[at + 2]), int(item[at + 1]), shape, side, divisor))
            at += 2
        else:
            links.append(TendonPiece(int(item[at]), int(item[at + 1]), -1, 0, -1, divisor))
            at += 1
    return links


def tendon_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the fields that cannot be set per environment."""
    count = mjm.ntendon if acting_tendons(mjm) else 0
    dofs = [tendon_dofs(mjm, t) for t in range(count)]
    paths = [path(mjm, t) for t in range(count)]
    coefs = [coefficients(mjm, t, dofs[t]) for t in range(count)]
    joints = np.concatenate([mjm.dof_jntid[of] for of in dofs] + [np.zeros(0, int)]).astype(int)
    of = owners(mjm)
    pulls = mjm.actuator_trntype[of] == _ON_TENDON
    return {
        "actuator_tendon": np.where(pulls, mjm.actuator_trnid[of, 0], -1),
        **_starts("tendon_dof", dofs),
        "tendon_dof": np.concatenate([*dofs, np.zeros(0, int)]).astype(int),
        "tendon_qposadr": mjm.jnt_qposadr[joints] if len(joints) else joints,
        "tendon_coef": np.concatenate([*coefs, np.zeros(0)]),
        **_starts("tendon_link", paths),
        **_links(mjm, [(link, dofs[t]) for t in range(count) for link in paths[t]]),
    }


def _starts(name: str, lists: list) -> dict[str, np.ndarray]:
    """Return the first item and number of items of each list, when they stand one after the other."""
    counts = np.array([len(of) for of in lists], int)
    return {f"{name}adr": np.cumsum([0, *counts])[:-1], f"{name}num": counts}


def _links(mjm: mujoco.MjModel, links: list[tuple[TendonPiece, np.ndarray]]) -> dict[str, np.ndarray]:
    """Return the fields of all links, each given with the dofs of its tendon."""
    body = {-1: 0, **dict(enumerate(mjm.site_bodyid.tolist()))}
    pos = {-1: np.zeros(3), **dict(enumerate(mjm.site_pos))}
    around = [int(mjm.geom_bodyid[link.geom]) if link.geom >= 0 else 0 for link, _ in links]
    moves = [
        FIRST * np.isin(dofs, dofs_of_body(mjm, body[link.first]))
        + SECOND * np.isin(dofs, dofs_of_body(mjm, body[link.second]))
        + GEOM * np.isin(dofs, dofs_of_body(mjm, around[k]) if link.geom >= 0 else [])
        for k, (link, dofs) in enumerate(links)
    ]
    return {
        "link_body1": np.array([body[link.first] for link, _ in links], int),
        "link_body2": np.array([body[link.second] for link, _ in links], int),
        "link_pos1": np.array([pos[link.first] for link, _ in links]).reshape(-1, 3),
        "link_pos2": np.array([pos[link.second] for link, _ in links]).reshape(-1, 3),
        "link_geom": np.array([max(link.geom, 0) for link, _ in links], int),
        "link_shape": np.array([link.shape for link, _ in links], int),
        "link_sided": np.array([link.side >= 0 for link, _ in links], int),
        "link_sidebody": np.array([body[link.side] for link, _ in links], int),
        "link_sidepos": np.array([pos[link.side] for link, _ in links]).reshape(-1, 3),
        "link_share": np.array([1.0 / link.divisor for link, _ in links]),
        "link_movesadr": np.cumsum([0, *map(len, moves)])[:-1],
        "link_moves": np.concatenate([*moves, np.zeros(0, int)]).astype(int),
    }


def _own(mjm: mujoco.MjModel, numbers: np.ndarray) -> np.ndarray:
    """Return numbers of all tendons, environments first; of none if kernels do without."""
    return numbers if acting_tendons(mjm) else numbers[:, :0]


def _stiffness(mjm: mujoco.MjModel, linear: np.ndarray, others: np.ndarray) -> np.ndarray:
    return _own(mjm, _polynomial(linear, others)) * (0.0 if disabled(mjm, _D.mjDSBL_SPRING) else 1.0)


def _damping(mjm: mujoco.MjModel, linear: np.ndarray, others: np.ndarray) -> np.ndarray:
    of_actuators = np.column_stack((mjm.actuator_damping, mjm.actuator_dampingpoly))
    total = _polynomial(linear, others) + from_tendon_actuators(mjm, of_actuators)
    return _own(mjm, total) * (0.0 if disabled(mjm, _D.mjDSBL_DAMPER) else 1.0)


def _polynomial(linear: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return a linear coefficient and coefficients of higher powers, (environments, ntendon, 3)."""
    count = max(len(linear), len(others))
    linear, others = (np.broadcast_to(x, (count, *x.shape[1:])) for x in (linear[..., None], others))
    return np.concatenate((linear, others), axis=-1)


def _armature(mjm: mujoco.MjModel, armature: np.ndarray) -> np.ndarray:
    return _own(mjm, armature + from_tendon_actuators(mjm, mjm.actuator_armature))


def _actfrcrange(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    limited = np.asarray(mjm.tendon_actfrclimited, bool)[:, None]
    return _own(mjm, np.where(limited, ranges, [-UNLIMITED, UNLIMITED]))


TENDON_RULES: dict[str, Rule] = {
    "tendon_stiffness": (("tendon_stiffness", "tendon_stiffnesspoly"), _stiffness),
    "tendon_damping": (("tendon_damping", "tendon_dampingpoly"), _damping),
    "tendon_lengthspring": (("tendon_lengthspring",), _own),
    "tendon_length0": (("tendon_length0",), _own),
    "tendon_armature": (("tendon_armature",), _armature),
    "tendon_actfrcrange": (("tendon_actfrcrange",), _actfrcrange),
}
"""Rules of the real fields: the names of MuJoCo's numbers, and the function of them."""


PART = Part(
    name="tendons",
    doc="tendons act on the motion",
    wanted=lambda model: model.sizes["ntendon"] > 0,
    variants=(
        Variant(
            "spatial_tendons",
            "some tendons run from site to site",
            lambda model: model.sizes["nlink"] > 0,
            hooks={EXTERNAL_FORCES: push_bodies},
        ),
        Variant("wrapping", "some tendons run around geoms", lambda model: bool(model.values["link_shape"].any())),
        Variant(
            "tendon_armature",
            "some tendons have inertia",
            lambda model: bool(model.values["tendon_armature"].any()),
            hooks={INERTIA: add_inertia, VELOCITY: tendon_rates, INERTIAL_FORCES: add_inertial_forces},
        ),
    ),
    integers=(
        Field("actuator_tendon", ("nout",), 1, "", "tendon that the actuator pulls; -1: it drives a joint"),
        Field("tendon_dofadr", ("ntendon",), 1, "", "first dof of the tendon in tendon_dof"),
        ids("tendon_dofnum", ("ntendon",), "number of dofs of the tendon"),
        ids("tendon_dof", ("ntendondof",), "dofs of all tendons, descending within a tendon"),
        ids("tendon_qposadr", ("ntendondof",), "first coordinate of the dof's joint"),
        Field("tendon_linkadr", ("ntendon",), 1, "", "first link of the tendon's path"),
        ids("tendon_linknum", ("ntendon",), "number of links of the path; 0: a fixed tendon"),
        ids("link_body1", ("nlink",), "body of the link's first site"),
        ids("link_body2", ("nlink",), "body of the link's second site"),
        ids("link_shape", ("nlink",), "shape around which the link may wrap: 0 none, 1 a sphere, 2 a cylinder"),
        ids("link_geom", ("nlink",), "geom around which the link may wrap"),
        ids("link_sided", ("nlink",), "1: a side site selects the side of the geom, or its inside"),
        ids("link_sidebody", ("nlink",), "body of the side site"),
        Field("link_movesadr", ("nlink",), 1, "", "entry in link_moves of the first dof of the link's tendon"),
        ids(
            "link_moves",
            ("nlinkdof",),
            "bits of the link's objects that the dof moves: 1 first site, 2 second site, 4 geom",
        ),
    ),
    reals=(
        Field("tendon_coef", ("ntendondof",), 1, "m or m/rad", "of a fixed tendon: length by the dof's coordinate"),
        Field(
            "tendon_stiffness",
            ("ntendon",),
            3,
            "N/m, N/m^2, N/m^3",
            "spring constant, and its coefficients of stretch and stretch squared",
        ),
        Field("tendon_damping", ("ntendon",), 3, "N s/m, ...", "damper, a polynomial of the speed"),
        Field("tendon_lengthspring", ("ntendon",), 2, "m", "lengths between which the spring is at rest"),
        Field("tendon_length0", ("ntendon",), 1, "m", "length at qpos0"),
        Field("tendon_armature", ("ntendon",), 1, "kg", "inertia of the tendon's length"),
        Field(
            "tendon_actfrcrange", ("ntendon",), 2, "N", "range of the sum of its actuators' forces, +-1e30: unlimited"
        ),
        Field("link_pos1", ("nlink",), 3, "m", "first site of the link, in its body's frame"),
        Field("link_pos2", ("nlink",), 3, "m", "second site of the link, in its body's frame"),
        Field("link_sidepos", ("nlink",), 3, "m", "side site of the link, in its body's frame"),
        Field("link_share", ("nlink",), 1, "", "factor of the link's length: 1 / the pulley's divisor"),
    ),
    values=tendon_values,
    rules=TENDON_RULES,
    sizes=lambda mjm, values: {size: len(values[name]) for size, name in _COUNTED.items()},
    scratch=(
        Field("ten_length", ("ntendon",), 1, "m", "length of the tendon"),
        Field("ten_velocity", ("ntendon",), 1, "m/s", "rate of ten_length"),
        Field("ten_J", ("ntendondof",), 1, "m, m/rad", "derivatives of the lengths by the dofs of tendon_dof"),
        Field("ten_bias", ("ntendon",), 1, "m/s^2", "dJ/dt qvel of a tendon with armature"),
        Field("ten_actfrc", ("ntendon",), 1, "N", "force of all actuators of the tendon"),
        Field("ten_passive", ("ntendon",), 1, "N", "force of the tendon's spring and damper"),
        Field("ten_force", ("ntendon",), 1, "N", "force along the tendon, positive if it lengthens it"),
        Field("link_out", ("nlink",), 3, "", "unit vector of the link's segment at its first site"),
        Field("link_back", ("nlink",), 3, "", "unit vector of the link's segment at its second site"),
        Field(
            "link_meets", ("nlink",), 3, "m", "point where the link meets its geom, from the root of the geom's tree"
        ),
        Field(
            "link_leaves", ("nlink",), 3, "m", "point where the link leaves its geom, from the root of the geom's tree"
        ),
    ),
    hooks={
        POSITION: tendon_lengths,
        PASSIVE_FORCES: add_springs,
        ROW_SLOPES: (traced(lambda model: model.ntendon), damping_row),
        MOMENT_ROWS: (traced(lambda model, u: model.actuator_tendon[u] >= 0), moment_row),
    },
    mujoco=(
        "tendon_stiffnesspoly tendon_dampingpoly tendon_armature tendon_adr tendon_num ten_J_* tendon_actfrclimited "
        "tendon_actfrcrange tendon_length0 tendon_invweight0 wrap_*"
    ),
    ranges={"tendon_actfrcrange": "tendon_actfrclimited"},
    allowed={
        "tendon_actfrcrange": RANGE,
        "tendon_stiffnesspoly": HIGHER_ORDER,
        "tendon_dampingpoly": HIGHER_ORDER,
        "tendon_armature": MASS,
        "wrap_prm": FORM,
    },
    parameters=(
        Parameter("tendon_stiffness", SPRING, positive=True, found=True),
        Parameter("tendon_damping", DAMPER, found=True),
        Parameter(
            "tendon_lengthspring", AllowedNumbers(FINITE, "a length; that of a fixed tendon has a sign"), ordered=True
        ),
    ),
    unsupported=(no_sleep("of trees that tendons tie", lambda mjm: (mjm.tendon_treenum > 1).any()),),
)
