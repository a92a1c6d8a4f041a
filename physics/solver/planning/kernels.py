"""Kernels of inverse kinematics: one worker takes one environment after the other, from its start to its solution.

Damped least squares: a step is dq = J^T (J J^T + d I)^-1 e, with the errors e of all targets. The damping d is the
user's, squared, plus a share of the squared error, which keeps steps short while the targets are far (Chan and
Lawrence, "General inverse kinematics with the error damped pseudoinverse", ICRA 1988). Dofs at a limit that would go
beyond it are left out of a step. An environment without a solution begins again from random configurations.
"""

from typing import Any

import taichi as ti

from ...base.joints import advance_joint
from ...base.math import Quat, func
from ...base.math.quaternion import from_axis_angle, rotation_vector
from .errors import TINY, differentiate, measure, obey_laws, place_bodies, target_frame
from .workspace import ChainView, ChainWork

F1, F2, F3 = (ti.types.ndarray(dtype=ti.f64, ndim=n) for n in (1, 2, 3))
F4 = ti.types.ndarray(dtype=ti.f64, ndim=4)
I1 = ti.types.ndarray(dtype=ti.i32, ndim=1)
SHARE = 0.03
"""The part of the squared error that is added to the damping."""
SHORTER = 16.0
"""The factor of the damping after a step of the last attempt that led away."""
PATIENCE, STALLED = 4, 0.95
"""Steps that every attempt takes, and the part of the squared error above which a later one was in vain."""
SEARCHING, ENDING, DONE = 0, 1, 2


@func
def _open_dofs(chain, work, respect: ti.i32):
    """Set `open`: 0 for dofs that may not be changed, or that are at a limit and pulled beyond it."""
    for d in range(chain.nv):
        work.open[d] = ti.cast(chain.dof_moves[d], ti.f64)
        if respect == 1 and chain.dof_limited[d] == 1:
            pull = work.real(0.0)
            for r in range(chain.nrow):
                pull += work.jac[r, d] * work.error[r]
            q = work.qpos[chain.dof_qposadr[d]]
            if (pull < 0.0 and q <= chain.dof_lower[d]) or (pull > 0.0 and q >= chain.dof_upper[d]):
                work.open[d] = 0.0


@func
def _factor(chain, work, damping):
    """Set `normal` to the Cholesky factor of J J^T + damping I, of the dofs that are open."""
    for i in range(chain.nrow):
        for k in range(i + 1):
            total = work.real(0.0)
            for d in range(chain.nv):
                total += work.jac[i, d] * work.open[d] * work.jac[k, d]
            if i == k:
                total += damping
            for c in range(k):
                total -= work.normal[i, c] * work.normal[k, c]
            if i == k:
                work.normal[i, i] = 1.0 / ti.sqrt(ti.max(total, TINY * damping))
            else:
                work.normal[i, k] = total * work.normal[k, k]


@func
def _solve_factored(chain, work):
    """Set `pull` to the solution of the damped equations; diagonal entries of the factor are inverted."""
    for i in range(chain.nrow):
        total = work.error[i]
        for k in range(i):
            total -= work.normal[i, k] * work.pull[k]
        work.pull[i] = total * work.normal[i, i]
    for back in range(chain.nrow):
        i = chain.nrow - 1 - back
        total = work.pull[i]
        for k in range(i + 1, chain.nrow):
            total -= work.normal[k, i] * work.pull[k]
        work.pull[i] = total * work.normal[i, i]


@func
def _step(chain, work, damping, max_step, respect: ti.i32):
    """Set start_qpos to qpos, and `change` to a step nearer to the targets, at most `max_step` (rad or m) a dof."""
    _open_dofs(chain, work, respect)
    _factor(chain, work, damping)
    _solve_factored(chain, work)
    largest = work.real(0.0)
    for d in range(chain.nv):
        change = work.real(0.0)
        for r in range(chain.nrow):
            change += work.jac[r, d] * work.pull[r]
        change *= work.open[d]
        work.change[d] = change
        largest = ti.max(largest, ti.abs(change))
    scale = ti.min(1.0, max_step / ti.max(largest, TINY))
    for d in range(chain.nv):
        work.change[d] = work.change[d] * scale
    for q in range(chain.nq):
        work.start_qpos[q] = work.qpos[q]


@func
def _advance(chain, work, respect: ti.i32):
    """Set qpos to start_qpos, changed by `change`, within the limits if they are respected, and by the laws."""
    for j in range(chain.njnt):
        advance_joint(chain, work, j, work.change, work.real(1.0), 1)
    if respect == 1:
        for d in range(chain.nv):
            if chain.dof_limited[d] == 1 and chain.dof_moves[d] == 1:
                q = chain.dof_qposadr[d]
                work.qpos[q] = ti.min(ti.max(work.qpos[q], chain.dof_lower[d]), chain.dof_upper[d])
        for j in range(chain.njnt):
            if chain.jnt_turn_limited[j] == 1:
                _limit_turn(chain, work, j)
    obey_laws(chain, work)


@func
def _limit_turn(chain, work, j: ti.i32):
    """Scale the rotation of joint j, which is a quaternion, to an angle of at most jnt_most."""
    q = chain.jnt_qposadr[j]
    quat = Quat(work.qpos[q], work.qpos[q + 1], work.qpos[q + 2], work.qpos[q + 3]).normalized()
    turn = rotation_vector(work.lanes, quat)
    angle = turn.norm()
    most = chain.jnt_most[j]
    if angle > most:
        quat = from_axis_angle(work.lanes, turn * (1.0 / angle), most)
        for c in ti.static(range(4)):
            work.qpos[q + c] = quat.parts()[c]


@func
def _mixed(x: ti.u32):
    """Return the bits of a number mixed (Jarzynski and Olano, "Hash functions for GPU rendering", JCGT 2020: PCG)."""
    state = x * ti.u32(747796405) + ti.u32(2891336453)
    word = ((state >> ((state >> ti.u32(28)) + ti.u32(4))) ^ state) * ti.u32(277803737)
    return (word >> ti.u32(22)) ^ word


@func
def _draw(chain, work, qpos, row: ti.i32, stream: ti.u32, sample: ti.i32):
    """Set start_qpos to the start, and `change` to the difference of a random configuration from it."""
    for q in range(chain.nq):
        work.start_qpos[q] = qpos[row, q]
    key = _mixed(stream + ti.cast(sample, ti.u32))
    for d in range(chain.nv):
        work.change[d] = 0.0
        key = _mixed(key + ti.u32(1))
        if chain.dof_moves[d] == 1:
            share = (ti.cast(key, ti.f64) + 0.5) / 4294967296.0
            value = chain.draw_low[d] + share * (chain.draw_high[d] - chain.draw_low[d])
            if chain.dof_absolute[d] == 1:
                value -= qpos[row, chain.dof_qposadr[d]]
            work.change[d] = value


@func
def _keep(chain, work):
    """Set best_qpos to qpos."""
    for q in range(chain.nq):
        work.best_qpos[q] = work.qpos[q]


@func
def _restart_at_best(chain, work):
    """Set start_qpos to the nearest configuration, and `change` to nothing."""
    for q in range(chain.nq):
        work.start_qpos[q] = work.best_qpos[q]
    for d in range(chain.nv):
        work.change[d] = 0.0


@func
def _search(chain, work, qpos, goals, row: ti.i32, stream: ti.u32, limits, tolerances):
    """Search a configuration for one environment, and leave the nearest one found in qpos, with its `error`.

    Args:
        chain: the chain.
        work: the worker's numbers.
        qpos: where the search begins (n, nq).
        goals: poses of the targets (n, ntarget, 7).
        row: the environment's row in both.
        stream: key of its random numbers.
        limits: counts of attempts and of steps in each of them; 1 if limits of joints are respected.
        tolerances: of positions (m) and of angles (rad), the damping, and the longest step (m or rad).

    Returns:
        1 if a configuration was found, else 0; the number of steps taken.
    """
    attempts, steps, respect = limits
    pos_tol, rot_tol, damping, max_step = tolerances
    for q in range(chain.nq):
        work.best_qpos[q] = qpos[row, q]
    _restart_at_best(chain, work)
    best, before, boost = work.real(ti.math.inf), work.real(ti.math.inf), work.real(1.0)
    attempt, step, taken, found, stage = 0, 0, 0, 0, SEARCHING
    while stage != DONE:
        _advance(chain, work, respect)
        place_bodies(chain, work)
        square, within = measure(chain, work, goals, row, pos_tol, rot_tol)
        if stage == ENDING:
            stage = DONE
        elif within == 1:
            found, stage = 1, DONE
        else:
            if square < best:
                best = square
                _keep(chain, work)
            # attempts from random configurations end early where they get no nearer
            stalled = 0 < attempt < attempts and step > PATIENCE and square > STALLED * before
            before = square
            finite = square < ti.math.inf
            if attempt == attempts and square > best:
                # the last attempt goes back where a step led away, and takes a shorter one
                boost *= SHORTER
                step += 1
                stage = ti.select(step >= steps, ENDING, SEARCHING)
                _restart_at_best(chain, work)
            elif finite and step < steps and not stalled:
                boost = ti.max(1.0, 0.5 * boost)
                differentiate(chain, work, 1)
                _step(chain, work, boost * (damping + SHARE * square), max_step, respect)
                step, taken = step + 1, taken + 1
            elif finite and attempt + 1 < attempts:
                attempt, step = attempt + 1, 0
                _draw(chain, work, qpos, row, stream, attempt)
            else:
                # one more attempt at the nearest configuration, then a last pass, so that `error` belongs to it
                stage = ti.select(not finite or attempt == attempts, ENDING, SEARCHING)
                attempt, step = attempts, 0
                _restart_at_best(chain, work)
    return found, taken


@ti.kernel
def solve(
    ints: I1,
    reals: F1,
    row_reals: ti.i32,
    begins: I1,
    numbers: F1,
    workers: ti.i32,
    row_step: ti.i32,
    worker_step: ti.i32,
    qpos: F2,
    goals: F3,
    streams: I1,
    attempts: ti.i32,
    steps: ti.i32,
    respect: ti.i32,
    pos_tol: ti.f64,
    rot_tol: ti.f64,
    damping: ti.f64,
    max_step: ti.f64,
    error: F3,
    found: I1,
    taken: I1,
):
    """Replace qpos (n, nq) by solutions; fill error (n, ntarget, 6), found (n,) and the steps taken (n,)."""
    ti.loop_config(block_dim=1)
    for worker in range(workers):
        row = worker
        while row < qpos.shape[0]:
            chain = ChainView(ints, reals, begins, row * row_reals)
            work = ChainWork(numbers, begins, chain, worker, row_step, worker_step)
            stream = ti.cast(streams[row], ti.u32)
            limits, tolerances = (attempts, steps, respect), (pos_tol, rot_tol, damping, max_step)
            solved, count = _search(chain, work, qpos, goals, row, stream, limits, tolerances)
            for q in range(chain.nq):
                qpos[row, q] = work.qpos[q]
            for r in range(chain.nrow):
                error[row, r // 6, r % 6] = work.error[r]
            found[row] = solved
            taken[row] = count
            row += workers


@ti.kernel
def place(
    ints: I1,
    reals: F1,
    row_reals: ti.i32,
    begins: I1,
    numbers: F1,
    workers: ti.i32,
    row_step: ti.i32,
    worker_step: ti.i32,
    qpos: F2,
    pose: F3,
    jac: F4,
):
    """Fill pose (n, ntarget, 7) and jac (n, ntarget, 6, nv) of the targets at qpos (n, nq)."""
    ti.loop_config(block_dim=1)
    for worker in range(workers):
        row = worker
        while row < qpos.shape[0]:
            chain = ChainView(ints, reals, begins, row * row_reals)
            work = ChainWork(numbers, begins, chain, worker, row_step, worker_step)
            for q in range(chain.nq):
                work.qpos[q] = qpos[row, q]
            place_bodies(chain, work)
            differentiate(chain, work, 0)
            for t in range(chain.ntarget):
                pos, quat = target_frame(chain, work, t)
                for c in ti.static(range(3)):
                    pose[row, t, c] = pos.parts()[c]
                for c in ti.static(range(4)):
                    pose[row, t, 3 + c] = quat.parts()[c]
                for c in range(6):
                    for d in range(chain.nv):
                        jac[row, t, c, d] = work.jac[6 * t + c, d]
            row += workers


def solve_kernel() -> Any:
    """Return the kernel `solve`, for `drivers.tensor_kernels`."""
    return solve


def place_kernel() -> Any:
    """Return the kernel `place`, for `drivers.tensor_kernels`."""
    return place
