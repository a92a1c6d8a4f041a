"""Kinematics to solve: only the part of a step without contacts, at every width of the lanes.

Coordinates, velocities and the warm start in; then forward kinematics, centre of mass, composite inertia, mass matrix
and its tree-sparse factor, inverse dynamics, and the acceleration M^-1 (-bias) out: the chunk that the lanes were
by, and the solver's work where nothing touches. The warm start is nine tenths of the solution, for in a
simulation there is always one; from none, many Humanoids would be solved twice (`newton`, restarts).
"""

from typing import Any

import mujoco
import numpy as np
import taichi as ti
import torch

from ..physics import Model, RigidSolver
from ..physics.mechanics.constraint.hessian_pattern import lay_out_dofs
from ..physics.mechanics.constraint.newton import acceleration_by_newton
from ..physics.mechanics.dynamics.mass_matrix import mass_matrix
from ..physics.mechanics.dynamics.newton_euler import body_velocities
from ..physics.mechanics.dynamics.smooth import start_acceleration
from ..physics.mechanics.kinematics.center_of_mass import center_of_mass
from ..physics.mechanics.kinematics.forward import forward_kinematics
from ..physics.model.state.views import ModelView, Workspace
from .inside import Parts, kernel_of, launcher, load_rows, number_array, parts_of, tile_view
from .timing import clock

WARM = 0.9
"""Part of the solution that the warm start is."""
CHECKED = 64
"""Environments whose solution is compared with MuJoCo's."""


class SmoothChunk:
    """The chunk for one width, in the precision of the present runtime.

    Attributes:
        error: largest error of the solution relative to its largest entry, against MuJoCo.
    """

    def __init__(self, model: Model, num_envs: int, width: int) -> None:
        """Compile it, run it once and compare."""
        qpos, qvel = random_states(model, num_envs)
        solver = RigidSolver(model, num_envs, lanes=width)
        solver.set_state(qpos, qvel)
        parts = parts_of(solver)
        tiles = parts.memory.shape[0]
        out = torch.zeros((tiles, model.mj.nv, width), dtype=solver.dtype)
        arguments = parts.ints, parts.reals, parts.precise, parts.memory, out
        self._launch = launcher(kernel_of(parts, make_kernel), parts, *arguments)
        self.error = 0.0
        first = model.mj.nq + model.mj.nv
        for _ in ("without a warm start", "with the one that is timed"):
            self._launch()
            found = out.transpose(1, 2).reshape(tiles * width, -1)[:CHECKED].double().numpy()
            self.error = max(self.error, _error(model, solver.qpos, solver.qvel, found))
            parts.memory[:, first : first + model.mj.nv] = WARM * out

    def seconds(self, launches: int) -> float:
        """Return the seconds that so many passes over all environments take."""
        return clock(self._launch, launches)


def make_kernel(parts: Parts) -> Any:
    """The chunk as a kernel on one core: states in `memory`, solutions to `out` (tiles, nv, lanes)."""
    lanes, features, scratch = parts.lanes, parts.features, parts.scratch
    dtype, numbers = lanes.dtype, number_array(lanes)

    @ti.kernel
    def run_smooth(
        ints: ti.types.ndarray(ti.i32, 1),
        reals: ti.types.ndarray(dtype, 1),
        precise: ti.types.ndarray(ti.f64, 1),
        memory: numbers,
        out: numbers,
    ):
        ti.loop_config(serialize=True)
        for worker in range(1):
            model = ModelView(ints, reals, precise, features)
            work = Workspace(lanes, ints, scratch.arrays, worker, features)
            lay_out_dofs(model, work)
            for tile in range(memory.shape[0]):
                load_rows(work, tile_view(lanes, tile, memory), 0, model.nq + 2 * model.nv, 0)
                forward_kinematics(model, work)
                center_of_mass(model, work)
                mass_matrix(model, work)
                body_velocities(model, work)
                for i in range(model.nv):
                    work.qfrc_passive[i] = work.real(0.0)
                    work.qfrc_actuator[i] = work.real(0.0)
                work.tile_ncon[0] = 0
                work.tile_conadr.put(0, 0)
                start_acceleration(model, work)
                acceleration_by_newton(model, work)
                for i in range(model.nv):
                    tile_view(lanes, tile, out).memory(i)._assign(work.qacc[i])

    return run_smooth


def random_states(model: Model, num_envs: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions up to 0.6 (m or rad) from the reference, unit quaternions in any direction, normal velocities."""
    rng = np.random.default_rng(0)
    mj = model.mj
    qpos = mj.qpos0 + rng.uniform(-0.6, 0.6, (num_envs, mj.nq))
    for joint in np.nonzero(mj.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))[0]:
        quat = rng.normal(size=(num_envs, 4))
        first = mj.jnt_qposadr[joint] + 3
        qpos[:, first : first + 4] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    return qpos, rng.normal(size=(num_envs, mj.nv))


def _error(model: Model, qpos: torch.Tensor, qvel: torch.Tensor, found: np.ndarray) -> float:
    mj, data = model.mj, mujoco.MjData(model.mj)
    worst = 0.0
    for env, mine in enumerate(found):
        data.qpos[:], data.qvel[:] = qpos[env].numpy(), qvel[env].numpy()
        mujoco.mj_forward(mj, data)
        solution = np.zeros((1, mj.nv))
        mujoco.mj_solveM(mj, data, solution, data.qfrc_bias[None].copy())
        worst = max(worst, np.abs(mine + solution[0]).max() / np.abs(solution).max())
    return worst
