"""A four-legged robot follows commands: pushed, randomized, and seen through late and noisy sensors."""

import math
from pathlib import Path

import mujoco
import numpy as np
from gymnasium.spaces import Box

import tumble
from tumble.envs import (
    BodyContact,
    DelayedAction,
    Difficulty,
    EncoderBias,
    FeetAirTime,
    JointLimits,
    Observer,
    Push,
    Randomization,
    ResetResult,
    SensorAbove,
    Stages,
    Start,
    StepResult,
    Task,
    Term,
    VelocityCommand,
    Wrench,
    exp,
    row_sum,
    tilted,
)
from tumble.envs.managers import randomize as dr
from tumble.envs.managers.frames import projected_gravity, quat_from_yaw, quat_rotate_inverse, to_heading
from tumble.physics import Model

FEET = ("FL", "FR", "RL", "RR")
STAND = (0.0, 0.8, -1.5) * 4  # rad: hips, thighs and calves


class Walk(Task):
    """Go as commanded. Actions (12) are corrections of the standing posture, in `correction` rad."""

    reads = ("xpos", "cfrc_ext", "sensordata")
    camera = {"distance": 2.0, "trackbodyid": 1, "azimuth": 130.0, "elevation": -20.0}

    xml_file: str = "dog.xml"
    frame_skip: int = 5
    correction: float = 0.25  # rad
    randomized: bool = True

    @property
    def action_space(self):
        """Corrections between -1 and 1."""
        return Box(-1.0, 1.0, (12,), np.float32)

    def load_model(self, **options):
        """The robot on a floor, with a touch sensor at each foot."""
        spec = mujoco.MjSpec.from_file(str(Path(__file__).with_name(self.xml_file)))
        plane = mujoco.mjtGeom.mjGEOM_PLANE
        spec.worldbody.add_geom(name="floor", type=plane, size=[0, 0, 1], priority=1)  # friction is the floor's
        for foot in FEET:
            spec.site(foot).size = [0.04, 0.04, 0.04]
            touch, site = mujoco.mjtSensor.mjSENS_TOUCH, mujoco.mjtObj.mjOBJ_SITE
            spec.add_sensor(name=foot, type=touch, objtype=site, objname=foot)
        return Model.from_mjspec(spec, **options)

    def bind(self):
        """All the parts."""
        self.stand = self.array(STAND)
        self.command = VelocityCommand(
            self,
            lin_vel_x=Stages({0: (-0.5, 0.5), 20_000: (-1.0, 1.5)}),
            lin_vel_y=(-0.4, 0.4),
            heading=(-math.pi, math.pi),
            resampling_time=(5.0, 10.0),
            standing=0.1,
        )
        terms = (
            dr.mass(0.9, 1.1, when="start"),
            dr.inertia("trunk", alpha=(-0.1, 0.1), d=(-0.1, 0.1), t=(-0.03, 0.03)),
            dr.friction(0.4, 1.2, "floor", name="friction"),
            dr.kp(0.85, 1.15),
            dr.kv(0.7, 1.3, when=(5.0, 10.0)),
            dr.motor_strength(0.9, 1.0),
            dr.armature(0.5, 2.0, distribution="log_uniform", when="start"),
            Push(speed=(0.0, 0.5), yaw=(-0.5, 0.5), when=(4.0, 8.0)),
            Wrench("trunk", force=(-15.0, 15.0), when=(6.0, 12.0), duration=(0.1, 0.5)),
        )
        self.randomization = Randomization(self, *terms if self.randomized else terms[2:3])
        self.delayed = DelayedAction(self, 0, 1)
        self.encoder = EncoderBias(self, -0.015, 0.015)
        self.observer = Observer(
            self,
            gyro=Term(noise=0.2, bias=0.05, scale=0.25, delay=(0, 1)),
            gravity=Term(noise=0.05),
            command=Term(scale=(2.0, 2.0, 0.5)),
            joints=Term(noise=0.01, history=3),
            speeds=Term(noise=1.5, clip=(-40.0, 40.0), scale=0.05),
            action=Term(),
        )
        self.feet, self.touch = FeetAirTime(self, 4), SensorAbove(self, FEET, 1.0)
        self.trunk, self.limits = BodyContact(self, "trunk", 1.0), JointLimits(self, share=0.9)
        self.difficulty = Difficulty(self, up=0.7, down=0.3)

    def reset(self, noise) -> Start:
        """Standing, in any direction."""
        xp, yaw = self.xp, noise.uniform(-math.pi, math.pi, 1)[:, 0]
        joints = xp.asarray(STAND, dtype=xp.float64) + noise.uniform(-0.05, 0.05, 12)
        place = xp.stack((0 * yaw, 0 * yaw, 0 * yaw + 0.32), axis=1)
        qpos = xp.concat((place, quat_from_yaw(yaw), joints), axis=1)
        return Start(qpos, 0 * qpos[:, 1:])

    def reset_after(self, last, noise) -> Start:
        """With a command, and with numbers and pushes of its own."""
        start = self.reset(noise)
        rest = 0 * start.qpos[:, 7:]
        memory = {"action": rest, "tracked": rest[:, 0]}
        memory |= self.command.begin(noise, last)
        memory |= self.delayed.begin(noise, rest) | self.encoder.begin(noise) | self.feet.begin(start.qpos)
        memory |= self.difficulty.begin(last, last.memory["tracked"] / (last.steps + 1) if last.memory else None)
        return self.randomization.begin(start._replace(memory=memory), last, noise)

    def measured(self, state):
        """What sensors measure, by the terms' names."""
        quat = state.qpos[:, 3:7]
        return {
            "gyro": state.qvel[:, 3:6],
            "gravity": projected_gravity(quat),
            "command": state.memory["command"],
            "joints": self.encoder.read(state) - self.stand,
            "speeds": state.qvel[:, 6:],
            "action": state.memory["action"],
        }

    def privileged(self, state):
        """What a critic knows: everything exactly, the speed, the floor's friction and the forces on the feet."""
        velocity = quat_rotate_inverse(state.qpos[:, 3:7], state.qvel[:, :3])
        parts = (velocity, state.memory["friction"], 0.01 * self.touch.readings(state))
        return self.xp.concat((self.observer.clean(self.measured(state)), *parts), axis=1)

    def begin(self, state) -> ResetResult:
        """The first observation: histories and delays are full of it."""
        state = self.command.aim(state)
        memory, seen = self.observer.begin(self.measured(state), state.noise)
        memory["command"] = state.memory["command"]
        return ResetResult({"policy": seen, "critic": self.privileged(state)}, memory=memory)

    def control(self, state, action):
        """Targets of the servos: late, and off by the encoders' bias."""
        acting = self.delayed.acting(state, action)
        return self.encoder.targets(state, self.stand + self.correction * acting)

    def step(self, state, action) -> StepResult:
        """Reward what was commanded; then go on with commands, pushes and what is seen."""
        quat, xp = state.qpos[:, 3:7], self.xp
        state = self.feet.update(state, self.touch.each(state))
        velocity, command, memory = to_heading(quat, state.qvel[:, :3]), state.memory["command"], state.memory
        error, turn = velocity[:, :2] - command[:, :2], state.qvel[:, 5] - command[:, 2]
        jerk = action - memory["action"]
        moving = row_sum(command[:, :2] ** 2) > 0.01
        swings = row_sum((memory["feet_last_air_time"] - 0.2) * memory["feet_touchdown"])
        tracked = exp(-4 * row_sum(error * error))
        terms = {
            "reward_track": tracked,
            "reward_turn": 0.5 * exp(-4 * turn * turn),
            "reward_air_time": 0.5 * swings * moving,
            "reward_steady": -0.05 * row_sum(state.qvel[:, 3:5] ** 2) - 1.0 * velocity[:, 2] ** 2,
            "reward_upright": -2.0 * row_sum(projected_gravity(quat)[:, :2] ** 2),
            "reward_smooth": -0.01 * row_sum(jerk * jerk),
            "reward_limits": -5.0 * self.limits.excess(state),
        }
        fell = tilted(quat, 1.0) | self.trunk(state)
        info = {"tracking_error": xp.sqrt(row_sum(error * error)), "difficulty": memory["difficulty"]}

        state = state.remember(action=action, tracked=memory["tracked"] + tracked)
        state = self.command.update(self.delayed.step(state, action))
        state, changes = self.randomization.step(state)
        state, seen = self.observer.step(state, self.measured(state))
        observation = {"policy": seen, "critic": self.privileged(state)}
        return StepResult(observation, terms, fell, info, state.memory, **changes)


tumble.register("me/Walk-v0", Walk, max_episode_steps=1000)
