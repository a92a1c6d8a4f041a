"""Loading transmissions that are no single joint or tendon, as `transmissions` reads them.

Each output of an actuator has a length, and a moment: the length's derivative by the dofs. Which dofs that may be is
known when the model is loaded; `transmissions` finds both numbers. An actuator of relative orientation has
three outputs, all others one.
"""

from typing import NamedTuple

import mujoco
import numpy as np

from ...files.mjmodel.dofs import dofs_of_body
from ...files.mjmodel.pairs import possible_pairs
from ...files.mjmodel.transmissions import BALL_TURN, BODY, FIRST, SECOND, TENDON, actuator_types


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


def acting_outputs(mjm: mujoco.MjModel) -> int:
    """Return the number of outputs with lengths: all, or none where all actuators drive joints and tendons."""
    return int(mjm.nout) if bool((actuator_types(mjm) > TENDON).any()) else 0


def transmission_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the fields of these transmissions."""
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


def tied_trees(mjm: mujoco.MjModel) -> bool:
    """Return True if such an actuator acts between two trees."""
    values = transmission_values(mjm)
    ends = np.cumsum(values["trn_dofnum"])
    trees = [mjm.dof_treeid[of] for of in np.split(values["trn_dof"], ends[:-1])] if len(ends) else []
    return any(len(np.unique(of)) > 1 for of in trees)


def _of_sites(numbers: np.ndarray, outputs: list[_Output], side: int, otherwise: list[float]) -> np.ndarray:
    """Return numbers of the first (0) or second (1) site of each output."""
    found = [numbers[o.sites[side]] if o.sites[side] >= 0 else otherwise for o in outputs]
    return np.array(found, float).reshape(-1, len(otherwise))


def _output(mjm: mujoco.MjModel, a: int, k: int) -> _Output:
    """Return output `k` of actuator `a`."""
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
    """Return the dofs that move body `b` or one that its geoms may touch, descending."""
    pairs = mjm.geom_bodyid[possible_pairs(mjm)].reshape(-1, 2)
    bodies = np.unique(pairs[(pairs == b).any(axis=1)])
    found = [dofs_of_body(mjm, int(of)) for of in bodies]
    return np.unique(np.concatenate([*found, np.zeros(0, int)]))[::-1]
