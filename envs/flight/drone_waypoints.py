"""DroneWaypoints: fly through points in the air, one after another."""

import mujoco

from ..arrays import Array, row_norm, row_sum
from ..task.noise import Noise
from ..task.task import ResetResult, Start, StepResult, TaskState
from .drone import DroneTask

HIDDEN = -1.0  # m, the height of markers that show nothing


class DroneWaypoints(DroneTask):
    """A quadrotor flies through `num_waypoints` points, which each episode draws. 50 actions a second.

    Action: as in `DroneHover`.

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | rotor_1 | -1 | 1 | front right: hover thrust x (1 + `thrust_scale` x action) |
    | 1 | rotor_2 | -1 | 1 | back right: as above |
    | 2 | rotor_3 | -1 | 1 | back left: as above |
    | 3 | rotor_4 | -1 | 1 | front left: as above |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-2 | velocity | m/s | of the center, in the frame of the body |
    | 3-5 | rates | rad/s | angular velocity in the frame of the body |
    | 6-8 | gravity | 1 | the direction downwards, in the frame of the body |
    | 9-11 | waypoint | m | the offset to the next waypoint, in the frame of the body |
    | 12-14 | following | m | from the drone to the waypoint after it; to the last one if it is the last |

    A waypoint is passed where the drone is nearer than `pass_distance` m.

    Reward:

    - `reward_progress`: `progress_weight` x how much nearer the next waypoint has come (m)
    - `reward_pass`: `pass_weight` for a waypoint that is passed
    - `reward_rates`: -`rates_weight` x rates² x the step's 0.02 s
    - `reward_crash`: -`crash_weight` in a crash

    Ends when all waypoints are passed, `info["success"]`, or in a crash: less than 0.1 or more than 2 m above the
    ground. Cut short beyond `arena` m along x or y. Starts as in `DroneHover`; waypoints lie within `waypoint_range` m
    of the middle along x and y, and between 0.5 and 1.5 m high.
    """

    num_waypoints: int = 4
    waypoint_range: float = 1.0
    pass_distance: float = 0.15
    progress_weight: float = 10.0
    pass_weight: float = 5.0
    rates_weight: float = 0.01
    crash_weight: float = 10.0

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Add a second marker, for the waypoint that follows."""
        marker = spec.worldbody.add_body(name="following", mocap=True, pos=[0, 0, HIDDEN])
        marker.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.025, 0, 0], rgba=[0.85, 0.75, 0.2, 0.4])

    def bind(self) -> None:
        """Check the number of waypoints.

        Raises:
            ValueError: the number of waypoints is not positive.
        """
        super().bind()
        if self.num_waypoints < 1:
            raise ValueError(f"DroneWaypoints: num_waypoints={self.num_waypoints}: at least one is needed")

    def reset(self, noise: Noise) -> Start:
        """Draw a start and all waypoints."""
        xp = self.xp
        qpos, qvel = self.draw_pose(noise)
        drawn = [self.draw_goal(noise, self.waypoint_range) for _ in range(self.num_waypoints)]
        waypoints = xp.stack(drawn, axis=1)
        passed = noise.integers(0, 1, 1)[:, 0]
        memory = {"waypoints": waypoints, "passed": passed}
        return Start(qpos, qvel, memory, inputs=self.markers(waypoints, passed))

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observations; remember the distance of the first waypoint."""
        distance = row_norm(self.waypoint(state, 0) - state.qpos[:, :3])
        return ResetResult(self.observation(state), memory={"distance": distance})

    def waypoint(self, state: TaskState, later: int) -> Array:
        """Return the waypoint that comes `later` after the next one, or the last, (n, 3) m."""
        return self.chosen(state.memory["waypoints"], state.memory["passed"] + later)

    def chosen(self, waypoints: Array, number: Array) -> Array:
        """Return of the waypoints (n, k, 3) that of each environment's number (n,), or the last, (n, 3)."""
        points = waypoints[:, 0, :]
        for k in range(1, self.num_waypoints):
            points = self.xp.where((number >= k)[:, None], waypoints[:, k, :], points)
        return points

    def markers(self, waypoints: Array, passed: Array) -> dict[str, Array]:
        """Return where the markers of the next waypoint and of the one that follows are, as inputs."""
        xp = self.xp
        following = self.chosen(waypoints, passed + 1)
        height = xp.where(passed[:, None] + 1 < self.num_waypoints, following[:, 2:], following[:, 2:] * 0 + HIDDEN)
        following = xp.concat((following[:, :2], height), axis=1)
        return {"mocap_pos": xp.stack((self.chosen(waypoints, passed), following), axis=1)}

    def observation(self, state: TaskState) -> Array:
        """Return velocities, the direction of gravity and the offsets to two waypoints, (n, 15)."""
        offsets = [self.offset_to_goal(state, self.waypoint(state, later)) for later in (0, 1)]
        return self.xp.concat((*self.motion(state), *offsets), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"velocity": 3, "rates": 3, "gravity": 3, "waypoint": 3, "following": 3}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward the way made and waypoints passed, penalize turning and a crash."""
        xp = self.xp
        velocity, rates, _ = self.motion(state)
        distance = row_norm(self.waypoint(state, 0) - state.qpos[:, :3])
        reached = distance < self.pass_distance
        crashed = self.crashed(state)
        terms = {
            "reward_progress": self.progress_weight * (state.memory["distance"] - distance),
            "reward_pass": self.pass_weight * xp.astype(reached, distance.dtype),
            "reward_rates": -(self.rates_weight * self.dt) * row_sum(rates * rates),
            "reward_crash": -self.crash_weight * xp.astype(crashed, distance.dtype),
        }
        passed = state.memory["passed"] + xp.astype(reached, state.memory["passed"].dtype)
        success = passed >= self.num_waypoints
        state = state.remember(passed=passed)
        left = row_norm(self.waypoint(state, 0) - state.qpos[:, :3])
        info = {"distance": left, "waypoints_passed": passed, "success": success}
        inputs = self.markers(state.memory["waypoints"], passed)
        if self.rotor_drag:
            inputs["xfrc_applied"] = self.drag_force(state, action, velocity)
        memory = {"passed": passed, "distance": left}
        return StepResult(self.observation(state), terms, success | crashed, info, memory, self.outside(state), inputs)
