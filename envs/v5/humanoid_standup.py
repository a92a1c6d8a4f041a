"""HumanoidStandup: get up from the floor. Same task as Gymnasium's HumanoidStandup-v5."""

from typing import ClassVar

from ..arrays import Array, clip
from ..task.task import ResetResult, StepResult, TaskState
from ..task.terms import control_cost, squared_wrenches, without_wrenches
from .humanoid_task import HumanoidTask


class HumanoidStandup(HumanoidTask):
    """A humanoid of thirteen bodies and 17 hinges, lying on its back, gets up and stays up.

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

    - `reward_linup`: `uph_cost_weight` x height of the torso (m) / timestep (s). v5 does not use its weight.
    - `reward_quadctrl`: -`ctrl_cost_weight` x |action|²
    - `reward_impact`: -`impact_cost_weight` x |cfrc_ext|², the cost clipped to `impact_cost_range`
    - `reward_survive`: 1; v5 adds it without a name

    Never ends by itself. Starts uniform within ±`reset_noise_scale` of the reference.
    """

    camera: ClassVar = {
        "trackbodyid": 1,
        "distance": 4.0,
        "lookat": (0.0, 0.0, 0.8925),
        "elevation": -20.0,
    }

    xml_file: str = "humanoid_standup.xml"
    frame_skip: int = 5
    uph_cost_weight: float = 1.0
    ctrl_cost_weight: float = 0.1
    impact_cost_weight: float = 0.5e-6
    impact_cost_range: tuple[float, float] = (-float("inf"), 10.0)

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation, with contact wrenches of zero, as in v5."""
        return ResetResult(self.observation(without_wrenches(state)), self.place_info(state))

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward height, penalize effort and hard contacts."""
        height = state.qpos[:, 2]
        impact_cost = clip(self.impact_cost_weight * squared_wrenches(state), *self.impact_cost_range)
        terms = {
            "reward_linup": self.uph_cost_weight * height / float(self.model.opt.timestep),
            "reward_quadctrl": -control_cost(action, self.ctrl_cost_weight),
            "reward_impact": -impact_cost,
            "reward_survive": self.xp.ones_like(height),
        }
        return StepResult(self.observation(state), terms, info=self.place_info(state))

    def place_info(self, state: TaskState) -> dict[str, Array]:
        """Return the place of the root and the lengths of the tendons, for the info."""
        place = {
            "x_position": state.qpos[:, 0],
            "y_position": state.qpos[:, 1],
            "z_distance_from_origin": self.rise(state),
        }
        return place | self.tendon_info(state)
