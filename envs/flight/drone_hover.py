"""DroneHover: fly to a point and stay there."""

from ..arrays import Array, row_norm, row_sum
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from .drone import DroneTask


class DroneHover(DroneTask):
    """A quadrotor flies to a goal, somewhere else in every episode, and hovers there. 50 actions a second.

    Action:

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | rotor_1 | -1 | 1 | front right: hover thrust x (1 + `thrust_scale` x action) |
    | 1 | rotor_2 | -1 | 1 | back right: as above |
    | 2 | rotor_3 | -1 | 1 | back left: as above |
    | 3 | rotor_4 | -1 | 1 | front left: as above |

    With `action="rates"`: 0 is the thrust of all rotors together, in the same measure, and 1 to 3 are rates about the
    body's x, y and z axis, `max_rate` rad/s at 1, which a controller with `rate_gain` (1/s) follows at every physics
    step.

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-2 | velocity | m/s | of the center, in the frame of the body |
    | 3-5 | rates | rad/s | angular velocity in the frame of the body |
    | 6-8 | gravity | 1 | the direction downwards, in the frame of the body |
    | 9-11 | goal | m | the offset to the goal, in the frame of the body |

    Reward, a second's weights times the step's 0.02 s, as in IsaacLab's Quadcopter:

    - `reward_goal`: `goal_weight` x (1 - tanh(distance / 0.8 m))
    - `reward_velocity`: -`velocity_weight` x velocity²
    - `reward_rates`: -`rates_weight` x rates²

    Ends in a crash: less than 0.1 or more than 2 m above the ground. Cut short beyond `arena` (m) along x or y, as in
    gym-pybullet-drones' HoverAviary. `info["success"]`: for `hold_time` s the drone was within `hold_distance` m.
    Starts within `start_range` m of the middle and between 0.5 and 1.5 m high, in any heading, about x and y tilted up
    to `start_tilt` rad, with a velocity up to `start_velocity` m/s along each axis; the goal lies within `goal_range`
    m and between the same heights. With `rotor_drag` the air holds the rotors back.
    """

    goal_weight: float = 15.0
    velocity_weight: float = 0.05
    rates_weight: float = 0.01
    hold_distance: float = 0.1
    hold_time: float = 1.0

    def bind(self) -> None:
        """Count the steps of `hold_time`."""
        super().bind()
        self.hold_steps = round(self.hold_time / self.dt)

    def reset(self, noise: Noise) -> Start:
        """Draw a start and a goal."""
        qpos, qvel = self.draw_pose(noise)
        goal = self.draw_goal(noise, self.goal_range)
        memory = {"goal": goal, "held": noise.integers(0, 1, 1)[:, 0]}
        return Start(qpos, qvel, memory, inputs={"mocap_pos": goal[:, None, :]})

    def observation(self, state: TaskState) -> Array:
        """Return velocities, the direction of gravity and the offset to the goal, (n, 12)."""
        return self.xp.concat((*self.motion(state), self.offset_to_goal(state, state.memory["goal"])), axis=1)

    @property
    def observation_structure(self) -> dict[str, int]:
        """The widths of the observation's blocks, in order."""
        return {"velocity": 3, "rates": 3, "gravity": 3, "goal": 3}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward being near the goal, penalize moving and turning."""
        velocity, rates, gravity = self.motion(state)
        offset = self.offset_to_goal(state, state.memory["goal"])
        distance = row_norm(offset)
        terms = {
            "reward_goal": self.goal_weight * self.dt * self.nearness(distance),
            "reward_velocity": -(self.velocity_weight * self.dt) * row_sum(velocity * velocity),
            "reward_rates": -(self.rates_weight * self.dt) * row_sum(rates * rates),
        }
        held = self.xp.where(distance < self.hold_distance, state.memory["held"] + 1, 0)
        info = {"distance": distance, "success": held >= self.hold_steps}
        inputs = {"xfrc_applied": self.drag_force(state, action, velocity)} if self.rotor_drag else {}
        return StepResult(
            self.xp.concat((velocity, rates, gravity, offset), axis=1),
            terms,
            self.crashed(state),
            info,
            {"held": held},
            self.outside(state),
            inputs,
        )
