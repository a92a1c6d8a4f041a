"""Push a puck, a block or a ball over the table, past walls, off its edge and into goals."""

from typing import ClassVar

from ..arrays import Array, clip
from .grasping import OBJECT_W_FIRST, SawyerGrasp, raised
from .grips import cage, pinch
from .reaching import PUCK
from .rewards import both, distance, near
from .sawyer import Glimpse, SawyerRating, SawyerTask, SeenObject, single

FROM_GEOM = (SeenObject(("geom_xpos", "objGeom"), ("geom_xmat", "objGeom")),)
MIDWAY = 0.75  # m along y: beyond it the goal counts, not the way around the wall


class SawyerPush(SawyerTask):
    """Push a puck to a point on the table."""

    low = (-0.1, 0.6, 0.02, -0.1, 0.8, 0.01)
    high = (0.1, 0.7, 0.02, 0.1, 0.9, 0.02)
    apart = 0.15
    height: ClassVar[float | tuple[str, str] | None] = ("xpos", "obj")
    free = 9
    parts = PUCK
    gripped = "objGeom"
    succeeds: ClassVar[float] = 0.05  # m

    xml_file: str = "metaworld:sawyer_xyz/sawyer_push_v3.xml"

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Aim at the height of the puck."""
        return self.xp.concat((goal[:, :2], start[:, 2:]), axis=1)

    def on_the_way(self, now: Glimpse, grasp: Array, held: Array) -> tuple[Array, Array]:
        """Return the reward before the target is reached, and the "in_place_reward", each (n,)."""
        in_place = near(distance(now.obj, now.target), 0.05, distance(now.start, now.target))
        return 2 * grasp + self.xp.where(held, 1 + 2 * grasp + 5 * in_place, 0.0), in_place

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward grasping, then pushing."""
        far, to_obj = distance(now.obj, now.target), distance(now.obj, now.tcp)
        grasp = cage(now, now.obj, 0.015, 0.05, 0.005)
        reward, in_place = self.on_the_way(now, grasp, (to_obj < 0.02) & (now.opened > 0))
        reward = self.xp.where(far < 0.05, 10.0, reward)
        grasped = self.held(now.state) & (now.opened > 0) & raised(now, 0.02)
        return SawyerRating(reward, far <= self.succeeds, to_obj <= 0.03, grasped, grasp, in_place, far)


class SawyerPushWall(SawyerPush):
    """Push a puck around a wall."""

    low = (-0.05, 0.6, 0.015, -0.05, 0.85, 0.01)
    high = (0.05, 0.65, 0.015, 0.05, 0.9, 0.02)
    height: ClassVar[float | tuple[str, str] | None] = ("geom_xpos", "objGeom")
    parts = FROM_GEOM
    succeeds = 0.07

    xml_file: str = "metaworld:sawyer_xyz/sawyer_push_wall_v3.xml"

    def on_the_way(self, now: Glimpse, grasp: Array, held: Array) -> tuple[Array, Array]:
        """Reward passing the wall, then the target."""
        past, in_place = self.past_wall(now, self.vector(-0.05, 0.77), now.obj[:, 2:], self.vector(3.0, 1.0, 1.0))
        while_held = self.xp.where(now.obj[:, 1] > MIDWAY, 5 + 3 * in_place, 1 + 4 * past)
        return 2 * grasp + self.xp.where(held, while_held, 0.0), in_place

    def past_wall(self, now: Glimpse, xy: Array, z: Array, scale: Array) -> tuple[Array, Array]:
        """Return how near the object is to a point beside the wall (xy and z), and to the target, each (n,)."""
        midway = self.xp.concat((self.xp.broadcast_to(xy, (len(z), 2)), z), axis=1)
        past = near(distance(now.obj, midway, scale), 0.05, distance(now.start, midway, scale))
        return past, near(distance(now.obj, now.target), 0.05, distance(now.start, now.target))


class SawyerPickPlaceWall(SawyerPushWall):
    """Carry a puck over a wall."""

    low = (-0.05, 0.6, 0.015, -0.05, 0.85, 0.05)
    high = (0.05, 0.65, 0.015, 0.05, 0.9, 0.3)
    height = None

    xml_file: str = "metaworld:sawyer_xyz/sawyer_pick_place_wall_v3.xml"

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Aim at the point in the air."""
        return goal

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward grasping, then carrying."""
        xp, one = self.xp, 0 * now.obj[:, :1] + 1
        far, to_obj = distance(now.obj, now.target), distance(now.obj, now.tcp)
        grasp = cage(now, now.obj, 0.015, 0.05, 0.005, extra="")
        middle = xp.concat((now.target[:, :1], 0.77 * one), axis=1)
        past, in_place = self.past_wall(now, middle, 0.25 * one, self.vector(1.0, 1.0, 3.0))
        holds = (to_obj < 0.02) & (now.opened > 0) & raised(now, 0.015)
        while_held = xp.where(now.obj[:, 1] > MIDWAY, 5 + 3 * in_place, 1 + 4 * past)
        reward = xp.where(far < 0.05, 10.0, both(grasp, past) + xp.where(holds, while_held, 0.0))
        grasped = self.held(now.state) & (now.opened > 0) & raised(now, 0.02)
        return SawyerRating(reward, far <= 0.07, to_obj <= 0.03, grasped, grasp, in_place, far)


class SawyerPushBack(SawyerGrasp):
    """Pull a block towards the robot."""

    low = (-0.1, 0.8, 0.02, -0.1, 0.6, 0.0199)
    high = (0.1, 0.85, 0.02, 0.1, 0.7, 0.0201)
    apart = 0.15
    hand = single(0.0, 0.6, 0.2)
    height = ("geom_xpos", "objGeom")
    parts = FROM_GEOM
    gripped = "objGeom"

    xml_file: str = "metaworld:sawyer_xyz/sawyer_push_back_v3.xml"

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Aim at the height of the block."""
        return self.xp.concat((goal[:, :2], start[:, 2:]), axis=1)

    def grasp(self, now: Glimpse) -> Array:
        """Close the fingers around the block."""
        return pinch(now, 0.007, 0.003, 0.01)

    def holds(self, now: Glimpse, to_obj: Array) -> Array:
        """Return True where the block is in the fingers and has moved towards the target."""
        moved = distance(now.start, now.target) - distance(now.obj, now.target)
        return (to_obj < 0.01) & (now.opened > 0) & (now.opened < 0.55) & (moved > 0.01)


class SawyerSweep(SawyerTask):
    """Sweep a block off the table."""

    low: ClassVar[tuple[float, ...]] = (-0.1, 0.6, 0.02)
    high: ClassVar[tuple[float, ...]] = (0.1, 0.7, 0.02)
    goal_low: ClassVar[tuple[float, ...]] = (0.49, 0.6, 0.0)
    goal_high: ClassVar[tuple[float, ...]] = (0.51, 0.7, 0.02)
    height: ClassVar[float | tuple[str, str] | None] = 0.02
    free = 9
    parts = OBJECT_W_FIRST
    gripped = "objGeom"
    rim: ClassVar[float] = 0.01  # m, as in `pinch`
    level: ClassVar[float] = 0.005

    xml_file: str = "metaworld:sawyer_xyz/sawyer_sweep_v3.xml"

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Aim beside the table, straight to the right of the block."""
        return self.vector(0.5, 0.0, 0.01) + start * self.vector(0.0, 1.0, 0.0)

    def target_now(self, now: Glimpse) -> Array:
        """Return the target, (n, 3)."""
        return now.target

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward grasping, and bringing."""
        target = self.target_now(now)
        far, to_obj = distance(now.obj, target), distance(now.obj, now.tcp)
        in_place = near(far, 0.05, distance(now.start, target))
        grasp = pinch(now, 0.02, self.rim, self.level)
        reward = self.xp.where(far < 0.05, 10.0, 2 * grasp + 6 * both(grasp, in_place))
        grasped = self.held(now.state) & (now.opened > 0)
        return SawyerRating(reward, far <= 0.05, to_obj <= 0.03, grasped, grasp, in_place, far)


class SawyerSweepInto(SawyerSweep):
    """Sweep a block into a hole of the table."""

    low = (-0.1, 0.6, 0.02, -0.001, 0.8399, 0.0199)
    high = (0.1, 0.7, 0.02, 0.001, 0.8401, 0.0201)
    goal_low, goal_high = low[3:], high[3:]
    apart = 0.15
    height = ("xpos", "obj")
    parts = PUCK
    rim, level = 0.005, 0.01

    xml_file: str = "metaworld:sawyer_xyz/sawyer_table_with_hole.xml"

    def fits(self, drawn: Array) -> Array:
        """Keep the block away from the hole."""
        x, y = drawn[:, 0], drawn[:, 1] - 0.84
        return x * x + y * y >= self.apart**2

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Aim at the hole."""
        return 0 * start + self.vector(0.0, 0.84, 0.02)

    def target_now(self, now: Glimpse) -> Array:
        """Return the target at the height of the block."""
        return self.xp.concat((now.target[:, :2], now.obj[:, 2:]), axis=1)


class SawyerSoccer(SawyerTask):
    """Push a ball into a goal."""

    low = (-0.1, 0.6, 0.03, -0.1, 0.8, 0.0)
    high = (0.1, 0.7, 0.03, 0.1, 0.9, 0.0)
    apart = 0.15
    height = 0.03
    free = 9
    fixture = "goal_whole"
    fixture_at = ("goal", (0.0, 0.0, 0.0))
    parts = (SeenObject(("xpos", "soccer_ball"), ("xmat", "soccer_ball")),)
    gripped = "objGeom"

    xml_file: str = "metaworld:sawyer_xyz/sawyer_soccer.xml"

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward grasping, and bringing the ball between the posts."""
        scale = self.vector(3.0, 1.0, 1.0)
        obj, target = now.obj, now.target
        scaled, to_obj = distance(obj, target, scale), distance(obj, now.tcp)
        in_place = near(scaled, 0.07, distance(obj, now.start, scale))
        beyond = obj[:, 1] - (target[:, 1] - 0.1)
        missed = (beyond > 0) & (abs(obj[:, 0] - target[:, 0]) > 0.1)
        share = beyond / (1.1 - target[:, 1])
        in_place = self.xp.where(missed, clip(in_place - 2 * share, 0.0, 1.0), in_place)
        grasp = pinch(now, 0.013, 0.01, 0.005)
        reward = self.xp.where(scaled < 0.07, 10.0, 3 * grasp + 6.5 * in_place)
        far = distance(obj, target)
        grasped = self.held(now.state) & (now.opened > 0) & raised(now, 0.02)
        return SawyerRating(reward, far <= 0.07, to_obj <= 0.03, grasped, grasp, in_place, far)
