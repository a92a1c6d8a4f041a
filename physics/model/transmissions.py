"""Transmissions that are no single joint or tendon: sites, slider-cranks, relative orientations, bodies that adhere.

Each output of an actuator has a length, and a moment: the length's derivative by the dofs. Which dofs that may be is
known when the model is loaded; `dynamics.transmission` finds both numbers. An actuator of relative orientation has
three outputs, all others one.
"""

from typing import NamedTuple

import mujoco
import numpy as np

from ..dynamics.transmission_types import BALL_TURN, BODY, FIRST, REFSITE, SECOND, SITE, SLIDER_CRANK, TENDON, TURN
from ..mjmodel.dofs import dofs_of_body
from .pairs import possible_pairs

_T = mujoco.mjtTrn
ON_JOINTS = (int(_T.mjTRN_JOINT), int(_T.mjTRN_JOINTINPARENT))


class _Output(NamedTuple):
    """One output.

    Attributes:
        kind: of its actuator; 0: that drives a joint or a tendon, or the output is not its first.
        sites: both, -1 for none.
        body: that adheres.
        joint: whose orientation it is, -1 for none.
        rod: length of a slider-crank's rod (m).
        dofs: on which its length may depend, descending.
        side: what each of them moves: the first site or the second.
    """

    kind: int = 0
    sites: tuple[int, int] = (-1, -1)
    body: int = 0
    joint: int = -1
    rod: float = 0.0
    dofs: np.ndarray = np.zeros(0, int)
    side: np.ndarray = np.zeros(0, int)


def actuator_types(mjm: mujoco.MjModel) -> np.ndarray:
    """Type of the joint that each actuator drives, as in MuJoCo, or what it drives instead, (nactuator,)."""
    kind, other = mjm.actuator_trntype, mjm.actuator_trnid[:, 1]
    alone = {_T.mjTRN_SITE: SITE, _T.mjTRN_SO3: BALL_TURN, _T.mjTRN_SLIDERCRANK: SLIDER_CRANK, _T.mjTRN_BODY: BODY}
    found = np.full(mjm.nactuator, TENDON)
    for value, choice in alone.items():
        found[kind == int(value)] = choice
    found[(kind == int(_T.mjTRN_SITE)) & (other >= 0)] = REFSITE
    found[(kind == int(_T.mjTRN_SO3)) & (other >= 0)] = TURN
    joints = np.isin(kind, ON_JOINTS)
    found[joints] = mjm.jnt_type[mjm.actuator_trnid[joints, 0]]
    return found


def acting_outputs(mjm: mujoco.MjModel) -> int:
    """Outputs that kernels keep lengths of: all of them, or none where all actuators drive joints and tendons."""
    return int(mjm.nout) if bool((actuator_types(mjm) > TENDON).any()) else 0


def transmission_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """The fields of `model.fields` that describe these transmissions, which no environment has of its own."""
    outputs = [_Output()] * acting_outputs(mjm)
    for a in np.flatnonzero(actuator_types(mjm) > TENDON):
        for k in range(mjm.actuator_outnum[a]):
            outputs[mjm.actuator_outadr[a] + k] = _output(mjm, int(a), k)
    dofs = [o.dofs for o in outputs]
    return {
        "trn_kind": np.array([o.kind for o in outputs], int),
        "trn_body1": np.array([mjm.site_bodyid[o.sites[0]] if o.sites[0] >= 0 else o.body for o in outputs], int),
        "trn_body2": np.array([mjm.site_bodyid[o.sites[1]] if o.sites[1] >= 0 else 0 for o in outputs], int),
        "trn_qposadr": np.array([0 if o.joint < 0 else mjm.jnt_qposadr[o.joint] for o in outputs], int),
        "trn_dofadr": np.cumsum([0, *map(len, dofs)])[:-1],
        "trn_dofnum": np.array([len(of) for of in dofs], int),
        "trn_dof": np.concatenate([*dofs, np.zeros(0, int)]).astype(int),
        "trn_side": np.concatenate([*(o.side for o in outputs), np.zeros(0, int)]).astype(int),
        **{f"trn_pos{n + 1}": _of_sites(mjm.site_pos, outputs, n, [0.0, 0.0, 0.0]) for n in (0, 1)},
        **{f"trn_quat{n + 1}": _of_sites(mjm.site_quat, outputs, n, [1.0, 0.0, 0.0, 0.0]) for n in (0, 1)},
        "trn_rod": np.array([o.rod for o in outputs]),
    }


def transmission_sizes(values: dict[str, np.ndarray]) -> dict[str, int]:
    """Outputs, and dofs of all their moments."""
    return {"ntrn": len(values["trn_kind"]), "ntrndof": len(values["trn_dof"])}


def tied_trees(mjm: mujoco.MjModel) -> bool:
    """Whether such an actuator acts between two trees."""
    values = transmission_values(mjm)
    ends = np.cumsum(values["trn_dofnum"])
    trees = [mjm.dof_treeid[of] for of in np.split(values["trn_dof"], ends[:-1])] if len(ends) else []
    return any(len(np.unique(of)) > 1 for of in trees)


def _of_sites(numbers: np.ndarray, outputs: list[_Output], side: int, otherwise: list[float]) -> np.ndarray:
    """Numbers of the first (0) or second (1) site of each output."""
    found = [numbers[o.sites[side]] if o.sites[side] >= 0 else otherwise for o in outputs]
    return np.array(found, float).reshape(-1, len(otherwise))


def _output(mjm: mujoco.MjModel, a: int, k: int) -> _Output:
    """Output `k` of actuator `a`."""
    kind, (first, second) = int(actuator_types(mjm)[a]), (int(i) for i in mjm.actuator_trnid[a])
    shown = kind if k == 0 else 0
    if kind == BODY:
        dofs = _dofs_around(mjm, first)
        return _Output(kind, body=first, dofs=dofs, side=np.zeros(len(dofs), int))
    if kind == BALL_TURN:
        return _Output(shown, joint=first, dofs=mjm.jnt_dofadr[[first]] + k, side=np.array([FIRST]))
    moves = [dofs_of_body(mjm, mjm.site_bodyid[s]) if s >= 0 else np.zeros(0, int) for s in (first, second)]
    dofs = np.setxor1d(moves[0], moves[1])[::-1]  # what moves both ends moves them as one
    side = FIRST * np.isin(dofs, moves[0]) + SECOND * np.isin(dofs, moves[1])
    return _Output(shown, (first, second), rod=float(mjm.actuator_cranklength[a]), dofs=dofs, side=side)


def _dofs_around(mjm: mujoco.MjModel, b: int) -> np.ndarray:
    """Dofs that move body `b` or one that its geoms may touch, descending."""
    pairs = mjm.geom_bodyid[possible_pairs(mjm)].reshape(-1, 2)
    bodies = np.unique(pairs[(pairs == b).any(axis=1)])
    found = [dofs_of_body(mjm, int(of)) for of in bodies]
    return np.unique(np.concatenate([*found, np.zeros(0, int)]))[::-1]
