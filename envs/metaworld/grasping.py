"""Grasp something and bring it to its place: a puck, a ball, a mug."""

from typing import ClassVar

from ..arrays import Array, clip, row_norm
from .grips import cage, clasp
from .reaching import PUCK
from .rewards import above, both, distance, flag, funnel, near
from .sawyer import Glimpse, SawyerRating, SawyerTask, SeenObject, single

OBJECT_W_FIRST = (SeenObject(("xpos", "obj"), ("xquat", "obj")),)


class SawyerGrasp(SawyerTask):
    """A task whose object is to be grasped and brought to the target.

    The reward is the product of grasp and place; from the moment that the object is held, 1 more, and up to
    `bonus` by the place; at the target it is 10.
    """

    free = 9
    radius: ClassVar[float] = 0.05  # m, of the target
    succeeds: ClassVar[float] = 0.07  # m, where the episode counts as a success
    close: ClassVar[float] = 0.03  # m from the fingertips to the object, near
    clear: ClassVar[float] = 0.02  # m above its start, for "grasp_success"
    bonus: ClassVar[float] = 5.0
    scale: ClassVar[tuple[float, ...]] = (1.0, 1.0, 1.0)

    def grasp(self, now: Glimpse) -> Array:
        """Return how well the object is grasped, (n,)."""
        raise NotImplementedError

    def holds(self, now: Glimpse, to_obj: Array) -> Array:
        """Return True where the object is held, (n,) bool; `to_obj` is its distance from the fingertips."""
        raise NotImplementedError

    def goal_distance(self, now: Glimpse) -> tuple[Array, Array]:
        """Return the distance to the target now and at the start, (n,) m, with the axes' weights."""
        weights = self.vector(*self.scale)
        return distance(now.obj, now.target, weights), distance(now.start, now.target, weights)

    def grasped(self, now: Glimpse) -> Array:
        """Return "grasp_success", (n,) bool."""
        return self.held(now.state) & (now.opened > 0) & (now.obj[:, 2] - self.clear > now.start[:, 2])

    def measure(self, now: Glimpse, far: Array) -> Array:
        """Return "obj_to_target", (n,) m."""
        return far

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward grasping, then bringing."""
        far, margin = self.goal_distance(now)
        in_place = near(far, self.radius, margin)
        to_obj, grasp = distance(now.obj, now.tcp), self.grasp(now)
        reward = both(grasp, in_place) + self.xp.where(self.holds(now, to_obj), 1 + self.bonus * in_place, 0.0)
        reward = self.xp.where(far < self.radius, 10.0, reward)
        shown = self.measure(now, far)
        return SawyerRating(
            reward, shown <= self.succeeds, to_obj <= self.close, self.grasped(now), grasp, in_place, shown
        )


def raised(now: Glimpse, height: float) -> Array:
    """Return True where the object is a height (m) above its start, (n,) bool."""
    return now.obj[:, 2] - height > now.start[:, 2]


class SawyerPickPlace(SawyerGrasp):
    """Bring a puck to a point in the air."""

    low = (-0.1, 0.6, 0.02, -0.1, 0.8, 0.05)
    high = (0.1, 0.7, 0.02, 0.1, 0.9, 0.3)
    apart = 0.15
    parts = PUCK
    gripped = "objGeom"

    xml_file: str = "metaworld:sawyer_xyz/sawyer_pick_place_v3.xml"

    def grasp(self, now: Glimpse) -> Array:
        """Close the fingers around the puck."""
        return clasp(now, 0.015, 0.005)

    def holds(self, now: Glimpse, to_obj: Array) -> Array:
        """Return True where the puck is off the table in the fingers."""
        return (to_obj < 0.02) & (now.opened > 0) & raised(now, 0.01)


class SawyerHandInsert(SawyerGrasp):
    """Bring a block into a hole in the table."""

    low = (-0.1, 0.6, 0.05, -0.04, 0.8, -0.0201)
    high = (0.1, 0.7, 0.05, 0.04, 0.88, -0.0199)
    apart = 0.15
    hand = single(0.0, 0.6, 0.2)
    hand_low = (-0.5, 0.4, -0.15)
    height = 0.05
    parts = OBJECT_W_FIRST
    gripped = "objGeom"
    succeeds = 0.05
    bonus = 7.0

    xml_file: str = "metaworld:sawyer_xyz/sawyer_table_with_hole.xml"

    def grasp(self, now: Glimpse) -> Array:
        """Close the fingers around the block."""
        return cage(now, now.obj, 0.015, 0.05, 0.005)

    def holds(self, now: Glimpse, to_obj: Array) -> Array:
        """Return True where the block is in the fingers."""
        return (to_obj < 0.02) & (now.opened > 0)


class SawyerBasketball(SawyerGrasp):
    """Bring a ball over the basket."""

    low = (-0.1, 0.6, 0.0299, -0.1, 0.85, 0.0)
    high = (0.1, 0.7, 0.0301, 0.1, 0.9 + 1e-7, 0.0)
    goal_low = (-0.1, 0.85 - 0.083, 0.2499)
    goal_high = (0.1, 0.9 + 1e-7 - 0.083, 0.2501)
    apart = 0.15
    hand = single(0.0, 0.6, 0.2)
    height = single(0.03)[0]
    fixture = "basket_goal"
    fixture_at = ("goal", (0.0, 0.0, 0.0))
    target_at = ("site_xpos", "goal")
    parts = (SeenObject(("xpos", "bsktball"), ("xquat", "bsktball")),)
    radius, succeeds, close, scale = 0.08, 0.08, 0.05, (1.0, 1.0, 2.0)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_basketball.xml"

    def goal_distance(self, now: Glimpse) -> tuple[Array, Array]:
        """Measure from a point above the basket."""
        above_rim = self.xp.concat((now.target[:, :2], 0 * now.target[:, 2:] + 0.3), axis=1)
        return super().goal_distance(now._replace(target=above_rim))

    def grasp(self, now: Glimpse) -> Array:
        """Close the fingers around the ball; 1 where it is lifted."""
        lifted = self.holds(now, distance(now.obj, now.tcp))
        return self.xp.where(lifted, 1.0, cage(now, now.obj, 0.025, 0.06, 0.005))

    def holds(self, now: Glimpse, to_obj: Array) -> Array:
        """Return True where the ball is off the table in the fingers."""
        return (to_obj < 0.035) & (now.opened > 0) & raised(now, 0.01)

    def grasped(self, now: Glimpse) -> Array:
        """Return True where the ball is well above the table."""
        return (now.opened > 0) & raised(now, 0.03)


class SawyerCoffeePull(SawyerGrasp):
    """Pull a mug away from the coffee machine."""

    low = (-0.05, 0.7, -0.001, -0.1, 0.55, -0.001)
    high = (0.05, 0.75, 0.001, 0.1, 0.65, 0.001)
    apart = 0.15
    hand = (0.0, 0.4, 0.2)
    free = 0
    fixture = "coffee_machine"
    fixture_at = ("start", (0.0, 0.22, 0.0))
    parts = (SeenObject(("xpos", "obj"), ("geom_xmat", "mug")),)
    gripped = "mug"
    scale = (2.0, 2.0, 1.0)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_coffee.xml"

    def grasp(self, now: Glimpse) -> Array:
        """Close the fingers around the mug."""
        return cage(now, now.obj, 0.02, 0.05, 0.05, most=0.7, extra=0.04)

    def holds(self, now: Glimpse, to_obj: Array) -> Array:
        """Return True where the mug is in the fingers."""
        return (to_obj < 0.04) & (now.opened > 0)

    def grasped(self, now: Glimpse) -> Array:
        """Return True where both pads touch the mug."""
        return self.held(now.state) & (now.opened > 0)

    def measure(self, now: Glimpse, far: Array) -> Array:
        """Measure without weights."""
        return distance(now.obj, now.target)


class SawyerCoffeePush(SawyerCoffeePull):
    """Push a mug under the coffee machine."""

    low = (-0.1, 0.55, -0.001, -0.05, 0.7, -0.001)
    high = (0.1, 0.65, 0.001, 0.05, 0.75, 0.001)
    fixture_at = ("goal", (0.0, 0.22, 0.0))


class SawyerBinPicking(SawyerTask):
    """Bring a puck from one bin into the other."""

    low = (-0.21, 0.65, 0.02, 0.1199, 0.699, -0.001)
    high = (-0.03, 0.75, 0.02, 0.1201, 0.701, 0.001)
    hand_low = (-0.5, 0.4, 0.07)
    free = 9
    height = ("xpos", "obj")
    parts = OBJECT_W_FIRST

    xml_file: str = "metaworld:sawyer_xyz/sawyer_bin_picking.xml"

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Aim at the middle of the bin."""
        return 0 * goal + self.array(self.found(self.laid, "xpos", "bin_goal"))

    def notes(self, start: Array, goal: Array, fixture: Array) -> dict[str, Array]:
        """Remember no first distance yet."""
        return {"first_distance": 0 * start[:, 0] - 1}

    def later(self, now: Glimpse) -> dict[str, Array]:
        """Remember the distance after the first step."""
        return {"first_distance": self.first_distance(now)}

    def first_distance(self, now: Glimpse) -> Array:
        """Return the distance from puck to bin after the first step, (n,) m."""
        known = now.state.memory["first_distance"]
        return self.xp.where(known >= 0, known, distance(now.obj, now.target))

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward grasping, then bringing it over, high above the bins' walls."""
        far = distance(now.obj, now.target)
        in_place = near(far, 0.05, self.first_distance(now))
        floors = [funnel(row_norm((now.hand - place)[:, :2]), 0.03, 0.02, 0.2) for place in (now.start, now.target)]
        over = above(now.hand[:, 2], self.xp.minimum(*floors), 0.05)
        grasp = cage(now, now.obj, 0.015, 0.05, 0.01, most=0.7)
        close = distance(now.obj, now.hand) < 0.04
        holds = close & raised(now, 0.02) & (now.opened >= 0.43)
        reward = both(grasp, in_place) + self.xp.where(holds, 1 + 5 * both(over, in_place), 0.0)
        reward = self.xp.where(far < 0.05, 10.0, reward)
        return SawyerRating(reward, far <= 0.05, close, holds, grasp, in_place, far)


class SawyerPickOutOfHole(SawyerTask):
    """Lift a puck out of a hole."""

    low = (0.0, 0.75, 0.02, -0.1, 0.5, 0.15)
    high = (0.0, 0.75, 0.02, 0.1, 0.6, 0.3)
    apart = 0.15
    hand_low = (-0.5, 0.4, -0.05)
    free = 9
    parts = OBJECT_W_FIRST

    xml_file: str = "metaworld:sawyer_xyz/sawyer_pick_out_of_hole.xml"

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward grasping, then lifting it."""
        far, to_obj = distance(now.obj, now.target), distance(now.obj, now.tcp)
        floor = funnel(row_norm((now.tcp - now.start)[:, :2]), 0.03, 0.015, 0.15)
        over = above(now.tcp[:, 2], floor, 0.02)
        grasp = cage(now, now.obj, 0.015, 0.02, 0.03, most=0.1)
        in_place = near(far, 0.02, distance(now.start, now.target))
        holds = (to_obj < 0.04) & raised(now, 0.02) & (now.opened >= 0.33)
        reward = both(grasp, in_place) + self.xp.where(holds, 1 + 5 * both(in_place, over), 0.0)
        reward = self.xp.where(far < 0.05, 10.0, reward)
        return SawyerRating(reward, far <= 0.07, to_obj <= 0.03, holds, grasp, in_place, far)


class SawyerShelfPlace(SawyerTask):
    """Put a puck on a shelf."""

    low = (-0.1, 0.5, 0.019, -0.1, 0.8, 0.299)
    high = (0.1, 0.6, 0.021, 0.1, 0.9, 0.301)
    apart = 0.1
    hand = single(0.0, 0.6, 0.2)
    height = ("xpos", "obj")
    free = 9
    fixture = "shelf"
    fixture_at = ("goal", (0.0, 0.0, -0.3))
    target_at = ("site_xpos", "goal")
    parts = PUCK
    gripped = "objGeom"

    xml_file: str = "metaworld:sawyer_xyz/sawyer_shelf_placing.xml"

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward grasping, then bringing it in front of the shelf and onto it, not below."""
        xp, obj, target = self.xp, now.obj, now.target
        far, to_obj = distance(obj, target), distance(obj, now.tcp)
        in_place = near(far, 0.05, distance(now.start, target))
        grasp = cage(now, obj, 0.02, 0.05, 0.01, extra="")
        reward = both(grasp, in_place)
        low = (obj[:, 2] > 0) & (obj[:, 2] < 0.24) & (abs(obj[:, 0] - target[:, 0]) < 0.15)
        ahead = target[:, 1] - 0.15
        before = low & (obj[:, 1] > ahead) & (obj[:, 1] < target[:, 1])
        depth, drop = clip((obj[:, 1] - ahead) / 0.15, 0.0, 1.0), clip((0.24 - obj[:, 2]) / 0.24, 0.0, 1.0)
        in_place = xp.where(before, clip(in_place - both(depth, drop), 0.0, 1.0), in_place)
        in_place = xp.where(low & (obj[:, 1] > target[:, 1]), 0.0, in_place)
        holds = (to_obj < 0.025) & (now.opened > 0) & raised(now, 0.01)
        reward = xp.where(far < 0.05, 10.0, reward + xp.where(holds, 1 + 5 * in_place, 0.0))
        grasped = self.held(now.state) & (now.opened > 0) & raised(now, 0.02)
        return SawyerRating(reward, far <= 0.07, to_obj <= 0.03, grasped, grasp, in_place, far)


class SawyerBoxClose(SawyerTask):
    """Put the lid on a box."""

    low = (-0.05, 0.5, 0.02, -0.1, 0.7, 0.133)
    high = (0.05, 0.55, 0.02, 0.1, 0.8, 0.133)
    apart = 0.25
    hand = single(0.0, 0.6, 0.2)
    height = single(0.02)[0]
    free = 9
    extra_steps = 5
    rests_by_goal = True
    fixture = "boxbody"
    fixture_at = ("goal", (0.0, 0.0, 0.0))
    fixture_keeps_height = True
    parts = (SeenObject(("xpos", "top_link"), ("xquat", "top_link")),)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_box.xml"

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward closing the fingers at the lid's handle, then the lid's place."""
        xp = self.xp
        grab = clip((clip(now.effort, -1.0, 1.0) + 1) / 2, 0.0, 1.0)
        upright = clip(1 - row_norm(now.quat - self.vector(0.707, 0, 0, 0.707)) / 0.2, 0.0, 1.0)
        lid = now.obj + self.vector(0.0, 0.0, 0.02)
        floor = funnel(row_norm((now.hand - lid)[:, :2]), 0.02, 0.04, 0.4)
        ready = both(above(now.hand[:, 2], floor, floor / 2), near(distance(now.hand, lid), 0.02, 0.5))
        error = distance(now.target, lid, self.vector(1.0, 1.0, 3.0))
        lifted = 0.2 * flag(lid[:, 2] > 0.04, error) + 0.8 * near(error, 0.05, 0.25)
        success = distance(now.obj, now.target) < 0.08
        reward = xp.where(success, 10.0, 2 * both(grab, ready) + 8 * lifted) * upright
        return SawyerRating(reward, success, ready, grab >= 0.5, grab, lifted, 0.0)
