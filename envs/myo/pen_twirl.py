"""Turning a pen, of MyoSuite: the fingers bring it to a direction."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import mujoco

from ..arrays import Array, row_norm, row_sum, sin_cos
from ..task.noise import Noise
from ..task.task import Start, TaskState
from .muscle_task import PALM_UP, MuscleRating, MuscleTask

DROPPED = 0.075  # m from the place of the pen


class MyoPenTwirl(MuscleTask):
    """Turn a pen in the hand to a direction. MyoSuite's myoHandPenTwirl.

    Observation: the hand's qpos (rad), the pen's place (m), its six joint rates (m and rad in a step), its direction
    and the wanted one, the offset from its place in the hand (m), the difference of the directions, activations.

    Reward: `pos_align`, minus the length of the offset (m); `rot_align`, the cosine between the directions; `act_reg`;
    `drop` 0.075 m and more away, which ends the episode; `bonus` 1 for a cosine above 0.9 and 5 more above 0.95, which
    is success.

    Starts at rest, the palm up. The wanted direction is turned about x and y by up to `turned` (rad).
    """

    weights: ClassVar = {"pos_align": 1.0, "rot_align": 1.0, "act_reg": 5.0, "drop": 5.0, "bonus": 10.0}
    reads_present: ClassVar[Sequence[str]] = ("act", "site_xpos", "xpos")

    xml_file: str = "myosuite:envs/myo/assets/hand/myohand_pen.xml"
    frame_skip: int = 5
    turned: float = 0.0

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Make the target a body that episodes turn."""
        super().edit_spec(spec)
        spec.body("target").mocap = True

    def bind(self) -> None:
        """Look up the ends of pen and target, and the start."""
        super().bind()
        model = self.model
        self.tops = self.sites(["object_top", "target_top"])
        self.ends = self.sites(["object_bottom", "target_bottom"])
        self.length = 2 * abs(float(model.site("object_top").pos[2]))
        self.pen, self.home = model.body("Object").id, self.sites(["eps_ball"])
        rest = model.qpos0.copy()
        rest[:-6] = 0
        rest[0] = PALM_UP
        self.rest = self.doubles(rest)

    def reset(self, noise: Noise) -> Start:
        """Draw the direction."""
        sine, cosine = sin_cos(noise.uniform(-self.turned, self.turned, 2) / 2)
        (sx, sy), (cx, cy) = (sine[:, :1], sine[:, 1:]), (cosine[:, :1], cosine[:, 1:])
        quat = self.xp.concat((cx * cy, sx * cy, cx * sy, sx * sy), axis=1)
        return self.start(self.rest + 0 * sx, inputs={"mocap_quat": quat[:, None, :]})

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return the hand's joints, and place, rates and direction of the pen."""
        direction = (self.places(state, self.tops) - self.places(state, self.ends)) / self.length
        pen, place = direction[:, :3], state.present["xpos"][:, self.pen]
        return {
            "hand_jnt": state.qpos[:, :-6],
            "obj_pos": place,
            "obj_vel": state.qvel[:, -6:] * self.dt,
            "obj_rot": pen,
            "obj_des_rot": direction[:, 3:],
            "obj_err_pos": place - self.places(state, self.home),
            "obj_err_rot": pen - direction[:, 3:],
        }

    def rate(self, state: TaskState, parts: Mapping[str, Array]) -> MuscleRating:
        """Rate the pen's place and direction."""
        pen, wanted, away = parts["obj_rot"], parts["obj_des_rot"], row_norm(parts["obj_err_pos"])
        cosine = row_sum(pen * wanted) / (row_norm(pen) * row_norm(wanted))
        dropped, held = away > DROPPED, away < DROPPED
        aligned = (cosine > 0.95) & held
        terms = {
            "pos_align": -away,
            "rot_align": cosine,
            "act_reg": -self.activity(parts),
            "drop": -self.array(dropped),
            "bonus": self.array((cosine > 0.9) & held) + 5 * self.array(aligned),
        }
        return MuscleRating(terms, (cosine > 0.95) & ~dropped, dropped)
