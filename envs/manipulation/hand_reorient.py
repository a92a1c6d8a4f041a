"""HandReorientCube: turn a cube in the hand until it looks like another one."""

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from gymnasium.spaces import Box

from ..arrays import Array, clip, namespace, row_norm, row_sum, sin_cos
from ..managers import randomize as dr
from ..managers.frames import quat_angle, quat_conj, quat_mul, quat_rotate
from ..managers.randomization import Term
from ..task.noise import Noise
from ..task.task import Observation, ResetResult, Start, StepResult, Task, TaskState

FINGERS = 16  # hinges
GOALS = ("any", "near", "palm")
TIPS = ("index_tip", "middle_tip", "ring_tip", "thumb_tip")
LINKS, HINGES = "(index|middle|ring|thumb)_.*", "(index|middle|ring|thumb)_(mcp|rot|pip|dip|cmc|axl|ipl)"
RANDOMIZED = (
    dr.friction(0.5, 1.0, geoms=".*_tip", shared=True),
    dr.mass(0.8, 1.2, bodies="cube"),
    dr.com(-0.005, 0.005, bodies="cube"),
    dr.mass(0.9, 1.1, bodies=LINKS),
    dr.reference(-0.05, 0.05, joints=HINGES),
    dr.friction_loss(0.5, 2.0, joints=HINGES),
    dr.armature(1.0, 1.05, joints=HINGES),
    dr.damping(0.8, 1.2, joints=HINGES),
    dr.kp(0.8, 1.2),
)
"""Numbers of the model that are drawn for each episode with `randomize`, as in Playground's LeapCubeReorient."""
DROPPED = -0.05  # m, the height of the cube below which it is lost
FAR, LEAST = 0.05, 0.1  # m from the grasp, beyond the good 20 mm, at which the reward for the place is `LEAST`


def linear_tolerance(x: Array, good: float, margin: float) -> Array:
    """Return the control suite's tolerance with the linear sigmoid: 1 up to `good`, 0.1 `margin` beyond it, (n,)."""
    return clip(1 - (1 - LEAST) / margin * clip(x - good, 0, math.inf), 0, 1)


class HandReorientCube(Task):
    """A hand of four fingers turns a cube on its palm to an orientation, then to the next one. 20 actions a second.

    Action:

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | index_mcp | -1 | 1 | bends the finger at its base |
    | 1 | index_rot | -1 | 1 | spreads it |
    | 2 | index_pip | -1 | 1 | bends the middle |
    | 3 | index_dip | -1 | 1 | bends the tip |
    | 4 | middle_mcp | -1 | 1 | as above |
    | 5 | middle_rot | -1 | 1 | |
    | 6 | middle_pip | -1 | 1 | |
    | 7 | middle_dip | -1 | 1 | |
    | 8 | ring_mcp | -1 | 1 | as above |
    | 9 | ring_rot | -1 | 1 | |
    | 10 | ring_pip | -1 | 1 | |
    | 11 | ring_dip | -1 | 1 | |
    | 12 | thumb_cmc | -1 | 1 | turns the thumb about the hand's length |
    | 13 | thumb_axl | -1 | 1 | lifts it |
    | 14 | thumb_mcp | -1 | 1 | bends the middle |
    | 15 | thumb_ipl | -1 | 1 | bends the tip |

    With `increments` an action is by how much the hinge's target goes on, in `action_scale` rad; without, how far the
    target is from the home posture, in the same measure. Targets stay within the hinges' ranges.

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-15 | qpos[:16] | rad | the hinges, in the order of the actions |
    | 16-31 | error | rad | the hinges less their targets |
    | 32-34 | place | m | the cube from the grasp, a point above the palm |
    | 35-40 | turn | 1 | two rows of the rotation matrix from the goal to the cube, in the world's frame |
    | 41-56 | last_action | 1 | the last action |
    | 57-72 | qvel[:16] | rad/s | velocities of the hinges |
    | 73-84 | tips | m | tips of index, middle, ring finger and thumb from the grasp |
    | 85-90 | orientation | 1 | two rows of the cube's rotation matrix |
    | 91-93 | velocity | m/s | of the cube |
    | 94-96 | spin | rad/s | angular velocity of the cube, in the world's frame |

    With `asymmetric` the observation has two parts: `policy`, indices 0 to 56 with noise (hinges ±0.05 rad, place
    ±0.02 m, the quaternion's components normal with deviation 0.1, each x `obs_noise`), and `critic`, all without.

    Reward, a second's weights times the step's 0.05 s but for `progress` and `success`, as in MuJoCo Playground's
    LeapCubeReorient:

    - `reward_orientation`: `orientation_weight` x (1 up to 0.2 rad from the goal, then falling to 0.1 at pi + 0.2 rad)
    - `reward_position`: `position_weight` x (1 up to 20 mm from the grasp, then falling to 0.1 at 70 mm)
    - `reward_pose`: -`pose_weight` x |hinges - home|²
    - `reward_rate`: -`rate_weight` x (|change of the action|² + |change of that change|²)
    - `reward_energy`: -`energy_weight` x sum of |velocity| |torque| over the hinges
    - `reward_drop`: -`drop_weight` where the cube is dropped
    - `reward_progress`: `progress_weight` x how much nearer the goal has come (rad); none in Playground
    - `reward_success`: `success_weight` where the cube is within `success_tolerance` rad of the goal

    A success brings a new goal, and `info["rotations"]` counts them. Goals with `goals="any"` are drawn evenly from all
    rotations, with "near" they are up to `goal_angle` rad from the cube about any axis, and with "palm" the cube lies
    on the palm, the same face up, and is to be turned only about the palm's normal. Ends if the cube is dropped.
    Starts: hinges normal around the home posture with deviation 0.1 rad, the cube up to 10 mm from a place above the
    palm, in any orientation, or lying. With `randomize` each episode has friction of the tips, masses, the cube's
    center of mass, zeros, friction, armature and damping of the hinges and gains drawn in Playground's ranges.
    """

    reads: ClassVar = ("site_xpos", "actuator_force")
    camera: ClassVar = {
        "trackbodyid": -1,
        "lookat": (0.11, 0.05, 0.01),
        "distance": 0.62,
        "azimuth": 145.0,
        "elevation": -32.0,
    }

    xml_file: str = "hand.xml"
    frame_skip: int = 5
    increments: bool = True
    action_scale: float = 0.5
    asymmetric: bool = False
    obs_noise: float = 1.0
    randomize: bool = False
    success_tolerance: float = 0.1
    goals: str = "any"
    goal_angle: float = 1.0
    orientation_weight: float = 5.0
    position_weight: float = 0.5
    pose_weight: float = 0.5
    rate_weight: float = 1e-3
    energy_weight: float = 1e-3
    drop_weight: float = 100.0
    progress_weight: float = 0.0
    success_weight: float = 100.0

    def bind(self) -> None:
        """Find sites; read the home posture and the ranges of targets off the model.

        Raises:
            ValueError: there are no such goals.
        """
        if self.goals not in GOALS:
            raise ValueError(f"HandReorientCube: goals={self.goals!r}: choose {', '.join(GOALS)}")
        model = self.model
        self.grasp = model.site("grasp").id
        self.tips = [model.site(name).id for name in TIPS]
        self.low, self.high = (self.array(model.actuator_ctrlrange[:, k][None]) for k in (0, 1))
        self.home = self.array(model.key("home").qpos[:FINGERS][None])
        self.palm = self.array(model.body("palm").quat[None])
        self.start = self.array(model.body("cube").pos[None])

    @property
    def action_space(self) -> Box:
        """A number between -1 and 1 for each hinge."""
        return Box(-1.0, 1.0, (FINGERS,), np.float32)

    def within_range(self, targets: Array) -> Array:
        """Limit targets (n, 16) to the hinges' ranges."""
        return self.xp.minimum(self.xp.maximum(targets, self.low), self.high)

    def control(self, state: TaskState, action: Array) -> Array:
        """Return the targets of the hinges, (n, 16) rad."""
        start = state.memory["target"] if self.increments else self.home
        return self.within_range(start + self.action_scale * action)

    def reset(self, noise: Noise) -> Start:
        """Draw a posture, the cube's pose and the goal."""
        xp = self.xp
        hinges = self.within_range(self.home + 0.1 * noise.normal(FINGERS))
        place, quat = self.start + noise.uniform(-0.01, 0.01, 3), self.draw_start(noise)
        goal = self.draw_goal(noise, quat)
        qpos = xp.concat((hinges, place, quat), axis=1)
        still = 0 * hinges
        memory = {"goal": goal, "target": hinges, "last_action": still, "action_before": still}
        memory["rotations"] = noise.integers(0, 1, 1)[:, 0]
        return Start(qpos, 0 * qpos[:, 1:], memory, inputs={"mocap_quat": goal[:, None, :]})

    def randomized_by(self) -> Sequence[Term]:
        """Return what Playground randomizes, with `randomize`."""
        return RANDOMIZED if self.randomize else ()

    def draw_start(self, noise: Noise) -> Array:
        """Draw orientations for the cube to start in, (n, 4): any, or lying on the palm."""
        return self.lying(noise) if self.goals == "palm" else random_quats(noise)

    def draw_goal(self, noise: Noise, quat: Array) -> Array:
        """Draw goals (n, 4) for cubes with orientations (n, 4), as `goals` says."""
        if self.goals == "palm":
            return self.lying(noise)
        if self.goals == "any":
            return random_quats(noise)
        axis, angle = noise.normal(3), noise.uniform(0, self.goal_angle, 1)
        sine, cosine = sin_cos(0.5 * angle)
        turn = self.xp.concat((cosine, sine * axis / row_norm(axis)[:, None]), axis=1)
        return quat_mul(turn, quat)

    def lying(self, noise: Noise) -> Array:
        """Draw orientations (n, 4) of a cube that lies on the palm: any turn about its normal, the same face up."""
        half = noise.normal(2)
        half, zeros = half / row_norm(half)[:, None], 0 * half
        turn = self.xp.concat((half[:, :1], zeros, half[:, 1:]), axis=1)
        return quat_mul(self.palm + 0 * turn, turn)

    def begin(self, state: TaskState) -> ResetResult:
        """Return the first observation; remember the angle to the goal."""
        return ResetResult(self.observation(state), memory={"angle": self.angle(state)})

    def turn(self, state: TaskState) -> Array:
        """Return the rotation from the goal to the cube, (n, 4), in the world's frame."""
        return quat_mul(state.qpos[:, 19:23], quat_conj(state.memory["goal"]))

    def angle(self, state: TaskState) -> Array:
        """Return how far the cube is from the goal, (n,) rad."""
        return quat_angle(state.memory["goal"], state.qpos[:, 19:23])

    def place(self, state: TaskState) -> Array:
        """Return where the cube is from the grasp, (n, 3) m."""
        return state.qpos[:, 16:19] - state.fields["site_xpos"][:, self.grasp, :]

    def measured(self, state: TaskState, noisy: bool) -> Array:
        """Return the robot's measurements, (n, 57)."""
        hinges, place, turn = state.qpos[:, :FINGERS], self.place(state), self.turn(state)
        if noisy and self.obs_noise:
            hinges = hinges + self.obs_noise * 0.05 * self.array(state.noise.uniform(-1, 1, FINGERS))
            place = place + self.obs_noise * 0.02 * self.array(state.noise.uniform(-1, 1, 3))
            turn = turn + self.obs_noise * 0.1 * self.array(state.noise.normal(4))
            turn = turn / row_norm(turn)[:, None]
        error = hinges - state.memory["target"]
        return self.xp.concat((hinges, error, place, quat_rows(turn), state.memory["last_action"]), axis=1)

    def observation(self, state: TaskState) -> Observation:
        """Return the measurements and the simulator's state, (n, 97), or both parts by name."""
        sites, qvel, quat = state.fields["site_xpos"], state.qvel, state.qpos[:, 19:23]
        tips = [sites[:, tip, :] - sites[:, self.grasp, :] for tip in self.tips]
        spin = quat_rotate(quat, qvel[:, 19:22])
        known = (qvel[:, :FINGERS], *tips, quat_rows(quat), qvel[:, 16:19], spin)
        everything = self.xp.concat((self.measured(state, noisy=False), *known), axis=1)
        if not self.asymmetric:
            return everything
        return {"policy": self.measured(state, noisy=True), "critic": everything}

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Reward the cube's orientation and place, penalize effort and drops; a success brings a new goal."""
        xp, memory = self.xp, state.memory
        target, angle = self.control(state, action), self.angle(state)
        success, dropped = angle < self.success_tolerance, state.qpos[:, 18] < DROPPED
        terms = self.terms(state, action, angle, success, dropped)
        drawn = self.array(self.draw_goal(state.noise, state.qpos[:, 19:23]))
        goal = xp.where(success[:, None], drawn, memory["goal"])
        rotations = memory["rotations"] + xp.astype(success, memory["rotations"].dtype)
        state = state.remember(
            goal=goal, target=target, last_action=action, action_before=memory["last_action"], rotations=rotations
        )
        state = state.remember(angle=self.angle(state))
        info = {"success": success, "rotations": rotations, "angle": angle}
        inputs = {"mocap_quat": goal[:, None, :]}
        return StepResult(self.observation(state), terms, dropped, info, state.memory, inputs=inputs)

    def terms(self, state: TaskState, action: Array, angle: Array, success: Array, dropped: Array) -> dict[str, Array]:
        """Return the reward terms of a step after which the cube is `angle` (n,) rad from the goal."""
        xp, memory, dt = self.xp, state.memory, self.dt
        pose = state.qpos[:, :FINGERS] - self.home
        jerk = action - memory["last_action"]
        swing = jerk - (memory["last_action"] - memory["action_before"])
        power = abs(state.qvel[:, :FINGERS]) * abs(state.fields["actuator_force"])
        place = row_norm(self.place(state))
        return {
            "reward_orientation": self.orientation_weight * dt * linear_tolerance(angle, 0.2, math.pi),
            "reward_position": self.position_weight * dt * linear_tolerance(place, 0.02, FAR),
            "reward_pose": -self.pose_weight * dt * row_sum(pose * pose),
            "reward_rate": -self.rate_weight * dt * (row_sum(jerk * jerk) + row_sum(swing * swing)),
            "reward_energy": -self.energy_weight * dt * row_sum(power),
            "reward_drop": -self.drop_weight * dt * xp.astype(dropped, angle.dtype),
            "reward_progress": self.progress_weight * (memory["angle"] - angle),
            "reward_success": self.success_weight * xp.astype(success, angle.dtype),
        }


def random_quats(noise: Noise) -> Array:
    """Draw rotations evenly from all of SO(3), (n, 4), w first: four normal numbers, normalized."""
    drawn = noise.normal(4)
    return drawn / row_norm(drawn)[:, None]


def quat_rows(quat: Array) -> Array:
    """Return the first two rows of the rotation matrices of unit quaternions (n, 4) side by side, (n, 6).

    Unlike the quaternion's own numbers they are continuous in the rotation, and both of its signs have the same ones.
    """
    w, x, y, z = (quat[:, k] for k in range(4))
    rows = (
        1 - 2 * (y * y + z * z),
        2 * (x * y - w * z),
        2 * (x * z + w * y),
        2 * (x * y + w * z),
        1 - 2 * (x * x + z * z),
        2 * (y * z - w * x),
    )
    return namespace(quat).stack(rows, axis=1)
