"""The part that tasks which reward travelling share: where the robot is, and the rewards of walkers in a plane."""

from abc import abstractmethod
from typing import Any, ClassVar

from ..arrays import Array, clip, row_norm
from ..task.noise import Noise
from ..task.task import ResetResult, Start, StepResult, Task, TaskState
from ..task.terms import control_cost, uniform_start


class LocomotionTask(Task):
    """A task whose first coordinates say how far the robot travelled: x in a plane, x and y in space.

    The agent does not see them unless `exclude_current_positions_from_observation` is False. Memory holds `position`
    (n, k) m, whose velocity over an environment step is rewarded.
    """

    travel: ClassVar[int] = 1  # how many of qpos's first coordinates say how far the robot travelled

    exclude_current_positions_from_observation: bool = True

    @property
    def skipped(self) -> int:
        """Count the first coordinates of qpos that the observation leaves out."""
        return self.travel if self.exclude_current_positions_from_observation else 0

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order; "skipped_qpos" counts the coordinates left out in front."""
        return {"skipped_qpos": self.skipped, "qpos": self.model.nq - self.skipped, "qvel": self.model.nv}

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation, the place of the root, and the position to measure velocity from."""
        return ResetResult(self.observation(state), self.place_info(state), {"position": self.position(state)})

    def position(self, state: TaskState) -> Array:
        """Return the position of the robot, (n, k) m: the root's coordinates in qpos."""
        return state.qpos[:, : self.travel]

    def velocity(self, state: TaskState, position: Array) -> Array:
        """Mean velocity of `position` over the last environment step, (n, k) m/s."""
        return (position - state.memory["position"]) / self.dt

    def rise(self, state: TaskState) -> Array:
        """Height of the root's second coordinate in a plane, third in space, above the reference, (n,) m."""
        return state.qpos[:, self.travel] - float(self.model.qpos0[self.travel])

    def place_info(self, state: TaskState) -> dict[str, Any]:
        """Return the coordinates of the root, and in space its distance from the origin, each (n,) m, for the info."""
        info = {"x_position": state.qpos[:, 0]}
        if self.travel == 2:
            info |= {"y_position": state.qpos[:, 1], "distance_from_origin": row_norm(state.qpos[:, :2])}
        return info


class PlanarWalkerTask(LocomotionTask):
    """A robot in a plane, with x, height and pitch as first coordinates, rewarded for speed along x without a fall."""

    frame_skip: int = 4
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 1e-3
    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True
    reset_noise_scale: float = 5e-3

    def reset(self, noise: Noise) -> Start:
        """Draw positions and velocities uniformly around the reference."""
        return uniform_start(self, noise, self.reset_noise_scale)

    def observation(self, state: TaskState) -> Array:
        """Return positions (without x unless asked for) and clipped velocities, (n, size)."""
        return self.xp.concat((state.qpos[:, self.skipped :], clip(state.qvel, -10, 10)), axis=1)

    @abstractmethod
    def healthy(self, state: TaskState) -> Array:
        """Return True where the robot has not fallen, (n,)."""

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward speed along x and staying healthy, penalize effort."""
        position, healthy = self.position(state), self.healthy(state)
        x_velocity = self.velocity(state, position)[:, 0]
        terms = {
            "reward_forward": self.forward_reward_weight * x_velocity,
            "reward_survive": self.healthy_reward * self.xp.astype(healthy, x_velocity.dtype),
            "reward_ctrl": -control_cost(action, self.ctrl_cost_weight),
        }
        terminated = ~healthy if self.terminate_when_unhealthy else None
        info = self.place_info(state) | {"x_velocity": x_velocity}
        return StepResult(self.observation(state), terms, terminated, info, {"position": position})

    def place_info(self, state: TaskState) -> dict[str, Array]:
        """Return where the root is, for the info."""
        return super().place_info(state) | {"z_distance_from_origin": self.rise(state)}
