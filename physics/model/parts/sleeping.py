"""Sleeping islands: trees at rest are frozen until something disturbs them.

MuJoCo documentation, Simulation: Sleeping. `tree_asleep` of an awake tree is AWAKE while it moves, and is incremented
up to -1 while it rests; an island falls asleep at the end of a step if all of its trees have reached -1. Of a sleeping
tree it is the least tree of its island (MuJoCo stores a cycle): an island wakes as a whole. Sleeping trees have no
velocity, no acceleration, no active constraints, and no contacts with each other or with static geoms.
"""

import mujoco
import numpy as np
import taichi as ti

from ...base.fields import Field, ids
from ...base.hooks import (
    BEGINNING,
    CONTACTS_AGAIN,
    CONTACTS_FOUND,
    FROZEN,
    PAIR_MASK,
    ROWS,
    STANDSTILL,
    STATES_ADVANCE,
    WAKING_FORCES,
)
from ...base.math import func
from ...base.stage import piece, stage
from ...files.mjmodel.allowed import NOT_NEGATIVE, AllowedNumbers
from ...files.mjmodel.equalities import equality_bodies, equality_joints
from ...files.mjmodel.flags import disabled
from ...files.mjmodel.sleep import AWAKE, no_sleep, sleeps
from ...files.mjmodel.unsupported import clears
from ...mechanics.dynamics.dof_control import has_controls
from ...mechanics.dynamics.stage_time import is_last_stage
from .part import Memory, Part


@piece(reads="tree_asleep")
def asleep(model, work, i: ti.i32):
    """Return True in lanes in which the tree of dof i sleeps."""
    return work.tree_asleep[model.dof_treeid[i]] >= 0.0


@piece(reads="tree_asleep")
def pair_awake(model, work, g1: ti.i32, g2: ti.i32):
    """Return the mask of lanes in which one of two geoms may move."""
    b1, b2 = model.geom_bodyid[g1], model.geom_bodyid[g2]
    return ti.max(_body_awake(model, work, b1), _body_awake(model, work, b2))


@func
def _body_awake(model, work, b: ti.i32):
    """Return the mask of lanes in which a body may move: its tree is awake, or the user moves it."""
    t, awake = model.body_tree[b], work.real(0.0)
    if t >= 0:
        awake = work.lanes.mask(work.tree_asleep[t] < 0.0)
    elif t == MOCAP:
        awake = work.real(1.0)
    return awake


@func
def all_asleep(model, work):
    """Return True if all trees sleep in all lanes and the model has no mocap bodies: then a step does nothing."""
    awake = work.real(0.0)
    for t in range(model.nsleep):
        awake = ti.max(awake, work.lanes.mask(work.tree_asleep[t] < 0.0))
    return model.nmocap == 0 and not work.lanes.any(awake)


@func
def _wake(model, work, t: ti.i32, count, where):
    """Wake the island of tree t in the lanes of the mask `where`: set tree_asleep to `count`.

    An awake tree gets the smaller of `count` and its count.
    """
    lanes, label = work.lanes, work.tree_asleep[t]
    sleeping = where * lanes.mask(label >= 0.0)
    work.tree_asleep[t] = ti.select((where > 0.5) & (label < 0.0), ti.min(count, label), label)
    # All trees of the island have the same label.
    if lanes.any(sleeping):
        for s in range(model.nsleep):
            same = sleeping * lanes.mask(work.tree_asleep[s] == label)
            work.tree_asleep[s] = ti.select(same > 0.5, count, work.tree_asleep[s])


@stage(
    when=lambda has: has.sleeping,
    reads="qvel qfrc_applied xfrc_applied dof_mode applied controlled",
    updates="tree_asleep",
    hooks=(WAKING_FORCES,),
)
def wake_disturbed(model, work):
    """Wake the islands with a tree to which the user gave a velocity or a force."""
    lanes = work.lanes
    for t in range(model.nsleep):
        if lanes.any(lanes.mask(work.tree_asleep[t] >= 0.0)):
            # A tree is disturbed if it has a velocity or an applied force.
            moved = work.real(0.0)
            for i in range(model.tree_dofadr[t], model.tree_dofadr[t] + model.tree_dofnum[t]):
                moved = ti.max(moved, lanes.mask(work.qvel[i] != 0.0))
            moved = ti.max(moved, _pushed(model, work, t))
            _wake(model, work, t, work.real(AWAKE), moved * lanes.mask(work.tree_asleep[t] >= 0.0))


@func
def _pushed(model, work, t: ti.i32):
    """Return the mask of lanes in which the user or a mechanism pushes tree t, or the user controls one of its dofs."""
    pushed = work.real(0.0)
    if has_controls(model, work):
        for i in range(model.tree_dofadr[t], model.tree_dofadr[t] + model.tree_dofnum[t]):
            pushed = ti.max(pushed, work.lanes.mask(work.dof_mode[i] > 0.5))
    if work.applied[0] == 1:
        for i in range(model.tree_dofadr[t], model.tree_dofadr[t] + model.tree_dofnum[t]):
            pushed = ti.max(pushed, work.lanes.mask(work.qfrc_applied[i] != 0.0))
        for b in range(model.nbody):
            if model.body_tree[b] == t:
                for c in ti.static(range(6)):
                    pushed = ti.max(pushed, work.lanes.mask(work.xfrc_applied.at(b, c) != 0.0))
    for pushes in ti.static(WAKING_FORCES.of(model.has)):
        for b in range(1, model.nbody):
            if model.body_tree[b] == t:
                pushed = ti.max(pushed, pushes(model, work, b))
    return pushed


@stage(
    when=lambda has: has.sleeping,
    reads="con_present con_geom1 con_geom2 tile_ncon",
    writes="search_again",
    updates="tree_asleep tree_was",
)
def wake_touched(model, work):
    """Wake islands touched by awake trees, whose count they take over, or by mocap bodies; set search_again if any."""
    lanes, woke = work.lanes, work.real(0.0)
    for t in range(model.nsleep):
        work.tree_was[t] = work.tree_asleep[t]
    for k in range(work.tile_ncon[0]):
        for side in range(2):
            tree1 = model.body_tree[model.geom_bodyid[work.con_geom1[k]]]
            tree2 = model.body_tree[model.geom_bodyid[work.con_geom2[k]]]
            # Either tree may be the sleeping one.
            sleeper, waker = ti.select(side == 0, tree1, tree2), ti.select(side == 0, tree2, tree1)
            if sleeper >= 0 and (waker >= 0 or waker == MOCAP):
                count, where = work.real(AWAKE), work.con_present[k] * lanes.mask(work.tree_was[sleeper] >= 0.0)
                if waker >= 0:
                    count = work.real(0.0) + work.tree_was[waker]
                    where = where * lanes.mask(count < 0.0)
                if lanes.any(where):
                    _wake(model, work, sleeper, count, where)
                    woke = ti.max(woke, where)
    if lanes.any(woke):
        work.search_again[0] = 1


@stage(when=lambda has: has.sleeping and has.equality, reads="eq_active", updates="tree_asleep")
def wake_tied(model, work):
    """Wake islands that an equality couples to an awake tree, to a mocap body, or to another island."""
    lanes = work.lanes
    for e in range(model.neq):
        t1, t2 = model.eq_tree1[e], model.eq_tree2[e]
        if model.eq_rows[e] > 0 and t1 != t2 and ti.max(t1, t2) >= 0:
            for side in range(2):
                sleeper, waker = ti.select(side == 0, t1, t2), ti.select(side == 0, t2, t1)
                if sleeper >= 0:
                    label = work.real(0.0) + work.tree_asleep[sleeper]
                    where = lanes.mask(work.eq_active[e] > 0.5) * lanes.mask(label >= 0.0)
                    if waker >= 0:
                        where = where * lanes.mask(work.tree_asleep[waker] != label)
                    elif waker != MOCAP:
                        where = work.real(0.0)
                    if lanes.any(where):
                        _wake(model, work, sleeper, work.real(AWAKE), where)


@stage(when=lambda has: has.sleeping, reads="tree_asleep block_dofadr block_dof tile_conadr", updates="block_D")
def rest_blocks(model, work):
    """Deactivate the equalities, friction losses and limits of sleeping trees: block_D = 0."""
    for k in range(work.tile_conadr[0]):
        t = model.dof_treeid[work.block_dof[work.block_dofadr[k]]]
        work.block_D[k] = ti.select(work.tree_asleep[t] >= 0.0, work.real(0.0), work.block_D[k])


@stage(
    when=lambda has: has.sleeping,
    reads=(
        "qfrc_applied xfrc_applied dof_mode tree_island tile_ngroup group_treeadr group_treenum",
        "group_tree applied controlled rk_stage rk_stages",
    ),
    updates="tree_asleep eval_qvel tree_was qvel_rest qacc start_qvel drive_qvel drive_qacc",
    hooks=(WAKING_FORCES,),
)
def fall_asleep(model, work):
    """Put islands to sleep at the end of a step; set velocity and acceleration of sleeping trees to 0."""
    if is_last_stage(work):
        _count_rest(model, work)
        _freeze_islands(model, work)
    zero = work.real(0.0)
    for i in range(model.nv):
        frozen = asleep(model, work, i)
        work.qacc[i] = ti.select(frozen, zero, work.qacc[i])
        work.drive_qacc[i] = ti.select(frozen, zero, work.drive_qacc[i])
        work.drive_qvel[i] = ti.select(frozen, zero, work.drive_qvel[i])
        work.start_qvel[i] = ti.select(frozen, zero, work.start_qvel[i])
        work.qvel_rest[i] = ti.select(frozen, zero, work.qvel_rest[i])


@func
def _count_rest(model, work):
    """Increment the count of trees that are slow and without applied forces; reset that of other awake trees."""
    lanes, zero = work.lanes, work.real(0.0)
    for t in range(model.nsleep):
        count = work.tree_asleep[t]
        rests = zero
        if model.tree_can_sleep[t] == 1:
            rests = 1.0 - _pushed(model, work, t)
            for i in range(model.tree_dofadr[t], model.tree_dofadr[t] + model.tree_dofnum[t]):
                slow = ti.abs(work.start_qvel[i]) * model.dof_length[i] < model.sleep_tolerance[0]
                rests = rests * lanes.mask(slow)
        counted = ti.select(rests > 0.5, ti.min(count + 1.0, -1.0), work.real(AWAKE))
        work.tree_asleep[t] = ti.select(count < 0.0, counted, count)


@func
def _freeze_islands(model, work):
    """Put the islands to sleep whose trees have all rested for long enough."""
    lanes, zero = work.lanes, work.real(0.0)
    # An island is ready if no awake tree of it is still counting.
    for g in range(work.tile_ngroup[0]):
        first = work.group_treeadr[g]
        end = first + work.group_treenum[g]
        for a in range(first, end):
            t = work.group_tree[a]
            ready = lanes.mask(work.tree_asleep[t] == -1.0)
            for b in range(first, end):
                s = work.group_tree[b]
                other = (work.tree_island[s] == work.tree_island[t]) & (work.tree_asleep[s] < -1.0)
                ready = ti.select(other, zero, ready)
            work.tree_was[t] = ready
    for t in range(model.nsleep):
        work.tree_asleep[t] = ti.select(work.tree_was[t] > 0.5, work.tree_island[t], work.tree_asleep[t])
        if lanes.any(work.tree_was[t]):
            for i in range(model.tree_dofadr[t], model.tree_dofadr[t] + model.tree_dofnum[t]):
                work.eval_qvel[i] = ti.select(work.tree_was[t] > 0.5, zero, work.eval_qvel[i])


_ASLEEP = "awake: minus the steps until the tree may sleep, -11 to -1; asleep: least tree of its island"
_ISLAND = int(mujoco.mjtDisableBit.mjDSBL_ISLAND)
_JOIN_ISLANDS = clears("disableflags", _ISLAND)


STATIC, MOCAP = -1, -2
"""Tree of objects without dofs: they do not move, or the user moves them."""
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
    """Return the trees of both sides of every equality (neq, 2), from the trees of bodies; STATIC if one is missing."""
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


PART = Part(
    name="sleeping",
    doc="islands at rest are put to sleep",
    wanted=lambda model: model.sizes["nsleep"] > 0,
    integers=(
        Field("body_tree", ("nbody",), 1, "", "kinematic tree of the body; -1: static, -2: mocap body"),
        ids("tree_can_sleep", ("ntree",), "1: the tree's sleep policy lets it sleep"),
        Field("eq_tree1", ("neq",), 1, "", "tree of the equality's first side, as body_tree"),
        Field("eq_tree2", ("neq",), 1, "", "tree of the equality's second side, as body_tree"),
    ),
    reals=(
        Field("dof_length", ("nv",), 1, "m", "length that turns the dof's velocity into a speed"),
        Field("sleep_tolerance", ("one",), 1, "m/s", "speed below which a tree may sleep"),
    ),
    values=sleep_values,
    rules={"dof_length": (("dof_length",), lambda mjm, length: length)},
    sizes=lambda mjm, values: {"nsleep": mjm.ntree if sleeps(mjm) else 0},
    scratch=(
        Field(
            "tree_was",
            ("nsleep",),
            1,
            "",
            "tree_asleep before trees wake; mask of trees that fall asleep",
        ),
    ),
    memory=(Memory(Field("tree_asleep", ("nsleep",), 1, "", _ASLEEP), reset=((), first_asleep), guarded=False),),
    hooks={
        BEGINNING: wake_disturbed,
        STANDSTILL: all_asleep,
        PAIR_MASK: pair_awake,
        CONTACTS_AGAIN: wake_touched,
        CONTACTS_FOUND: wake_tied,
        ROWS: rest_blocks,
        FROZEN: asleep,
        STATES_ADVANCE: fall_asleep,
    },
    mujoco="tree_sleep_policy dof_length sleep_tolerance",
    allowed={
        "opt.sleep_tolerance": AllowedNumbers(NOT_NEGATIVE, "a speed; below 0 there is none"),
        "dof_length": AllowedNumbers(NOT_NEGATIVE, "a length, which MuJoCo's compiler derives from bodies"),
    },
    unsupported=(no_sleep("without islands", lambda mjm: disabled(mjm, _ISLAND), "island", _JOIN_ISLANDS),),
)
