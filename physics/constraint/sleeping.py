"""Sleeping islands: trees at rest are frozen until something disturbs them.

MuJoCo documentation, Simulation: Sleeping. `tree_asleep` of an awake tree is AWAKE while it moves, and counts up to -1
while it rests; an island all of whose trees have reached -1 falls asleep at the end of a step. For a sleeping tree it
is the least tree of its island (MuJoCo stores a cycle): an island wakes as a whole. Sleeping trees have no velocity, no
acceleration, no active constraints, and no contacts with each other or with static geoms.
"""

import taichi as ti

from ..collision.narrow_phase import narrow_phase
from ..dynamics.dof_control import has_controls
from ..math import func
from ..model.sleeping import AWAKE, MOCAP
from ..stage import stage


@func
def all_asleep(model, work):
    """True if all trees are asleep in all lanes and the model has no mocap bodies: then a step does nothing."""
    awake = work.real(0.0)
    for t in range(model.nsleep):
        awake = ti.max(awake, work.lanes.mask(work.tree_asleep[t] < 0.0))
    return model.nmocap == 0 and not work.lanes.any(awake)


@func
def _wake(model, work, t: ti.i32, count, where):
    """Wake the island of tree t in the lanes of the mask `where`: set tree_asleep to `count`.

    An awake tree gets the smaller of `count` and its own.
    """
    lanes, label = work.lanes, work.tree_asleep[t]
    sleeps = where * lanes.mask(label >= 0.0)
    work.tree_asleep[t] = ti.select((where > 0.5) & (label < 0.0), ti.min(count, label), label)
    # All trees of the island have the same label.
    if lanes.any(sleeps):
        for s in range(model.nsleep):
            same = sleeps * lanes.mask(work.tree_asleep[s] == label)
            work.tree_asleep[s] = ti.select(same > 0.5, count, work.tree_asleep[s])


@stage(
    when=lambda has: has.sleeping,
    reads="qvel qfrc_applied xfrc_applied dof_mode applied controlled",
    updates="tree_asleep",
)
def wake_disturbed(model, work):
    """Wake the islands with a tree to which the user gave a velocity or a force."""
    lanes = work.lanes
    for t in range(model.nsleep):
        if lanes.any(lanes.mask(work.tree_asleep[t] >= 0.0)):
            moved = work.real(0.0)
            for i in range(model.tree_dofadr[t], model.tree_dofadr[t] + model.tree_dofnum[t]):
                moved = ti.max(moved, lanes.mask(work.qvel[i] != 0.0))
            moved = ti.max(moved, _pushed(model, work, t))
            _wake(model, work, t, work.real(AWAKE), moved * lanes.mask(work.tree_asleep[t] >= 0.0))


@func
def _pushed(model, work, t: ti.i32):
    """Return the mask of lanes in which the user applies a force to tree t or controls one of its dofs."""
    pushed = work.real(0.0)
    if has_controls(model, work):
        for i in range(model.tree_dofadr[t], model.tree_dofadr[t] + model.tree_dofnum[t]):
            pushed = ti.max(pushed, work.lanes.mask(work.dof_mode[i] > 0.5))
    if work.applied[0] == 1:
        for i in range(model.tree_dofadr[t], model.tree_dofadr[t] + model.tree_dofnum[t]):
            pushed = ti.max(pushed, work.lanes.mask(work.qfrc_applied[i] != 0.0))
        for b in range(model.nbody):
            if model.body_treeid[b] == t:
                for c in ti.static(range(6)):
                    pushed = ti.max(pushed, work.lanes.mask(work.xfrc_applied.at(b, c) != 0.0))
    return pushed


@func
def collide(model, work):
    """Find the contacts of awake trees. If a contact wakes a sleeping tree, find them again with that tree included."""
    if ti.static(model.has.sleeping):
        work.woke[0] = 1
        while work.woke[0] == 1:
            narrow_phase(model, work)
            wake_touched(model, work)
    else:
        narrow_phase(model, work)


@stage(
    when=lambda has: has.sleeping,
    reads="con_present con_geom1 con_geom2 tile_ncon",
    writes="woke",
    updates="tree_asleep tree_was",
)
def wake_touched(model, work):
    """Wake islands that are touched by awake trees, whose count they take over, or by mocap bodies; set `woke`."""
    lanes, woke = work.lanes, work.real(0.0)
    for t in range(model.nsleep):
        work.tree_was[t] = work.tree_asleep[t]
    for k in range(work.tile_ncon[0]):
        for side in range(2):
            tree1 = model.body_treeid[model.geom_bodyid[work.con_geom1[k]]]
            tree2 = model.body_treeid[model.geom_bodyid[work.con_geom2[k]]]
            # Each of both trees may be the one that sleeps.
            sleeper, waker = tree1, tree2
            if side == 1:
                sleeper, waker = tree2, tree1
            if sleeper >= 0 and (waker >= 0 or waker == MOCAP):
                count, where = work.real(AWAKE), work.con_present[k] * lanes.mask(work.tree_was[sleeper] >= 0.0)
                if waker >= 0:
                    count = work.real(0.0) + work.tree_was[waker]
                    where = where * lanes.mask(count < 0.0)
                if lanes.any(where):
                    _wake(model, work, sleeper, count, where)
                    woke = ti.max(woke, where)
    work.woke[0] = ti.cast(lanes.any(woke), ti.i32)


@stage(when=lambda has: has.sleeping and has.equality, reads="eq_active", updates="tree_asleep")
def wake_tied(model, work):
    """Wake islands that an equality couples to an awake tree, to a mocap body, or to another island."""
    lanes = work.lanes
    for e in range(model.neq):
        t1, t2 = model.eq_tree1[e], model.eq_tree2[e]
        if model.eq_rows[e] > 0 and t1 != t2 and ti.max(t1, t2) >= 0:
            for side in range(2):
                sleeper, waker = t1, t2
                if side == 1:
                    sleeper, waker = t2, t1
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
        "qfrc_applied xfrc_applied dof_mode tree_island start_qvel tile_ngroup group_treeadr group_treenum",
        "group_tree applied controlled",
    ),
    updates="tree_asleep eval_qvel tree_was",
)
def fall_asleep(model, work):
    """Count the steps that trees have rested; put islands to sleep whose trees have all rested for long enough."""
    lanes, zero = work.lanes, work.real(0.0)
    # Count up while slow and without outside forces; otherwise start again.
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
    # Freeze the trees of ready islands.
    for t in range(model.nsleep):
        work.tree_asleep[t] = ti.select(work.tree_was[t] > 0.5, work.tree_island[t], work.tree_asleep[t])
        if lanes.any(work.tree_was[t]):
            for i in range(model.tree_dofadr[t], model.tree_dofadr[t] + model.tree_dofnum[t]):
                work.eval_qvel[i] = ti.select(work.tree_was[t] > 0.5, zero, work.eval_qvel[i])


@stage(when=lambda has: has.sleeping, reads="tree_asleep", updates="qvel_rest qacc start_qvel drive_qvel drive_qacc")
def rest(model, work):
    """Set velocity and acceleration of sleeping trees to 0."""
    zero = work.real(0.0)
    for i in range(model.nv):
        sleeps = work.tree_asleep[model.dof_treeid[i]] >= 0.0
        work.qacc[i] = ti.select(sleeps, zero, work.qacc[i])
        work.drive_qacc[i] = ti.select(sleeps, zero, work.drive_qacc[i])
        work.drive_qvel[i] = ti.select(sleeps, zero, work.drive_qvel[i])
        work.start_qvel[i] = ti.select(sleeps, zero, work.start_qvel[i])
        work.qvel_rest[i] = ti.select(sleeps, zero, work.qvel_rest[i])
