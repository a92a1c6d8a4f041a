"""Loading tendons: which dofs they pull on, the paths of spatial ones, and their numbers, as `tendons` reads them.

A path is a list of links, each straight from one site to the next, or around a geom between them.
"""

from typing import NamedTuple

import mujoco
import numpy as np

from ...files.mjmodel.actuators import from_tendon_actuators
from ...files.mjmodel.dofs import dofs_of_body
from ...files.mjmodel.flags import UNLIMITED, disabled
from ...files.mjmodel.outputs import owners
from ...files.mjmodel.tendons import acting_tendons, coefficients, spatial, tendon_dofs
from ...mechanics.kinematics.tendons import FIRST, GEOM, SECOND
from .part import Rule

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
    """Return the links of tendon `t`, none of a fixed one; behind a pulley all count a part."""
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
    """Return the fields that no environment has of its own."""
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
    """Return numbers of all tendons, environments first; of none where kernels do without."""
    return numbers if acting_tendons(mjm) else numbers[:, :0]


def _stiffness(mjm: mujoco.MjModel, linear: np.ndarray, others: np.ndarray) -> np.ndarray:
    return _own(mjm, _polynomial(linear, others)) * (0.0 if disabled(mjm, _D.mjDSBL_SPRING) else 1.0)


def _damping(mjm: mujoco.MjModel, linear: np.ndarray, others: np.ndarray) -> np.ndarray:
    of_actuators = np.column_stack((mjm.actuator_damping, mjm.actuator_dampingpoly))
    total = _polynomial(linear, others) + from_tendon_actuators(mjm, of_actuators)
    return _own(mjm, total) * (0.0 if disabled(mjm, _D.mjDSBL_DAMPER) else 1.0)


def _polynomial(linear: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return a linear coefficient and those of higher powers, (environments, ntendon, 3)."""
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
