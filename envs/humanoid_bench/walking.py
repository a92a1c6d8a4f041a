"""HumanoidBench's tasks on foot: stand, walk, run, hurdles, stairs, slides, poles, and a tunnel to crawl through."""

import math
from typing import ClassVar

from ..arrays import row_norm
from ..suite.rewards import tolerance
from ..task.task import TaskState
from .humanoid import HumanoidBenchTask, HumanoidRating

LOW = 0.2  # m, the height of a root that has fallen
CRAWLING = (0.6, 1.0)  # m, of head and trunk


class HumanoidWalk(HumanoidBenchTask):
    """Go along x at `speed` (m/s), upright and with small torques; at 0 stand still. h1-walk, h1-run and h1-stand.

    Reward: small_control x stand_reward x move, or dont_move. Ends with the root below 0.2 m.
    """

    xml_file: str = "humanoid_bench:envs/h1_pos_walk.xml"
    speed: float = 1.0
    straight: ClassVar[float] = 0.9  # the cosine of an upright torso

    def rate(self, state: TaskState) -> HumanoidRating:
        """Rate posture and speed."""
        info = {"small_control": self.small_control(state), **self.standing(state, self.straight)}
        if self.speed:
            info["move"] = self.moving(state, self.speed)
        else:
            info["dont_move"] = self.resting(state)
        reward = info["small_control"] * info["stand_reward"] * info["move" if self.speed else "dont_move"]
        return HumanoidRating({"task": reward}, state.qpos[:, 2] < LOW, info)


class HumanoidHurdle(HumanoidWalk):
    """Run at 5 m/s over hurdles between walls. h1-hurdle.

    Reward: that of walking, a tenth of it with a contact at a wall.
    """

    touches: ClassVar = {f"at_{side}": (f"{side}_barrier_collision", "") for side in ("left", "right", "behind")}
    straight: ClassVar[float] = 0.8

    xml_file: str = "humanoid_bench:envs/h1_pos_hurdle.xml"
    speed: float = 5.0

    def rate(self, state: TaskState) -> HumanoidRating:
        """Rate as a walk, and look for contacts."""
        rating = super().rate(state)
        free = self.unless(sum(self.count(state, name) for name in self.touches) > 0)
        info = {**rating.info, "wall_collision_discount": free}
        return rating._replace(terms={"task": rating.terms["task"] * free}, info=info)


class HumanoidClimb(HumanoidBenchTask):
    """Go along x at 1 m/s over stairs or slides. h1-stair and h1-slide.

    Reward: stand_reward x small_control x move; standing is a head 1.2 m above both feet. Ends with the torso lying.
    """

    xml_file: str = "humanoid_bench:envs/h1_pos_stair.xml"

    def rate(self, state: TaskState) -> HumanoidRating:
        """Rate posture and speed."""
        head, cosine = self.at(state, "head")[:, 2], self.upright(state)
        left, right = (
            tolerance(head - self.at(state, f"{side}_foot")[:, 2], (1.2, math.inf), 0.45) for side in ("left", "right")
        )
        info = self.both(left * right, tolerance(cosine, (0.5, math.inf), 1.9, "linear", 0.0))
        info |= {"small_control": self.small_control(state), "move": self.moving(state, 1.0)}
        return HumanoidRating({"task": info["stand_reward"] * info["small_control"] * info["move"]}, cosine < 0.1, info)


class HumanoidPole(HumanoidBenchTask):
    """Go along x at 0.5 m/s between poles. h1-pole.

    Reward: half small_control x stand_reward, half move; a tenth of it with a contact at a pole. Ends with the root
    below 0.5 m.
    """

    touches: ClassVar = {"at_pole": ("pelvis", "pole_rows")}

    xml_file: str = "humanoid_bench:envs/h1_pos_pole.xml"

    def rate(self, state: TaskState) -> HumanoidRating:
        """Rate posture and speed, and look for contacts."""
        info = {
            "small_control": self.small_control(state),
            **self.standing(state, 0.9),
            "move": self.moving(state, 0.5),
        }
        info["collision_discount"] = self.unless(self.count(state, "at_pole") > 0)
        reward = 0.5 * (info["small_control"] * info["stand_reward"]) + 0.5 * info["move"]
        return HumanoidRating({"task": reward * info["collision_discount"]}, state.qpos[:, 2] < 0.5, info)


class HumanoidCrawl(HumanoidBenchTask):
    """Crawl along x at 1 m/s through a tunnel. h1-crawl.

    Reward: 0.1 small_control, 0.25 crawling (head and trunk between 0.6 and 1 m), 0.4 move, and 0.25 of a trunk that
    lies; 0 beside the tunnel. Never ends by itself.
    """

    xml_file: str = "humanoid_bench:envs/h1_pos_crawl.xml"

    def bind(self) -> None:
        """Keep the orientation of a pelvis that crawls."""
        super().bind()
        self.lying = self.array([0.75, 0, 0.65, 0])

    def rate(self, state: TaskState) -> HumanoidRating:
        """Rate posture and speed."""
        trunk = self.at(state, "imu")
        lying = tolerance(row_norm(state.fields["xquat"][:, self.body["pelvis"]] - self.lying), margin=1.0)
        info = {
            "crawling": tolerance(trunk[:, 2], CRAWLING, 1.0),
            "crawling_head": tolerance(self.at(state, "head")[:, 2], CRAWLING, 1.0),
            "small_control": self.small_control(state),
            "move": self.moving(state, 1.0),
            "in_tunnel": tolerance(trunk[:, 1], (-1.0, 1.0)),
        }
        both = self.xp.minimum(info["crawling"], info["crawling_head"])
        reward = 0.1 * info["small_control"] + 0.25 * both + 0.4 * info["move"] + 0.25 * lying
        return HumanoidRating({"task": reward * info["in_tunnel"]}, None, info)
