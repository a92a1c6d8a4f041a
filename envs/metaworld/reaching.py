"""Reach a point, in the open and behind a wall."""

from .rewards import distance, near
from .sawyer import Glimpse, SawyerRating, SawyerTask, SeenObject

PUCK = (SeenObject(("xpos", "obj"), ("geom_xmat", "objGeom")),)
RADIUS = 0.05  # m


class SawyerReach(SawyerTask):
    """Bring the fingertips to a point."""

    low = (-0.1, 0.6, 0.02, -0.1, 0.8, 0.05)
    high = (0.1, 0.7, 0.02, 0.1, 0.9, 0.3)
    apart = 0.15
    free = 9
    parts = PUCK

    xml_file: str = "metaworld:sawyer_xyz/sawyer_reach_v3.xml"

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward being near."""
        far = distance(now.tcp, now.target)
        in_place = near(far, RADIUS, distance(self.tool, now.target))
        return SawyerRating(10 * in_place, far <= RADIUS, far, 1.0, far, in_place, far)


class SawyerReachWall(SawyerReach):
    """Bring the fingertips to a point behind a wall."""

    low = (-0.05, 0.6, 0.015, -0.05, 0.85, 0.05)
    high = (0.05, 0.65, 0.015, 0.05, 0.9, 0.3)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_reach_wall_v3.xml"

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward being near; nothing is to be grasped."""
        return super().rate(now)._replace(near_object=0.0, grasp_success=0.0, grasp_reward=0.0)
