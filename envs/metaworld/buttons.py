"""Press buttons: of a box from the front and from above, behind a wall, of a coffee machine; press and pull handles."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ..arrays import Array
from .grips import cage
from .rewards import both, distance, near
from .sawyer import Glimpse, SawyerRating, SawyerTask, SeenObject, single


class SawyerButtonPress(SawyerTask):
    """Press the button of a box from the front."""

    low = (-0.1, 0.85, 0.115)
    high = (0.1, 0.9, 0.115)
    hand = single(0.0, 0.4, 0.2)
    joints: ClassVar = {9: 0.0}
    stilled: ClassVar[Sequence[int]] = (9,)
    fixture = "box"
    target_at: ClassVar[tuple[str, Any]] = ("site_xpos", "hole")
    parts = (SeenObject(("xpos", "button"), ("xquat", "button"), (0.0, -0.193, 0.0)),)
    axis: ClassVar[int] = 1  # along which the button moves
    succeeds: ClassVar[float] = 0.02  # m
    reach: ClassVar[float] = 0.05  # m from the button that counts as there, and within which pressing pays
    press_within: ClassVar[float] = 0.05
    weights: ClassVar[tuple[float, float]] = (2.0, 8.0)  # of reaching and of pressing

    xml_file: str = "metaworld:sawyer_xyz/sawyer_button_press.xml"

    def bind(self) -> None:
        """Find how far the button moves."""
        super().bind()
        hole, top = (self.found(self.laid, "site_xpos", name) for name in ("hole", "buttonStart"))
        self.travel = float(abs(hole - top)[self.axis])

    def finger_factor(self, now: Glimpse) -> Array:
        """Return the factor of the fingers' opening in the reward, (n,): 1 for open fingers."""
        return now.opened

    def on_the_way(self, now: Glimpse, to_obj: Array, reached: Array, pressed: Array) -> Array:
        """Return the reward, (n,)."""
        reach, press = self.weights
        pressing = self.xp.where(to_obj <= self.press_within, press * pressed, 0.0)
        return reach * both(self.finger_factor(now), reached) + pressing

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward reaching the button, then pressing it."""
        to_obj = distance(now.obj, now.tcp)
        left = abs(now.target[:, self.axis] - now.obj[:, self.axis])
        reached = near(to_obj, self.reach, distance(now.obj, now.tcp_start))
        pressed = near(left, 0.005, self.travel)
        reward = self.on_the_way(now, to_obj, reached, pressed)
        return SawyerRating(reward, left <= self.succeeds, to_obj <= 0.05, now.opened > 0, reached, pressed, left)


class SawyerButtonPressWall(SawyerButtonPress):
    """Press the button of a box behind a wall."""

    low = (-0.05, 0.85, 0.1149)
    high = (0.05, 0.9, 0.1151)
    succeeds, reach = 0.03, 0.01

    xml_file: str = "metaworld:sawyer_xyz/sawyer_button_press_wall.xml"

    def on_the_way(self, now: Glimpse, to_obj: Array, reached: Array, pressed: Array) -> Array:
        """Reward closed fingers on the way, and open ones at the button."""
        there = 2 + 2 * (1 + now.opened) + 4 * pressed * pressed
        return self.xp.where(to_obj > 0.07, 2 * both((1 - now.opened) / 2, reached), there)


class SawyerButtonPressTopdown(SawyerButtonPress):
    """Press the button of a box from above."""

    low = (-0.1, 0.8, 0.115)
    high = (0.1, 0.9, 0.115)
    joints: ClassVar = {}
    parts = (SeenObject(("xpos", "button"), ("xquat", "button"), (0.0, 0.0, 0.193)),)
    axis, succeeds, reach, press_within, weights = 2, 0.024, 0.01, 0.03, (5.0, 5.0)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_button_press_topdown.xml"

    def finger_factor(self, now: Glimpse) -> Array:
        """Return the factor of the fingers' opening in the reward, (n,): 1 for closed fingers."""
        return 1 - now.opened


class SawyerButtonPressTopdownWall(SawyerButtonPressTopdown):
    """Press the button of a box behind a wall from above."""

    xml_file: str = "metaworld:sawyer_xyz/sawyer_button_press_topdown_wall.xml"

    def finger_factor(self, now: Glimpse) -> Array:
        """Return 1 for open fingers, (n,): Meta-World calls this `tcp_closed`."""
        return now.opened


class SawyerCoffeeButton(SawyerButtonPress):
    """Press the button of the coffee machine."""

    low = (-0.1, 0.8, -0.001)
    high = (0.1, 0.9, 0.001)
    goal_low = (-0.101, 0.61, 0.298)
    goal_high = (0.101, 0.71, 0.302)
    hand = (0.0, 0.4, 0.2)
    free = 0
    lift = (0.0, -0.22, 0.0)
    joints: ClassVar = {}
    stilled = range(9, 15)
    fixture = "coffee_machine"
    target_at = ("start", (0.0, -0.19, 0.3))
    parts = (SeenObject(("site_xpos", "buttonStart"), ("xquat", "world")),)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_coffee.xml"

    def bind(self) -> None:
        """Set how far the button moves."""
        SawyerTask.bind(self)
        self.travel = 0.03


class SawyerHandlePress(SawyerTask):
    """Press a handle down from the front."""

    low = (-0.1, 0.8, -0.001)
    high = (0.1, 0.9, 0.001)
    goal_low: ClassVar[tuple[float, ...]] = (-0.1, 0.55, 0.04)
    goal_high: ClassVar[tuple[float, ...]] = (0.1, 0.7, 0.08)
    joints: ClassVar = {9: -0.001}
    stilled = (9,)
    fixture = "box"
    rests_by_goal = True
    target_at = ("site_xpos", "goalPress")
    parts = (SeenObject(("site_xpos", "handleStart")),)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_handle_press.xml"

    def notes(self, start: Array, goal: Array, fixture: Array) -> Mapping[str, Array]:
        """Remember where the handle was."""
        return {"start": fixture + self.beside_fixture(self.laid, *self.parts[0].place)}

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward reaching the handle and its height."""
        handle = self.at(now.state, *self.parts[0].place)
        far = abs(handle[:, 2] - now.target[:, 2])
        margin = abs(abs(now.start[:, 2] - now.target[:, 2]) - 0.02)
        in_place, to_obj = near(far, 0.02, margin), distance(handle, now.tcp)
        reach = near(to_obj, 0.02, abs(distance(now.start, now.tcp_start) - 0.02))
        done = far <= 0.02
        reward = 10 * self.xp.where(done, 1.0, both(reach, in_place))
        return SawyerRating(reward, done, to_obj <= 0.05, 1.0, reach, in_place, far)


class SawyerHandlePressSide(SawyerHandlePress):
    """Press a handle down from the side."""

    low = (-0.35, 0.65, -0.001)
    high = (-0.25, 0.75, 0.001)
    goal_low, goal_high = (), ()
    rests_by_goal = False

    xml_file: str = "metaworld:sawyer_xyz/sawyer_handle_press_sideways.xml"


class SawyerHandlePull(SawyerTask):
    """Pull a handle up from the front."""

    low = (-0.1, 0.8, -0.001)
    high = (0.1, 0.9, 0.001)
    goal_low: ClassVar[tuple[float, ...]] = (-0.1, 0.55, 0.04)
    goal_high: ClassVar[tuple[float, ...]] = (0.1, 0.7, 0.18)
    joints: ClassVar = {9: -0.1}
    stilled = (9,)
    fixture = "box"
    rests_by_goal = True
    target_at = ("site_xpos", "goalPull")
    parts = (SeenObject(("site_xpos", "handleRight")),)
    succeeds: ClassVar[float] = 0.05
    size: ClassVar[tuple[float, float]] = (0.022, 0.05)  # m, of the handle and of the gripper around it

    xml_file: str = "metaworld:sawyer_xyz/sawyer_handle_press.xml"

    def far_from(self, obj: Array, target: Array) -> Array:
        """Return how far the handle is from the target, (n,) m."""
        return abs(target[:, 2] - obj[:, 2])

    def higher(self, now: Glimpse) -> Array:
        """Return True where the handle counts as raised, (n,) bool; Meta-World takes y here."""
        return now.obj[:, 1] - 0.01 > now.start[:, 2]

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward grasping the handle, then pulling."""
        far, to_obj = self.far_from(now.obj, now.target), distance(now.obj, now.tcp)
        in_place = near(far, 0.05, self.far_from(now.start, now.target))
        grasp = cage(now, now.obj, *self.size, 0.01)
        holds = (to_obj < 0.035) & (now.opened > 0) & self.higher(now)
        reward = both(grasp, in_place) + self.xp.where(holds, 1 + 5 * in_place, 0.0)
        reward = self.xp.where(far < 0.05, 10.0, reward)
        grasped = (now.opened > 0) & (now.obj[:, 2] - 0.03 > now.start[:, 2])
        return SawyerRating(reward, far <= self.succeeds, to_obj <= 0.05, grasped, grasp, in_place, far)


class SawyerHandlePullSide(SawyerHandlePull):
    """Pull a handle up from the side."""

    low = (-0.35, 0.65, 0.0)
    high = (-0.25, 0.75, 0.0)
    goal_low, goal_high = (), ()
    rests_by_goal = False
    parts = (SeenObject(("site_xpos", "handleCenter")),)
    succeeds, size = 0.08, (0.032, 0.06)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_handle_press_sideways.xml"

    def notes(self, start: Array, goal: Array, fixture: Array) -> Mapping[str, Array]:
        """Remember where the handle was."""
        return {"start": fixture + self.beside_fixture(self.laid, *self.parts[0].place)}

    def far_from(self, obj: Array, target: Array) -> Array:
        """Return the distance to the target, (n,) m."""
        return distance(obj, target)

    def higher(self, now: Glimpse) -> Array:
        """Return True where the handle is raised, (n,) bool."""
        return now.obj[:, 2] - 0.01 > now.start[:, 2]
