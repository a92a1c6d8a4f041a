"""Turn a dial, faucets and a lever."""

import math
from collections.abc import Mapping
from typing import ClassVar

from ..arrays import Array, sin_cos
from ..task.task import TaskState
from .rewards import both, distance, near, shut
from .sawyer import Glimpse, SawyerRating, SawyerTask, SeenObject, single

KNOB = 0.05  # m, the radius of the dial


class SawyerDialTurn(SawyerTask):
    """Turn a dial by half a turn."""

    low = (-0.1, 0.7, 0.0)
    high = (0.1, 0.8, 0.0)
    goal_low = (-0.1, 0.73, 0.0299)
    goal_high = (0.1, 0.83, 0.0301)
    hand = single(0.0, 0.6, 0.2)
    fixture = "dial"
    shown_early = True
    target_at = ("start", (0.0, 0.03, 0.03))
    parts = (SeenObject(("xpos", "dial"), ("xquat", "dial")),)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_dial.xml"

    def frame(self, state: TaskState) -> Array:
        """Show the dial's mark instead of its middle."""
        frame = super().frame(state)
        frame[:, 4:7] = frame[:, 4:7] + self.mark(state.qpos[:, 9])
        return frame

    def mark(self, angle: Array) -> Array:
        """Return the mark's position from the middle of the dial, (n, 3) m."""
        sine, cosine = sin_cos(angle)
        return KNOB * self.xp.stack((sine, -cosine, 0 * sine), axis=1)

    def notes(self, start: Array, goal: Array, fixture: Array) -> Mapping[str, Array]:
        """Remember where the mark is to be pushed."""
        angle = 0 * start[:, 0] + float(self.rest.qpos[9])
        return {"start": fixture + self.mark(angle) + self.vector(0.05, 0.02, 0.09)}

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward pushing at the mark with closed fingers, and the mark's place."""
        push = now.obj + self.vector(0.05, 0.02, 0.09)
        far, to_obj = distance(now.obj, now.target), distance(push, now.tcp)
        in_place = near(far, 0.07, abs(distance(now.start, now.target) - 0.07))
        reach = near(to_obj, 0.005, abs(distance(now.start, now.tcp_start) - 0.005), "gaussian")
        reach = both(reach, shut(now.effort))
        return SawyerRating(10 * both(reach, in_place), far <= 0.07, to_obj <= 0.01, 1.0, reach, in_place, far)


class SawyerFaucetOpen(SawyerTask):
    """Turn a faucet counterclockwise."""

    low = (-0.05, 0.8, 0.0)
    high = (0.05, 0.85, 0.0)
    hand = (0.0, 0.4, 0.2)
    hand_low = (-0.5, 0.4, -0.15)
    fixture = "faucetBase"
    shown_early: ClassVar[bool] = True
    target_at = ("start", (0.175, 0.0, 0.125))
    parts = (SeenObject(("site_xpos", "handleStartOpen"), ("xquat", "faucetBase"), (0.0, 0.0, -0.01)),)
    grip: ClassVar[tuple[float, float, float]] = (-0.04, 0.0, 0.03)  # m, from the handle to where it is pushed

    xml_file: str = "metaworld:sawyer_xyz/sawyer_faucet.xml"

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward reaching the handle and its place."""
        handle = now.obj + self.vector(*self.grip)
        far, to_obj = distance(handle, now.target), distance(handle, now.tcp)
        in_place = near(far, 0.07, abs(distance(now.start, now.target) - 0.07))
        reach = near(to_obj, 0.01, abs(distance(now.start, now.tcp_start) - 0.01), "gaussian")
        done = far <= 0.07
        reward = self.xp.where(done, 10.0, 2 * (2 * reach + 3 * in_place))
        return SawyerRating(reward, done, to_obj <= 0.01, 1.0, reach, in_place, far)


class SawyerFaucetClose(SawyerFaucetOpen):
    """Turn a faucet clockwise."""

    low = (-0.1, 0.8, 0.0)
    high = (0.1, 0.85, 0.0)
    target_at = ("start", (-0.175, 0.0, 0.125))
    parts = (SeenObject(("site_xpos", "handleStartClose"), ("xquat", "faucetBase"), (0.0, 0.0, -0.01)),)
    grip = (0.0, 0.0, 0.0)
    shown_early = False


class SawyerLeverPull(SawyerTask):
    """Pull a lever up."""

    low = (-0.1, 0.7, 0.0)
    high = (0.1, 0.8, 0.0)
    hand = single(0.0, 0.4, 0.2)
    hand_low = (-0.5, 0.4, -0.15)
    fixture = "lever"
    shown_early = True
    target_at = ("start", (0.12, 0.0, 0.45))
    parts = (SeenObject(("site_xpos", "leverStart"), ("geom_xmat", "objGeom")),)

    xml_file: str = "metaworld:sawyer_xyz/sawyer_lever_pull.xml"

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward bringing the gripper's shoulder under the lever, and the lever's place."""
        scale, shoulder = self.vector(4.0, 1.0, 4.0), self.vector(0.0, 0.055, 0.07)
        first = now.start + self.vector(0.12, -0.2, 0.25)
        to_lever = distance(now.hand + shoulder, now.obj, scale)
        ready = near(to_lever, 0.02, distance(now.tcp_start + shoulder, first, scale))
        left = abs(-now.state.qpos[:, 9] - math.pi / 2)
        engaged = near(left, math.pi / 48, math.pi / 2 - math.pi / 12)
        in_place = near(distance(now.obj, now.target), 0.04, distance(first, now.target))
        reward = 10 * both(ready, in_place)
        return SawyerRating(reward, left <= math.pi / 24, to_lever < 0.03, ready > 0.9, ready, engaged, to_lever)
