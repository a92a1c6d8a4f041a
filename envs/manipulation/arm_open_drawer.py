"""ArmOpenDrawer: an arm pulls a drawer open by its handle."""

from typing import ClassVar

from ..arrays import Array, clip, row_norm
from ..task.noise import Noise
from ..task.task import Start, StepResult, TaskState
from ..task.terms import control_cost
from .arm import ArmTask, nearness, places

CABINET_LOW, CABINET_HIGH = (0.77, -0.15), (0.83, 0.15)  # m, where cabinets stand
SLOW = 0.05  # m/s, the speed of the drawer below which it counts as resting


class ArmOpenDrawer(ArmTask):
    """An arm of seven hinges opens the drawer of a cabinet, which stands elsewhere in every episode.

    Action: the velocity of the grip, turned into targets of the joints' servos (`ArmTask.control`), and the fingers.

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | x | -1 | 1 | velocity ahead / `max_speed` |
    | 1 | y | -1 | 1 | velocity to the left / `max_speed` |
    | 2 | z | -1 | 1 | velocity upwards / `max_speed` |
    | 3 | gripper | -1 | 1 | target of each finger, from 10 mm beyond closed to 40 mm open |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-6 | qpos[:7] | rad | the arm's hinges |
    | 7 | gap | m | between the pads |
    | 8-14 | qvel[:7] | rad/s | velocities of the hinges |
    | 15 | gap's rate | m/s | |
    | 16-18 | grip | m | the middle between the pads |
    | 19 | drawer's qpos | m | how far it is open, 0 to 0.2 |
    | 20 | drawer's qvel | m/s | |
    | 21-23 | handle | m | the middle of the upright bar |
    | 24-26 | handle - grip | m | |

    Reward, stages as in ManiSkill's OpenCabinetDrawer:

    - `reward_reach`: 1 - tanh(5 x distance in m from the grip to the handle), or 1 with success
    - `reward_open`: 2 x the way that the drawer is open / `threshold`, at most 2
    - `reward_success`: 1 with success
    - `reward_effort`: -`effort_weight` x |action|²

    Never ends by itself. Success: the drawer is open by `threshold` or more, and slower than 0.05 m/s. Starts: the
    drawer closed; the cabinet in a box of 0.06 x 0.3 m.
    """

    camera: ClassVar = {"lookat": (0.45, 0.0, 0.2), "distance": 1.6, "azimuth": 55.0, "elevation": -20.0}

    xml_file: str = "arm_drawer.xml"
    threshold: float = 0.15  # m
    effort_weight: float = 0.01

    def bind(self) -> None:
        """Find the drawer, and the handle in its frame, which keeps the world's axes."""
        super().bind()
        self.drawer = self.model.body("drawer").id
        self.handle_pos = self.array(self.model.site("handle").pos)

    def reset(self, noise: Noise) -> Start:
        """Draw posture and cabinet."""
        xp, arm = self.xp, self.arm_start(noise)
        x, y = (noise.uniform(low, high, 1) for low, high in zip(CABINET_LOW, CABINET_HIGH, strict=True))
        qpos = xp.concat((arm, 0 * x), axis=1)
        return Start(qpos, xp.zeros_like(qpos), inputs={"mocap_pos": places(x, y, 0 * x)})

    def handle(self, state: TaskState) -> Array:
        """Return the middle of the handle, (n, 3) m."""
        return state.fields["xpos"][:, self.drawer, :] + self.handle_pos

    def observation(self, state: TaskState) -> Array:
        """Return arm, drawer and handle, (n, 27)."""
        handle = self.handle(state)
        drawer = (state.qpos[:, 9:10], state.qvel[:, 9:10])
        return self.xp.concat((*self.arm_seen(state), *drawer, handle, handle - self.grip(state)), axis=1)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward being at the handle, and the open drawer."""
        opened, speed = state.qpos[:, 9], state.qvel[:, 9]
        reach = row_norm(self.handle(state) - self.grip(state))
        success = (opened >= self.threshold) & (speed < SLOW) & (speed > -SLOW)
        terms = {
            "reward_reach": self.xp.where(success, 1 + 0 * reach, nearness(reach, 0.2)),
            "reward_open": 2 * clip(opened / self.threshold, 0.0, 1.0),
            "reward_success": self.array(success),
            "reward_effort": -control_cost(action, self.effort_weight),
        }
        info = {"distance": self.threshold - opened, "reach_distance": reach, "success": success}
        return StepResult(self.observation(state), terms, info=info)
