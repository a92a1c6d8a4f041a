"""Open, close, lock and unlock doors, drawers and windows."""

import math
from collections.abc import Mapping
from typing import ClassVar

from ..arrays import Array, clip, row_norm
from .rewards import above, both, distance, flag, funnel, near, shut
from .sawyer import Glimpse, SawyerRating, SawyerTask, SeenObject, single

HANDLE = (SeenObject(("geom_xpos", "handle"), ("geom_xmat", "handle")),)
DOOR = "metaworld:sawyer_xyz/sawyer_door_pull.xml"
LOCK = "metaworld:sawyer_xyz/sawyer_door_lock.xml"
LOCK_SCALE = (0.25, 1.0, 0.5)


class SawyerDoorOpen(SawyerTask):
    """Open a door by its handle."""

    low = (0.0, 0.85, 0.15)
    high = (0.1, 0.95, 0.15)
    goal_low = (-0.3, 0.4, 0.1499)
    goal_high = (-0.2, 0.5, 0.1501)
    joints: ClassVar = {9: 0.0}
    stilled = (9,)
    fixture = "door"
    target_at = ("start", (-0.3, -0.45, 0.0))
    parts = HANDLE

    xml_file: str = DOOR

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward coming to the handle from above, then the angle of the door."""
        angle, handle = now.state.qpos[:, 9], now.obj + self.vector(-0.05, 0.0, 0.0)
        grab = (clip(now.effort, -1.0, 1.0) + 1) / 2
        floor = funnel(row_norm((now.hand - handle)[:, :2]), 0.12, 0.04, 0.4)
        hold = handle + self.vector(0.05, 0.03, -0.01)
        ready = both(above(now.hand[:, 2], floor, floor / 2), near(distance(now.hand, hold), 0.06, 0.5))
        left = math.pi / 2 + math.pi / 6 + angle
        opened = 0.2 * flag(angle < -math.pi / 90, angle) + 0.8 * near(left, 0.5, math.pi / 3)
        success = abs(now.obj[:, 0] - now.target[:, 0]) <= 0.08
        reward = self.xp.where(success, 10.0, 2 * both(ready, grab) + 8 * opened)
        return SawyerRating(reward, success, ready, grab >= 0.5, grab, opened, 0.0)


class SawyerDoorClose(SawyerTask):
    """Close a door."""

    low = (0.0, 0.85, 0.15)
    high = (0.1, 0.95, 0.15)
    goal_low = (0.2, 0.65, 0.1499)
    goal_high = (0.3, 0.75, 0.1501)
    hand = single(-0.5, 0.6, 0.2)
    joints: ClassVar = {9: -1.5708}
    stilled = (9,)
    fixture = "door"
    target_at = ("start", (0.2, -0.2, 0.0))
    parts = HANDLE

    xml_file: str = DOOR

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward the handle's and the hand's distance from the place of the closed door."""
        far = distance(now.obj, now.target)
        in_place = near(far, 0.05, distance(now.start, now.target), "gaussian")
        margin = distance(self.tool, now.obj) + 0.1
        hand_in_place = near(distance(now.tcp, now.target), 0.0125, margin, "gaussian")
        reward = self.xp.where(far < 0.05, 10.0, 3 * hand_in_place + 6 * in_place)
        return SawyerRating(reward, far <= 0.08, 0.0, 1.0, 1.0, hand_in_place, far)


class SawyerDoorLock(SawyerTask):
    """Turn a lock down."""

    low = (-0.1, 0.8, 0.15)
    high = (0.1, 0.85, 0.15)
    hand = single(0.0, 0.6, 0.2)
    hand_low = (-0.5, 0.4, -0.15)
    extra_steps = 5
    fixture = "door"
    shown_early = True
    parts = (SeenObject(("site_xpos", "lockStartLock"), ("xquat", "door_link")),)

    xml_file: str = LOCK

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Aim below the lock."""
        return fixture + self.beside_fixture(self.laid, "xpos", "lock_link") + self.vector(0.0, -0.04, -0.1)

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward reaching the lock with the left pad, and turning it."""
        scale = self.vector(*LOCK_SCALE)
        to_obj = distance(now.obj, now.left, scale)
        left = abs(now.target[:, 2] - now.obj[:, 2])
        reached, turned = near(to_obj, 0.01, to_obj), near(left, 0.005, 0.1)
        reward = 2 * both(now.opened, reached) + 8 * turned
        return SawyerRating(reward, left <= 0.02, to_obj <= 0.05, now.opened > 0, reached, turned, left)


class SawyerDoorUnlock(SawyerTask):
    """Turn a lock to the right."""

    low = (-0.1, 0.8, 0.15)
    high = (0.1, 0.85, 0.15)
    goal_low = (0.0, 0.64, 0.21)
    goal_high = (0.2, 0.7, 0.2111)
    hand = single(0.0, 0.6, 0.2)
    hand_low = (-0.5, 0.4, -0.15)
    joints: ClassVar = {9: 1.5708}
    stilled = (9,)
    fixture = "door"
    parts = (SeenObject(("site_xpos", "lockStartUnlock"), ("xquat", "door_link")),)

    xml_file: str = LOCK

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Aim to the right of the lock."""
        return fixture + self.beside_fixture(self.laid, "xpos", "lock_link") + self.vector(0.1, -0.04, 0.0)

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward bringing the gripper's shoulder to the lock, and turning it."""
        scale, shoulder = self.vector(*LOCK_SCALE), self.vector(0.0, 0.055, 0.07)
        axis = self.at(now.state, "xpos", "lock_link")
        to_lock = distance(now.hand + shoulder, now.obj, scale)
        ready = near(to_lock, 0.02, distance(now.tcp_start + shoulder, axis, scale))
        left = abs(now.target[:, 0] - now.obj[:, 0])
        pushed = near(left, 0.005, 0.1)
        reward = 2 * ready + 8 * pushed
        return SawyerRating(reward, left <= 0.02, to_lock <= 0.05, now.opened > 0, ready, pushed, left)


class SawyerDrawerOpen(SawyerTask):
    """Pull a drawer open."""

    low = (-0.1, 0.9, 0.0)
    high = (0.1, 0.9, 0.0)
    hand = single(0.0, 0.6, 0.2)
    fixture = "drawer"
    shown_early = True
    target_at = ("start", (0.0, -0.36, 0.09))
    parts = (SeenObject(("xpos", "drawer_link"), ("xquat", "drawer_link"), (0.0, -0.16, 0.0)),)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_drawer.xml"

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward the hand at the handle, and the handle at the target."""
        scale, closed = self.vector(3.0, 3.0, 1.0), now.target + self.vector(0.0, 0.2, 0.0)
        left = distance(now.obj, now.target)
        opening = near(left, 0.02, 0.2)
        caging = near(distance(now.obj, now.hand, scale), 0.01, distance(closed, now.tcp_start, scale))
        close = distance(now.obj, now.hand) <= 0.03
        return SawyerRating(5 * (caging + opening), left <= 0.03, close, now.opened > 0, caging, opening, left)


class SawyerDrawerClose(SawyerTask):
    """Push a drawer shut."""

    low = (-0.1, 0.9, 0.0)
    high = (0.1, 0.9, 0.0)
    hand = single(0.0, 0.6, 0.2)
    joints: ClassVar = {9: -0.15}
    stilled = ()
    fixture = "drawer"
    target_at = ("start", (0.0, -0.16, 0.09))
    parts = (SeenObject(("xpos", "drawer_link"), None, (0.0, -0.16, 0.05)),)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_drawer.xml"

    def notes(self, start: Array, goal: Array, fixture: Array) -> Mapping[str, Array]:
        """Remember where the handle was."""
        handle = fixture + self.beside_fixture(self.laid, "xpos", "drawer_link")
        return {"start": handle + self.vector(*self.parts[0].offset)}

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward reaching the handle with closed fingers, and its place."""
        far, to_obj = distance(now.obj, now.target), distance(now.obj, now.tcp)
        in_place = near(far, 0.05, abs(distance(now.start, now.target) - 0.05))
        reach = near(to_obj, 0.005, abs(distance(now.start, now.tcp_start) - 0.005), "gaussian")
        reach = both(reach, shut(now.effort))
        done = far <= 0.065
        reward = 10 * self.xp.where(done, 1.0, both(reach, in_place))
        return SawyerRating(reward, done, to_obj <= 0.01, 1.0, reach, in_place, far)


class SawyerWindowOpen(SawyerTask):
    """Slide a window open."""

    low = (-0.1, 0.7, 0.16)
    high = (0.1, 0.9, 0.16)
    hand = single(0.0, 0.4, 0.2)
    joints: ClassVar = {9: 0.0}
    stilled = ()
    fixture = "window"
    shown_early = True
    target_at = ("start", (0.2, 0.0, 0.0))
    parts = (SeenObject(("site_xpos", "handleOpenStart")),)
    falls: ClassVar[str] = "long_tail"  # how the reward of reaching falls with the distance
    handle_shift: ClassVar[tuple[float, float, float]] = (0.0, 0.0, 0.0)  # m, to where the handle starts

    xml_file: str = "metaworld:sawyer_xyz/sawyer_window_horizontal.xml"

    def notes(self, start: Array, goal: Array, fixture: Array) -> Mapping[str, Array]:
        """Remember where the handle was."""
        handle = fixture + self.beside_fixture(self.rest, *self.parts[0].place)
        return {"handle": handle + self.vector(*self.handle_shift)}

    def began(self, now: Glimpse) -> Array:
        """Return the point from which the distance of the handle is measured, (n,) m."""
        return now.start[:, 0]

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward reaching the handle and its place."""
        handle, first = self.at(now.state, *self.parts[0].place), now.state.memory["handle"]
        far = abs(handle[:, 0] - now.target[:, 0])
        in_place = near(far, 0.05, abs(abs(self.began(now) - now.target[:, 0]) - 0.05))
        to_obj = distance(handle, now.tcp)
        reach = near(to_obj, 0.02, abs(distance(first, now.tcp_start) - 0.02), self.falls)
        return SawyerRating(10 * both(reach, in_place), far <= 0.05, to_obj <= 0.05, 1.0, reach, in_place, far)


class SawyerWindowClose(SawyerWindowOpen):
    """Slide a window shut."""

    low = (0.0, 0.75, 0.2)
    high = (0.0, 0.9, 0.2)
    joints: ClassVar = {9: 0.2}
    target_at = ("start", (0.0, 0.0, 0.0))
    parts = (SeenObject(("site_xpos", "handleCloseStart")),)
    falls, handle_shift = "gaussian", (0.2, 0.0, 0.0)

    def began(self, now: Glimpse) -> Array:
        """Measure from the handle."""
        return now.state.memory["handle"][:, 0]
