"""Sleep of a model: which trees may, to which trees bodies and equalities belong, and which begin asleep."""

import mujoco
import numpy as np

from ...files.mjmodel.equalities import equality_bodies, equality_joints
from ...files.mjmodel.sleep import sleeps

STATIC, MOCAP = -1, -2
"""Tree of what has no dofs: it does not move, or the user moves it."""
_POLICY = mujoco.mjtSleepPolicy
_NEVER = (int(_POLICY.mjSLEEP_NEVER), int(_POLICY.mjSLEEP_AUTO_NEVER))


def sleep_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """Return the fields of the part `sleeping`."""
    moved = mjm.body_mocapid[mjm.body_rootid] >= 0
    trees = np.where(mjm.body_treeid >= 0, mjm.body_treeid, np.where(moved, MOCAP, STATIC))
    ties = _equality_trees(mjm, trees)
    return {
        "tree_can_sleep": (~np.isin(mjm.tree_sleep_policy, _NEVER)).astype(int),
        "body_tree": trees,
        "eq_tree1": ties[:, 0],
        "eq_tree2": ties[:, 1],
        "sleep_tolerance": np.array([mjm.opt.sleep_tolerance]),
    }


def _equality_trees(mjm: mujoco.MjModel, trees: np.ndarray) -> np.ndarray:
    """Return the trees of both sides of every equality (neq, 2), from those of bodies; STATIC where a side has none."""
    bodies, joints = equality_bodies(mjm), equality_joints(mjm)
    of_joints = np.full(joints.shape, STATIC)
    of_joints[joints >= 0] = trees[mjm.jnt_bodyid[joints[joints >= 0]]]
    return np.where(joints[:, :1] >= 0, of_joints, trees[bodies])


def first_asleep(mjm: mujoco.MjModel) -> np.ndarray:
    """Return tree_asleep of a new environment (1, ntree), some of whose islands may begin asleep.

    Models without sleep have no such number: (1, 0).
    """
    return least_of_cycles(np.array(mujoco.MjData(mjm).tree_asleep) if sleeps(mjm) else np.zeros(0, int))[None]


def least_of_cycles(tree_asleep: np.ndarray) -> np.ndarray:
    """Return MuJoCo's tree_asleep with the least tree of each sleeping island, instead of the next one in its cycle."""
    found = tree_asleep.copy()
    for t in np.flatnonzero(tree_asleep >= 0):
        cycle = [int(t)]
        while tree_asleep[cycle[-1]] != t:
            cycle.append(int(tree_asleep[cycle[-1]]))
        found[t] = min(cycle)
    return found
