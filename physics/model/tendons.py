"""Tendons of a model: which dofs they pull on, the paths of spatial ones, and how their numbers follow from MuJoCo's.

A path is a list of links, each straight from one site to the next, or around a geom between them.
"""

from collections.abc import Callable
from typing import NamedTuple

import mujoco
import numpy as np

from ..mjmodel.actuators import from_tendon_actuators
from ..mjmodel.dofs import dofs_of_body
from ..mjmodel.tendons import acting_tendons, spatial, tendon_dofs

_D, _WRAP, _EQ = mujoco.mjtDisableBit, mujoco.mjtWrap, mujoco.mjtEq
_JOINT, _PULLEY, _SITE = int(_WRAP.mjWRAP_JOINT), int(_WRAP.mjWRAP_PULLEY), int(_WRAP.mjWRAP_SITE)
_SPHERE, _CYLINDER = int(_WRAP.mjWRAP_SPHERE), int(_WRAP.mjWRAP_CYLINDER)
TRANSMISSION = int(mujoco.mjtTrn.mjTRN_TENDON)
"""`actuator_trntype` of actuators on tendons."""
SHAPES = {_SPHERE: 1, _CYLINDER: 2}
"""Values of `link_shape`."""
UNLIMITED = 1e30
FIRST, SECOND, GEOM = 1, 2, 4
"""Bits of `link_moves`: a dof moves the first site, the second, the geom between them."""


class Link(NamedTuple):
    """A piece of a path: from site `first` to `second`, around `geom` unless -1, beside `side` unless -1."""

    first: int
    second: int
    geom: int
    shape: int
    side: int
    divisor: float


def path(mjm: mujoco.MjModel, t: int) -> list[Link]:
    """Links of tendon `t`, none of a fixed one; behind a pulley all count a part."""
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
            links.append(Link(int(item[at]), int(item[at + 2]), int(item[at + 1]), shape, side, divisor))
            at += 2
        else:
            links.append(Link(int(item[at]), int(item[at + 1]), -1, 0, -1, divisor))
            at += 1
    return links


def tendon_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """The fields of `model.fields` that describe tendons, and no environment has of its own."""
    count = mjm.ntendon if acting_tendons(mjm) else 0
    dofs = [tendon_dofs(mjm, t) for t in range(count)]
    paths = [path(mjm, t) for t in range(count)]
    coefs = [_coefs(mjm, t, dofs[t]) for t in range(count)]
    joints = np.concatenate([mjm.dof_jntid[of] for of in dofs] + [np.zeros(0, int)]).astype(int)
    return {
        **_starts("tendon_dof", dofs),
        "tendon_dof": np.concatenate([*dofs, np.zeros(0, int)]).astype(int),
        "tendon_qposadr": mjm.jnt_qposadr[joints] if len(joints) else joints,
        "tendon_coef": np.concatenate([*coefs, np.zeros(0)]),
        **_starts("tendon_link", paths),
        **_links(mjm, [(link, dofs[t]) for t in range(count) for link in paths[t]]),
    }


def tendon_sizes(values: dict[str, np.ndarray]) -> dict[str, int]:
    """Tendons, dofs of all, links of their paths, and dofs of these."""
    of = {"ntendon": "tendon_dofnum", "ntendondof": "tendon_dof", "nlink": "link_shape", "nlinkdof": "link_moves"}
    return {size: len(values[name]) for size, name in of.items()}


def measured(mjm: mujoco.MjModel, positions: bool) -> np.ndarray:
    """Coefficients of fixed tendons by the coordinates (ntendon, nq), or by the dofs (ntendon, nv)."""
    found = np.zeros((mjm.ntendon, mjm.nq if positions else mjm.nv))
    for t in range(mjm.ntendon):
        dofs = tendon_dofs(mjm, t)
        at = mjm.jnt_qposadr[mjm.dof_jntid[dofs]] if positions else dofs
        found[t, at] = _coefs(mjm, t, dofs)
    return found


def _starts(name: str, lists: list) -> dict[str, np.ndarray]:
    """First item and number of items of each list, when they stand one after the other."""
    counts = np.array([len(of) for of in lists], int)
    return {f"{name}adr": np.cumsum([0, *counts])[:-1], f"{name}num": counts}


def _coefs(mjm: mujoco.MjModel, t: int, dofs: np.ndarray) -> np.ndarray:
    """Coefficient of each dof of a fixed tendon; 0 for a path."""
    if spatial(mjm)[t]:
        return np.zeros(len(dofs))
    wraps = slice(mjm.tendon_adr[t], mjm.tendon_adr[t] + mjm.tendon_num[t])
    of = dict(zip(mjm.jnt_dofadr[mjm.wrap_objid[wraps]].tolist(), mjm.wrap_prm[wraps].tolist(), strict=True))
    return np.array([of[dof] for dof in dofs.tolist()])


def _links(mjm: mujoco.MjModel, links: list[tuple[Link, np.ndarray]]) -> dict[str, np.ndarray]:
    """Fields of all links, each given with the dofs of its tendon."""
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


def _disabled(mjm: mujoco.MjModel, *bits: mujoco.mjtDisableBit) -> bool:
    return any(int(mjm.opt.disableflags) & int(bit) for bit in bits)


def _own(mjm: mujoco.MjModel, numbers: np.ndarray) -> np.ndarray:
    """Numbers of all tendons, environments first; of none where kernels do without."""
    return numbers if acting_tendons(mjm) else numbers[:, :0]


def _stiffness(mjm: mujoco.MjModel, linear: np.ndarray, others: np.ndarray) -> np.ndarray:
    return _own(mjm, _polynomial(linear, others)) * (0.0 if _disabled(mjm, _D.mjDSBL_SPRING) else 1.0)


def _damping(mjm: mujoco.MjModel, linear: np.ndarray, others: np.ndarray) -> np.ndarray:
    of_actuators = np.column_stack((mjm.actuator_damping, mjm.actuator_dampingpoly))
    total = _polynomial(linear, others) + from_tendon_actuators(mjm, of_actuators)
    return _own(mjm, total) * (0.0 if _disabled(mjm, _D.mjDSBL_DAMPER) else 1.0)


def _polynomial(linear: np.ndarray, others: np.ndarray) -> np.ndarray:
    """A linear coefficient and those of higher powers, (environments, ntendon, 3)."""
    count = max(len(linear), len(others))
    linear, others = (np.broadcast_to(x, (count, *x.shape[1:])) for x in (linear[..., None], others))
    return np.concatenate((linear, others), axis=-1)


def _armature(mjm: mujoco.MjModel, armature: np.ndarray) -> np.ndarray:
    return _own(mjm, armature + from_tendon_actuators(mjm, mjm.actuator_armature))


def _actfrcrange(mjm: mujoco.MjModel, ranges: np.ndarray) -> np.ndarray:
    limited = np.asarray(mjm.tendon_actfrclimited, bool)[:, None]
    return _own(mjm, np.where(limited, ranges, [-UNLIMITED, UNLIMITED]))


TENDON_RULES: dict[str, tuple[tuple[str, ...], Callable[..., np.ndarray]]] = {
    "tendon_stiffness": (("tendon_stiffness", "tendon_stiffnesspoly"), _stiffness),
    "tendon_damping": (("tendon_damping", "tendon_dampingpoly"), _damping),
    "tendon_lengthspring": (("tendon_lengthspring",), _own),
    "tendon_length0": (("tendon_length0",), _own),
    "tendon_armature": (("tendon_armature",), _armature),
    "tendon_actfrcrange": (("tendon_actfrcrange",), _actfrcrange),
}
"""How fields of `model.fields` follow from MuJoCo's numbers (`kernel_numbers.RULES`)."""
