"""Slide a plate over the table: into a cabinet and out of it, away from the robot and to the side."""

from typing import ClassVar

from ..arrays import Array
from .rewards import both, distance, near
from .sawyer import Glimpse, SawyerRating, SawyerTask, SeenObject, single

SIDEWAYS = "metaworld:sawyer_xyz/sawyer_plate_slide_sideway.xml"


class SawyerPlateSlide(SawyerTask):
    """Slide a plate into a cabinet."""

    low = (0.0, 0.6, 0.0, -0.1, 0.85, 0.0)
    high = (0.0, 0.6, 0.0, 0.1, 0.9, 0.0)
    hand = single(0.0, 0.6, 0.2)
    joints: ClassVar = {9: 0.0, 10: 0.0}
    stilled = ()
    fixture = "puck_goal"
    fixture_at = ("goal", (0.0, 0.0, 0.0))
    parts = (SeenObject(("geom_xpos", "puck"), ("geom_xmat", "puck")),)
    slack: ClassVar[float] = 0.0  # m that the margins are smaller

    xml_file: str = "metaworld:sawyer_xyz/sawyer_plate_slide.xml"

    def on_the_way(self, now: Glimpse, to_obj: Array, reach: Array, in_place: Array) -> Array:
        """Return the reward before the target is reached, (n,)."""
        return 8 * both(reach, in_place)

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward reaching the plate, and its place."""
        far, to_obj = distance(now.obj, now.target), distance(now.tcp, now.obj)
        in_place = near(far, 0.05, distance(now.start, now.target) - self.slack)
        reach = near(to_obj, 0.05, distance(now.tcp_start, now.start) - self.slack)
        reward = self.xp.where(far < 0.05, 10.0, self.on_the_way(now, to_obj, reach, in_place))
        return SawyerRating(reward, far <= 0.07, to_obj <= 0.03, 0.0, reach, in_place, far)


class SawyerPlateSlideSide(SawyerPlateSlide):
    """Slide a plate into a cabinet at the side."""

    low = (0.0, 0.6, 0.0, -0.3, 0.54, 0.0)
    high = (0.0, 0.6, 0.0, -0.25, 0.66, 0.0)
    fixture = ""
    slack = 0.05

    xml_file: str = SIDEWAYS

    def on_the_way(self, now: Glimpse, to_obj: Array, reach: Array, in_place: Array) -> Array:
        """Reward the place where the fingertips are low at the plate."""
        there = (now.tcp[:, 2] <= 0.03) & (to_obj < 0.07)
        return self.xp.where(there, 2 + 7 * in_place, 1.5 * reach)


class SawyerPlateSlideBack(SawyerPlateSlideSide):
    """Slide a plate out of a cabinet."""

    low = (0.0, 0.85, 0.0, -0.1, 0.6, 0.015)
    high = (0.0, 0.85, 0.0, 0.1, 0.6, 0.015)
    joints: ClassVar = {9: 0.0, 10: 0.15}

    xml_file: str = "metaworld:sawyer_xyz/sawyer_plate_slide.xml"


class SawyerPlateSlideBackSide(SawyerPlateSlideSide):
    """Slide a plate out of a cabinet at the side."""

    low = (-0.25, 0.6, 0.0, -0.05, 0.6, 0.015)
    high = (-0.25, 0.6, 0.0, 0.15, 0.6, 0.015)
    joints: ClassVar = {9: -0.15, 10: 0.0}
    fixture = "puck_goal"
    fixture_at = ("start", (0.0, 0.0, 0.0))
