"""HumanoidBench's tasks at a place: reach, sit down, balance on a board, and a maze."""

import math
from collections.abc import Mapping
from typing import ClassVar

import mujoco

from ..arrays import Array, row_norm, row_sum, sin_cos
from ..suite.rewards import tolerance
from ..task.noise import Noise
from ..task.task import Start, TaskState
from .humanoid import HEAD, HumanoidBenchTask, HumanoidRating

CHECKPOINTS = ((0, 0), (3, 0), (3, 6), (6, 6), (6, 6))
DIRECTIONS = ((1, 0), (1, 0), (0, 1), (1, 0), (0, 1))
PACE = 2.0  # m/s in the maze


class HumanoidReach(HumanoidBenchTask):
    """Bring the left hand to a target, which lies up to 2 m away. h1-reach.

    Observation: qpos, qvel, the hand's and the target's places (m).

    Reward: `reward_healthy`, 5 times the cosine between the pelvis' axis and the vertical; `reward_motion`, -0.0001
    times the sum of the squares of qvel; `reward_close`, 5 within 1 m; `reward_success`, 10 within 0.05 m, which is
    success. Never ends by itself.
    """

    xml_file: str = "humanoid_bench:envs/h1_pos_reach.xml"

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Show the target."""
        super().edit_spec(spec)
        target = spec.worldbody.add_body(name="target", mocap=True)
        target.add_site(name="target", size=[0.05, 0, 0], rgba=[0.8, 0.28, 0.28, 1])

    def reset(self, noise: Noise) -> Start:
        """Draw coordinates and target."""
        start = super().reset(noise)
        goal = self.xp.concat((noise.uniform(-2, 2, 2), noise.uniform(0.2, 2, 1)), axis=1)
        return start._replace(memory={"target": goal}, inputs={"mocap_pos": goal[:, None, :]})

    def observation(self, state: TaskState) -> Array:
        """Add hand and target."""
        hand = self.at(state, "left_hand")
        return self.xp.concat((super().observation(state), hand, state.memory["target"]), axis=1)

    def rate(self, state: TaskState) -> HumanoidRating:
        """Rate the distance."""
        distance = row_norm(self.at(state, "left_hand") - state.memory["target"])
        terms = {
            "healthy": 5 * self.rotation(state, "pelvis"),
            "motion": -0.0001 * row_sum(state.qvel**2),
            "close": self.xp.where(distance < 1, 5.0, 0 * distance),
            "success": self.xp.where(distance < 0.05, 10.0, 0 * distance),
        }
        return HumanoidRating(terms, None, {"hand_dist": distance, "success": distance < 0.05})


class HumanoidSit(HumanoidBenchTask):
    """Sit on a chair, upright and still. h1-sit_simple and, on a chair that moves, h1-sit_hard.

    Reward: small_control x sit_reward x dont_move. Ends with the root below 0.5 m. With `anywhere` the H1 starts 0.2 to
    0.4 m from the chair's middle along x, up to ±0.15 m along y, turned by up to ±1.8 rad.
    """

    xml_file: str = "humanoid_bench:envs/h1_pos_sit_simple.xml"
    anywhere: bool = False

    def reset(self, noise: Noise) -> Start:
        """Draw the coordinates."""
        start = super().reset(noise)
        if not self.anywhere:
            return start
        x, y, turn = noise.uniform(0.2, 0.4, 1), noise.uniform(-0.15, 0.15, 1), noise.uniform(-1.8, 1.8, 1)
        sine, cosine = sin_cos(turn / 2)
        root = (x, y, start.qpos[:, 2:3], cosine, 0 * sine, 0 * sine, sine)
        return start._replace(qpos=self.xp.concat((*root, start.qpos[:, 7:]), axis=1))

    def rate(self, state: TaskState) -> HumanoidRating:
        """Rate place and posture."""
        chair, height = state.fields["xpos"][:, self.body["chair"]], state.qpos[:, 2]
        along, across = state.qpos[:, 0] - chair[:, 0], state.qpos[:, 1] - chair[:, 1]
        trunk = self.at(state, "head")[:, 2] - self.at(state, "imu")[:, 2]
        on_chair = tolerance(along, (-0.19, 0.19), 0.2) * tolerance(across, (0.0, 0.0), 0.1)
        info = {
            "small_control": self.small_control(state),
            "dont_move": self.resting(state),
            "sitting": tolerance(height, (0.68, 0.72), 0.2),
            "upright": tolerance(self.upright(state), (0.95, math.inf), 0.9, "linear", 0.0),
            "sitting_posture": tolerance(trunk, (0.35, 0.45), 0.3),
        }
        info["sit_reward"] = (0.5 * info["sitting"] + 0.5 * on_chair) * info["upright"] * info["sitting_posture"]
        reward = info["small_control"] * info["sit_reward"] * info["dont_move"]
        return HumanoidRating({"task": reward}, height < 0.5, info)


class HumanoidBalance(HumanoidBenchTask):
    """Stand on a board on a ball. h1-balance_simple and, on a ball that rolls, h1-balance_hard.

    Reward: small_control x stand_reward x dont_move. Ends with the root below 0.8 m, when anything but the board and
    the floor touches the ball, and when anything but the ball touches the floor.
    """

    touches: ClassVar = {
        "on_ball": ("pivot_sphere_collision", ""),
        "on_floor": ("floor", ""),
        "ball_on_floor": ("pivot_sphere_collision", "floor"),
        "board_on_ball": ("pivot_sphere_collision", "stand_board_collision"),
    }

    xml_file: str = "humanoid_bench:envs/h1_pos_balance_simple.xml"

    def rate(self, state: TaskState) -> HumanoidRating:
        """Rate posture and rest, and look for contacts."""
        ball, floor, both, board = (self.count(state, name) for name in self.touches)
        fallen = (state.qpos[:, 2] < 0.8) | (ball > both + board) | (floor > both)
        info = {"small_control": self.small_control(state), **self.standing(state, 0.9, HEAD + 0.37)}
        info["dont_move"] = self.resting(state)
        return HumanoidRating({"task": info["small_control"] * info["stand_reward"] * info["dont_move"]}, fallen, info)


class HumanoidMaze(HumanoidBenchTask):
    """Walk through a maze from checkpoint to checkpoint at 2 m/s. h1-maze.

    Reward: `reward_task`, 0.2 stand_reward x small_control, 0.4 move and 0.4 nearness of the next checkpoint, a tenth
    of it with a contact at a wall; `reward_stage`, 100 times the number of the stage that begins. Ends with the root
    below 0.2 m.
    """

    touches: ClassVar[Mapping[str, tuple[str, str]]] = {"at_wall": ("pelvis", "maze")}
    camera: ClassVar = {"distance": 12.0, "lookat": (3.0, 3.0, 0.0), "azimuth": 90.0, "elevation": -60.0}

    xml_file: str = "humanoid_bench:envs/h1_pos_maze.xml"

    def bind(self) -> None:
        """Keep the ways."""
        super().bind()
        self.checkpoints, self.directions = self.array(CHECKPOINTS), self.array(DIRECTIONS)

    def reset(self, noise: Noise) -> Start:
        """Begin with the first stage."""
        start = super().reset(noise)
        return start._replace(memory={"stage": self.xp.zeros_like(start.qpos[:, :1])})

    def next_checkpoint(self, stage: Array) -> Array:
        """Return where stages (n,) lead, (n, 2) m."""
        return self.xp.take(self.checkpoints, self.xp.astype(stage, self.xp.int64), axis=0)

    def rate(self, state: TaskState) -> HumanoidRating:
        """Rate posture, speed and way, and look for contacts."""
        xp, last = self.xp, len(CHECKPOINTS) - 1
        stage = state.memory["stage"][:, 0]
        away = row_norm(state.fields["xpos"][:, self.body["pelvis"], :2] - self.next_checkpoint(stage))
        after = xp.where((away < 0.4) & (stage < last), stage + 1, stage)
        direction = xp.take(self.directions, xp.astype(after, xp.int64), axis=0)
        pace = tolerance(self.velocity(state) - PACE * direction, (0.0, 0.0), 1.0, "linear", 0.0)
        move = (5 * xp.where(after == last, 1.0, pace[:, 0] * pace[:, 1]) + 1) / 6
        distance = row_norm(self.next_checkpoint(after) - self.at(state, "imu")[:, :2])
        info = {
            **self.standing(state, 0.9),
            "small_control": self.small_control(state),
            "move": move,
            "wall_collision_discount": self.unless(self.count(state, "at_wall") > 0),
            "checkpoint_proximity_reward": tolerance(distance, (0.0, 0.0), 1.0),
            "success_subtasks": after,
        }
        posture = 0.2 * (info["stand_reward"] * info["small_control"])
        task = posture + 0.4 * move + 0.4 * info["checkpoint_proximity_reward"]
        begun = xp.where(after > stage, 100 * after, 0 * after)
        terms = {"task": task * info["wall_collision_discount"], "stage": begun}
        return HumanoidRating(terms, state.qpos[:, 2] < 0.2, info, {"stage": after[:, None]})
