"""Pegs: put one into a hole at the side of a box, and pull one out."""

from collections.abc import Mapping
from typing import ClassVar

from ..arrays import Array
from .grips import cage
from .rewards import both, distance, near
from .sawyer import Glimpse, SawyerRating, SawyerTask, SeenObject


class SawyerPegInsertSide(SawyerTask):
    """Put a peg into a hole at the side of a box."""

    low = (0.0, 0.5, 0.02, -0.35, 0.4, -0.001)
    high = (0.2, 0.7, 0.02, -0.25, 0.7, 0.001)
    goal_low = (-0.32, 0.4, 0.129)
    goal_high = (-0.22, 0.7, 0.131)
    apart = 0.1
    free = 9
    fixture = "box"
    fixture_at = ("goal", (0.0, 0.0, 0.0))
    target_at = ("goal", (0.03, 0.0, 0.13))
    parts = (SeenObject(("site_xpos", "pegGrasp"), ("site_xmat", "pegGrasp")),)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_peg_insertion_side.xml"

    def notes(self, start: Array, goal: Array, fixture: Array) -> Mapping[str, Array]:
        """Remember where the peg's head lay before the peg was placed."""
        return {"head": 0 * start + self.array(self.found(self.rest, "site_xpos", "pegHead"))}

    def outside_boxes(self, now: Glimpse, head: Array) -> Array:
        """Return how far the peg's head is from running into the box beside the hole, (n,) from 0 to 1."""
        values = []
        for number in (1, 2):
            one = self.at(now.state, "site_xpos", f"top_left_corner_collision_box_{number}")
            zero = self.at(now.state, "site_xpos", f"bottom_right_corner_collision_box_{number}")
            share = (head - zero) / (one - zero)
            inside = ((share >= 0) & (share <= 1)).all(1)
            values.append(self.xp.where(inside, share[:, 0] * share[:, 1] * share[:, 2], 1.0))
        return both(*values)

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward gripping the peg, then its head at the hole, not in the box beside it."""
        xp, scale, head = self.xp, self.vector(1.0, 2.0, 2.0), self.at(now.state, "site_xpos", "pegHead")
        to_obj, far = distance(now.obj, now.tcp), distance(head, now.target, scale)
        in_place = near(far, 0.07, distance(now.state.memory["head"], now.target, scale))
        in_place = both(in_place, self.outside_boxes(now, head))
        held = (now.opened > 0) & (now.obj[:, 2] - 0.01 > now.start[:, 2])
        lifted = held & (to_obj < 0.08)
        grasp = xp.where(lifted, 1.0, cage(now, now.obj, 0.0075, 0.03, 0.005))
        reward = both(grasp, in_place) + xp.where(lifted, 1 + 5 * in_place, 0.0)
        done = far <= 0.07
        reward = xp.where(done, 10.0, reward)
        return SawyerRating(reward, done, to_obj <= 0.03, held & (to_obj < 0.02), grasp, in_place, far)


class SawyerPegUnplugSide(SawyerTask):
    """Pull a peg out of a box."""

    low = (-0.25, 0.6, -0.001)
    high = (-0.15, 0.8, 0.001)
    goal_low = (-0.056, 0.6, 0.13)
    goal_high = (0.044, 0.8, 0.132)
    free = 9
    lift = (0.044, 0.0, 0.131)
    joints: ClassVar = {12: 1.0, 13: 0.0, 14: 0.0, 15: 0.0}
    stilled = range(9, 12)
    fixture = "box"
    target_at = ("start", (0.194, 0.0, 0.131))
    parts = (SeenObject(("site_xpos", "pegEnd"), ("xquat", "plug1")),)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_peg_unplug_side.xml"

    def notes(self, start: Array, goal: Array, fixture: Array) -> Mapping[str, Array]:
        """Remember where the peg's end is."""
        end, plug = (self.found(self.laid, *what) for what in (("site_xpos", "pegEnd"), ("xpos", "plug1")))
        return {"start": start + self.vector(*self.lift) + self.array(end - plug)}

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward gripping the peg, then pulling."""
        to_obj, far = distance(now.obj, now.tcp), distance(now.obj, now.target)
        grasp = cage(now, now.obj, 0.025, 0.05, 0.005, most=0.8)
        in_place = near(far, 0.05, distance(now.start, now.target))
        out = (now.opened > 0.5) & (now.obj[:, 0] - now.start[:, 0] > 0.015)
        reward = 2 * grasp + self.xp.where(out & (to_obj < 0.035), 1 + 5 * in_place, 0.0)
        reward = self.xp.where(far <= 0.05, 10.0, reward)
        return SawyerRating(reward, far <= 0.07, to_obj <= 0.03, out, grasp, in_place, far)
