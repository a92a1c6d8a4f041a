"""Sleep of a model: which trees may, and to which trees geoms and equalities belong."""

import mujoco
import numpy as np

from ..mjmodel.equalities import equality_bodies, equality_joints

MINAWAKE = 10
"""Steps that a tree rests before it may sleep (MuJoCo's mjMINAWAKE)."""
AWAKE = -(1 + MINAWAKE)
"""tree_asleep of a tree that moves; it counts up to -1, from where the tree may sleep."""
STATIC, MOCAP = -1, -2
"""Tree of what has no dofs: it does not move, or the user moves it."""
_POLICY = mujoco.mjtSleepPolicy
_NEVER = (int(_POLICY.mjSLEEP_NEVER), int(_POLICY.mjSLEEP_AUTO_NEVER))


def sleeps(mjm: mujoco.MjModel) -> bool:
    """Whether the model's trees are put to sleep."""
    return bool(int(mjm.opt.enableflags) & int(mujoco.mjtEnableBit.mjENBL_SLEEP)) and mjm.ntree > 0


def body_trees(mjm: mujoco.MjModel) -> np.ndarray:
    """Tree of every body (nbody,), STATIC or MOCAP where it has no dofs."""
    moved = mjm.body_mocapid[mjm.body_rootid] >= 0
    return np.where(mjm.body_treeid >= 0, mjm.body_treeid, np.where(moved, MOCAP, STATIC))


def qpos_trees(mjm: mujoco.MjModel) -> np.ndarray:
    """Tree of every coordinate (nq,)."""
    ends = np.append(mjm.jnt_qposadr[1:], mjm.nq) if mjm.njnt else np.zeros(0, int)
    return np.repeat(mjm.body_treeid[mjm.jnt_bodyid], ends - mjm.jnt_qposadr)


def equality_trees(mjm: mujoco.MjModel) -> np.ndarray:
    """Trees of both sides of every equality (neq, 2); STATIC where a side has none."""
    trees, bodies, joints = body_trees(mjm), equality_bodies(mjm), equality_joints(mjm)
    of_joints = np.full(joints.shape, STATIC)
    of_joints[joints >= 0] = trees[mjm.jnt_bodyid[joints[joints >= 0]]]
    return np.where((joints[:, :1] >= 0), of_joints, trees[bodies])


def sleep_values(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    """The fields of `model.fields` that sleep needs."""
    ties = equality_trees(mjm)
    return {
        "tree_can_sleep": (~np.isin(mjm.tree_sleep_policy, _NEVER)).astype(int),
        "body_treeid": body_trees(mjm),
        "eq_tree1": ties[:, 0],
        "eq_tree2": ties[:, 1],
        "dof_length": mjm.dof_length,
        "sleep_tolerance": np.array([mjm.opt.sleep_tolerance]),
    }


def islands_asleep(mjm: mujoco.MjModel) -> np.ndarray:
    """tree_asleep of a new environment (ntree,): AWAKE, or the least tree of the island that begins asleep."""
    return least_of_cycles(np.array(mujoco.MjData(mjm).tree_asleep))


def least_of_cycles(tree_asleep: np.ndarray) -> np.ndarray:
    """From MuJoCo's cycles, in which a sleeping tree names the next one of its island, to the least tree of each."""
    found = tree_asleep.copy()
    for t in np.flatnonzero(tree_asleep >= 0):
        cycle = [int(t)]
        while tree_asleep[cycle[-1]] != t:
            cycle.append(int(tree_asleep[cycle[-1]]))
        found[t] = min(cycle)
    return found
