"""The table of this package's tasks, by families. A new task is one class and one row here."""

from typing import NamedTuple


class Row(NamedTuple):
    """One task: the module in `envs` that has its class, and what Gymnasium's registry says of it."""

    module: str
    max_episode_steps: int
    reward_threshold: float | None = None


V5 = {
    "InvertedPendulum": Row("v5.inverted_pendulum", 1000, 950.0),
    "InvertedDoublePendulum": Row("v5.inverted_double_pendulum", 1000, 9100.0),
    "HalfCheetah": Row("v5.half_cheetah", 1000, 4800.0),
    "Hopper": Row("v5.hopper", 1000, 3800.0),
    "Walker2d": Row("v5.walker2d", 1000, None),
    "Ant": Row("v5.ant", 1000, 6000.0),
    "Humanoid": Row("v5.humanoid", 1000, None),
    "HumanoidStandup": Row("v5.humanoid_standup", 1000, None),
    "Swimmer": Row("v5.swimmer", 1000, 360.0),
    "Reacher": Row("v5.reacher", 50, -3.75),
    "Pusher": Row("v5.pusher", 100, 0.0),
}
"""Gymnasium's MuJoCo tasks of version 5, whose twins they are."""

SUITE = {
    "CartPoleBalance": Row("suite.cartpole", 1000),
    "CartPoleSwingUp": Row("suite.cartpole", 1000),
    "PendulumSwingUp": Row("suite.pendulum", 1000),
    "AcrobotSwingUp": Row("suite.acrobot", 1000),
    "FingerSpin": Row("suite.finger", 1000),
    "BallInCup": Row("suite.ball_in_cup", 1000),
    "PointMass": Row("suite.point_mass", 1000),
    "ReacherHard": Row("suite.reacher", 1000),
    "WalkerWalk": Row("suite.walker", 1000),
    "WalkerRun": Row("suite.walker", 1000),
    "CheetahRun": Row("suite.cheetah", 1000),
    "FishSwim": Row("suite.fish", 1000),
    "CartPoleSwingUpPixels": Row("suite.pixels", 1000),
    "PendulumSwingUpPixels": Row("suite.pixels", 1000),
    "ReacherPixels": Row("suite.pixels", 1000),
}
"""Tasks of the DeepMind control suite. As there an episode has 1000 steps, a return is at most 1000."""

WALKING: dict[str, Row] = {
    "QuadrupedFlat": Row("walking.quadruped", 1000),
    "QuadrupedRough": Row("walking.quadruped_rough", 1000),
    "QuadrupedStairs": Row("walking.quadruped_rough", 1000),
    "BipedFlat": Row("walking.biped", 1000),
    "BipedRough": Row("walking.biped_rough", 1000),
    "QuadrupedGetUp": Row("walking.get_up", 300),
}
"""Robots that walk."""

MANIPULATION: dict[str, Row] = {
    "ArmReach": Row("manipulation.arm_reach", 50),
    "ArmPush": Row("manipulation.arm_push", 80),
    "ArmPickCube": Row("manipulation.arm_pick_cube", 80),
    "ArmStackCubes": Row("manipulation.arm_stack_cubes", 120),
    "ArmOpenDrawer": Row("manipulation.arm_open_drawer", 80),
    "ArmPegInHole": Row("manipulation.arm_peg_in_hole", 80),
    "ArmReachGoal": Row("manipulation.arm_goals", 50),
    "ArmPushGoal": Row("manipulation.arm_goals", 80),
    "ArmPickGoal": Row("manipulation.arm_goals", 80),
    "HandReorientCube": Row("manipulation.hand_reorient", 1000),
}
"""Arms and hands."""

FLIGHT = {
    "DroneHover": Row("flight.drone_hover", 500),
    "DroneWaypoints": Row("flight.drone_waypoints", 750),
}
"""Drones."""

TASKS = V5 | SUITE | WALKING | MANIPULATION | FLIGHT
