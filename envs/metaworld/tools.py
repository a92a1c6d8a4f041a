"""Use tools: put a nut on a peg and take it off, hammer a nail, push and pull with a stick."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from ..arrays import Array, clip, row_norm
from .grips import cage
from .rewards import both, distance, flag, funnel, near
from .sawyer import Glimpse, SawyerRating, SawyerTask, SeenObject, single

if TYPE_CHECKING:
    import mujoco

NUT = "metaworld:sawyer_xyz/sawyer_assembly_peg.xml"
STICK = "metaworld:sawyer_xyz/sawyer_stick_obj.xml"


class SawyerHandled(SawyerTask):
    """A task with a thing that has a handle: it is gripped anywhere along x, and is to keep its orientation."""

    free = 9
    upright: ClassVar[tuple[float, ...]] = (0.707, 0.0, 0.0, 0.707)  # the quaternion that it is to keep
    handle: ClassVar[float] = 0.01  # m, half the length along which the hand may grip
    grip: ClassVar[float | str] = "caging"  # as `extra` of `cage`

    def in_place(self, now: Glimpse) -> tuple[Array, Array]:
        """Return how well the thing is in place, (n,), and True where the task is done, (n,) bool."""
        raise NotImplementedError

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward gripping, and the place, as far as the thing is upright."""
        xp = self.xp
        along = abs(now.obj[:, 0] - now.hand[:, 0]) < self.handle
        gripped = xp.concat((xp.where(along[:, None], now.hand[:, :1], now.obj[:, :1]), now.obj[:, 1:]), axis=1)
        upright = clip(1 - row_norm(now.quat - self.vector(*self.upright)) / 0.4, 0.0, 1.0)
        grab = cage(now, gripped, 0.015, 0.02, 0.01, extra=self.grip)
        place, done = self.in_place(now)
        reward = (2 * grab + 6 * place) * upright
        return SawyerRating(self.rewarded(reward, done), done, upright, grab >= 0.5, grab, place, 0.0)

    def rewarded(self, reward: Array, done: Array) -> Array:
        """Return the reward, which is 10 where the task is done, (n,)."""
        return self.xp.where(done, 10.0, reward)


class SawyerAssembly(SawyerHandled):
    """Put a nut on a peg."""

    low = (0.0, 0.6, 0.02, -0.1, 0.75, 0.1)
    high = (0.0, 0.6, 0.02, 0.1, 0.85, 0.1)
    apart = 0.1
    hand = single(0.0, 0.6, 0.2)
    fixture = "peg"
    fixture_at = ("goal", (0.0, 0.0, -0.05))
    parts = (SeenObject(("site_xpos", "RoundNut-8"), ("xquat", "RoundNut")),)
    grip = 0.01

    xml_file: str = NUT

    def in_place(self, now: Glimpse) -> tuple[Array, Array]:
        """Reward the nut above the peg, then lowering it."""
        xp = self.xp
        middle = self.at(now.state, "site_xpos", "RoundNut")
        error = now.target - middle
        radius = row_norm(error[:, :2])
        done = (radius < 0.02) & (error[:, 2] > 0)
        rim = 0 * radius + xp.where(done, 0.02, 0.01)
        height = funnel(radius, rim, 0.02, 0.2)
        error = xp.concat((error[:, :2], 3 * (height - middle[:, 2])[:, None]), axis=1)
        lifted = (middle[:, 2] > 0.02) | (radius < rim)
        return 0.1 * flag(lifted, radius) + 0.9 * near(row_norm(error), 0.02, 0.4), done


class SawyerDisassemble(SawyerHandled):
    """Take a nut off a peg."""

    low = (0.0, 0.6, 0.025, -0.1, 0.6, 0.1699)
    high = (0.1, 0.75, 0.02501, 0.1, 0.75, 0.1701)
    goal_low = (-0.1, 0.6, 0.1749)
    goal_high = (0.1, 0.75, 0.1751)
    apart = 0.1
    hand = single(0.0, 0.4, 0.2)
    rests_by_goal = True
    fixture = "peg"
    fixture_at = ("start", (0.0, 0.0, 0.03))
    target_at = ("start", (0.0, 0.0, 0.15))
    parts = (SeenObject(("site_xpos", "RoundNut-8"), ("xquat", "RoundNut")),)

    xml_file: str = NUT

    def in_place(self, now: Glimpse) -> tuple[Array, Array]:
        """Reward the nut high above the peg."""
        middle = self.at(now.state, "site_xpos", "RoundNut")
        far = distance(now.target + self.vector(0.0, 0.0, 0.1), middle)
        return 0.1 * flag(middle[:, 2] > 0.02, far) + 0.9 * near(far, 0.02, 0.2), now.obj[:, 2] > now.target[:, 2]


class SawyerHammer(SawyerHandled):
    """Drive a nail in with a hammer."""

    low = (-0.1, 0.4, 0.0)
    high = (0.1, 0.5, 0.0)
    goal_low = (0.2399, 0.7399, 0.109)
    goal_high = (0.2401, 0.7401, 0.111)
    hand = (0.0, 0.4, 0.2)
    parts = (
        SeenObject(("xpos", "hammer"), ("xquat", "hammer")),
        SeenObject(("xpos", "nail_link"), ("xquat", "nail_link")),
    )
    upright, handle = (1.0, 0.0, 0.0, 0.0), 0.07

    xml_file: str = "metaworld:sawyer_xyz/sawyer_hammer.xml"

    def edit_spec(self, spec: "mujoco.MjSpec") -> None:
        """Put the nail's block where it is in every episode."""
        super().edit_spec(spec)
        spec.body("box").pos = (0.24, 0.85, 0.0)

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Aim at the nail."""
        return 0 * start + self.array(self.found(self.laid, "site_xpos", "goal"))

    def in_place(self, now: Glimpse) -> tuple[Array, Array]:
        """Reward the hammer's head at the nail."""
        head = now.obj + self.vector(0.16, 0.06, 0.0)
        place = 0.1 * flag(head[:, 2] > 0.02, now.opened) + 0.9 * near(distance(now.target, head), 0.02, 0.2)
        return place, now.state.qpos[:, self.nail] > 0.09

    def bind(self) -> None:
        """Look up the nail."""
        super().bind()
        self.nail = int(self.model.joint("NailSlideJoint").qposadr[0])

    def rewarded(self, reward: Array, done: Array) -> Array:
        """Return the reward, which is 10 where the nail is in and the hammer in the hand, (n,)."""
        return self.xp.where(done & (reward > 5), 10.0, reward)


class SawyerStickPush(SawyerTask):
    """Push a container with a stick."""

    low = (-0.08, 0.58, 0.0, 0.399, 0.55, 0.1319)
    high = (-0.03, 0.62, 0.001, 0.401, 0.6, 0.1321)
    apart = 0.1
    height = 0.02
    free = 9
    joints: ClassVar = {16: 0.0, 17: 0.0}
    stilled = (*range(9, 15), 16)
    parts = (
        SeenObject(("xpos", "stick"), ("xmat", "stick")),
        SeenObject(("site_xpos", "insertion"), None, (0.0, 0.09, 0.0)),
    )
    gripped = "objGeom"

    xml_file: str = STICK

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Aim at the height of the container's opening."""
        level = self.array(self.found(self.rest, "site_xpos", "insertion"))
        return self.xp.concat((goal[:, :2], 0 * goal[:, 2:] + level[2]), axis=1)

    def notes(self, start: Array, goal: Array, fixture: Array) -> Mapping[str, Array]:
        """Remember where the container was."""
        return {"container": 0 * start + self.array(self.found(self.laid, "xpos", "object"))}

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward gripping the stick; once it is lifted, the places of the stick and of the container."""
        xp, target = self.xp, now.target
        stick, container = now.obj + self.vector(0.015, 0.0, 0.0), now.other
        to_stick, far = distance(stick, now.tcp), distance(container, target)
        stick_place = near(distance(stick, target), 0.12, distance(now.start, target) - 0.12)
        place = near(far, 0.12, distance(now.state.memory["container"], target) - 0.12)
        lifted = (to_stick < 0.02) & (now.opened > 0) & (stick[:, 2] - 0.01 > now.start[:, 2])
        grasp = cage(now, stick, 0.04, 0.05, 0.01)
        reward = xp.where(lifted, xp.where(far <= 0.12, 10.0, 2 + 5 * stick_place + 3 * place), grasp)
        grasped = self.held(now.state) & (now.opened > 0) & (now.obj[:, 2] - 0.01 > now.start[:, 2])
        done, grasp = grasped & (far <= 0.12), xp.where(lifted, 1.0, grasp)
        return SawyerRating(reward, done, to_stick <= 0.03, grasped, grasp, stick_place, far)


class SawyerStickPull(SawyerStickPush):
    """Pull a container with a stick in its opening."""

    low = (-0.1, 0.55, 0.0, 0.35, 0.45, 0.0199)
    high = (0.0, 0.65, 0.001, 0.45, 0.55, 0.0201)
    hand_low = (-0.5, 0.35, 0.05)
    joints: ClassVar = {16: 0.0, 17: 0.09}
    parts = (SeenObject(("xpos", "stick"), ("xmat", "stick")), SeenObject(("site_xpos", "insertion")))

    def aim(self, start: Array, goal: Array, fixture: Array) -> Array:
        """Aim at the height of the stick."""
        return self.xp.concat((goal[:, :2], start[:, 2:]), axis=1)

    def rate(self, now: Glimpse) -> SawyerRating:
        """Reward gripping the stick, bringing it into the opening, then pulling."""
        xp, stick, handle, target = self.xp, now.obj, now.other, now.target
        first, inwards = now.state.memory["container"], self.vector(0.05, 0.0, 0.0)
        scale = self.vector(1.0, 1.0, 2.0)
        to_stick, far = distance(stick, now.tcp), distance(handle, target)
        margin = distance(now.start, first + inwards, scale)
        at_opening = near(distance(stick, handle + inwards, scale), 0.05, margin)
        at_target = near(distance(stick, target), 0.05, distance(now.start, target))
        pulled = near(distance(handle + inwards, target), 0.05, distance(first, target))
        lifted = (to_stick < 0.02) & (now.opened > 0) & (stick[:, 2] - 0.01 > now.start[:, 2])
        grasp = xp.where(lifted, 1.0, cage(now._replace(start=first), stick, 0.014, 0.05, 0.01))
        off = self.at(now.state, "site_xpos", "stick_end") - handle
        inserted = (off[:, 0] >= 0) & (abs(off[:, 1]) <= 0.04) & (abs(off[:, 2]) <= 0.06)
        product = both(grasp, at_opening)
        inside = xp.where(far <= 0.12, 10.0, 6 + product + 2 * at_target + pulled)
        reward = xp.where(lifted, xp.where(inserted, inside, 1 + product + 5 * at_opening), product)
        grasped = self.held(now.state) & (now.opened > 0) & (stick[:, 2] - 0.02 > first[:, 2])
        return SawyerRating(reward, (far <= 0.12) & inserted, to_stick <= 0.03, grasped, grasp, at_opening, far)
