"""Humanoid: run on two legs. Same task as Gymnasium's Humanoid-v5."""

from typing import ClassVar

from ..arrays import Array, clip
from ..task.task import ResetResult, StepResult, TaskState
from ..task.terms import control_cost, squared_wrenches, strictly_inside, without_wrenches
from .humanoid_task import HumanoidTask


class Humanoid(HumanoidTask):
    """A humanoid of thirteen bodies and 17 hinges runs along +x without falling.

    Action: torques of the motors below, divided by their gear (25 to 300 N m).

    | index | actuator | low | high | meaning |
    |---|---|---|---|---|
    | 0 | abdomen_y | -0.4 | 0.4 | torque / 100 N m |
    | 1 | abdomen_z | -0.4 | 0.4 | torque / 100 N m |
    | 2 | abdomen_x | -0.4 | 0.4 | torque / 100 N m |
    | 3 | right_hip_x | -0.4 | 0.4 | torque / 100 N m |
    | 4 | right_hip_z | -0.4 | 0.4 | torque / 100 N m |
    | 5 | right_hip_y | -0.4 | 0.4 | torque / 300 N m |
    | 6 | right_knee | -0.4 | 0.4 | torque / 200 N m |
    | 7 | left_hip_x | -0.4 | 0.4 | torque / 100 N m |
    | 8 | left_hip_z | -0.4 | 0.4 | torque / 100 N m |
    | 9 | left_hip_y | -0.4 | 0.4 | torque / 300 N m |
    | 10 | left_knee | -0.4 | 0.4 | torque / 200 N m |
    | 11 | right_shoulder1 | -0.4 | 0.4 | torque / 25 N m |
    | 12 | right_shoulder2 | -0.4 | 0.4 | torque / 25 N m |
    | 13 | right_elbow | -0.4 | 0.4 | torque / 25 N m |
    | 14 | left_shoulder1 | -0.4 | 0.4 | torque / 25 N m |
    | 15 | left_shoulder2 | -0.4 | 0.4 | torque / 25 N m |
    | 16 | left_elbow | -0.4 | 0.4 | torque / 25 N m |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-21 | qpos[2:] | m, rad | height, quaternion (w first), 17 hinges in the model's order |
    | 22-44 | qvel | m/s, rad/s | torso: linear (world), angular (torso frame); hinges |
    | 45-174 | cinert[1:] | kg m², kg m, kg | inertia of each body about the centre of mass of all |
    | 175-252 | cvel[1:] | rad/s, m/s | velocity of each body: rotation, translation |
    | 253-269 | qfrc_actuator[6:] | N m | actuator torques at the hinges |
    | 270-347 | cfrc_ext[1:] | N m, N | contact wrench on each body |

    With `exclude_current_positions_from_observation=False` x and y stand in front; each of the last four blocks has its
    option `include_..._in_observation`.

    Reward:

    - `reward_forward`: `forward_reward_weight` x velocity of the centre of mass along x (m/s)
    - `reward_survive`: `healthy_reward` while healthy
    - `reward_ctrl`: -`ctrl_cost_weight` x |action|²
    - `reward_contact`: -`contact_cost_weight` x |cfrc_ext|², the cost clipped to `contact_cost_range`

    Healthy: the torso's height within `healthy_z_range`, bounds excluded. Ends when not, unless
    `terminate_when_unhealthy=False`. Starts uniform within ±`reset_noise_scale` of the reference.
    """

    camera: ClassVar = {
        "trackbodyid": 1,
        "distance": 4.0,
        "lookat": (0.0, 0.0, 2.0),
        "elevation": -20.0,
    }

    xml_file: str = "humanoid.xml"
    frame_skip: int = 5
    forward_reward_weight: float = 1.25
    ctrl_cost_weight: float = 0.1
    contact_cost_weight: float = 5e-7
    contact_cost_range: tuple[float, float] = (-float("inf"), 10.0)
    healthy_reward: float = 5.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: tuple[float, float] = (1.0, 2.0)

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation, with contact wrenches of zero, as in v5."""
        return super().begin(without_wrenches(state))

    def position(self, state: TaskState) -> Array:
        """Return the position of the centre of mass, (n, 2) m."""
        return state.fields["subtree_com"][:, 0, :2]

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward speed along x and staying healthy, penalize effort and hard contacts."""
        position = self.position(state)
        velocity = self.velocity(state, position)
        x_velocity, y_velocity = velocity[:, 0], velocity[:, 1]
        healthy = strictly_inside(state.qpos[:, 2], self.healthy_z_range)
        contact_cost = clip(self.contact_cost_weight * squared_wrenches(state), *self.contact_cost_range)
        terms = {
            "reward_forward": self.forward_reward_weight * x_velocity,
            "reward_survive": self.healthy_reward * self.xp.astype(healthy, x_velocity.dtype),
            "reward_ctrl": -control_cost(action, self.ctrl_cost_weight),
            "reward_contact": -contact_cost,
        }
        terminated = ~healthy if self.terminate_when_unhealthy else None
        info = self.place_info(state) | {"x_velocity": x_velocity, "y_velocity": y_velocity}
        return StepResult(self.observation(state), terms, terminated, info, {"position": position})

    def place_info(self, state: TaskState) -> dict[str, Array]:
        """Return the place of the root and the lengths of the tendons, for the info."""
        return super().place_info(state) | self.tendon_info(state)
