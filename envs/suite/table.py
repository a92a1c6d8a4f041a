"""The control suite's tasks on dm_control's models by their ids: each with its class in this folder and its options."""

from typing import Any

from ..row import Row


def _row(module: str, kind: str, alias: str = "", **options: Any) -> Row:
    """Return the row of a task of 1000 steps; an alias is its name in the namespace `tumble`."""
    return Row(f"suite.{module}", 1000, None, kind, options, alias)


def _on_suite_model(module: str, kind: str, alias: str = "", **options: Any) -> Row:
    """Return the row of a task on dm_control's model instead of Tumble's."""
    return _row(module, kind, alias, xml_file=f"dm_control:{module}.xml", **options)


_CMU = {"xml_file": "dm_control:humanoid_CMU.xml", "frame_skip": 10, "root": "thorax", "sides": ("l", "r"), "up": 7}

ROWS = {
    f"dm_control/{name}-v0": row
    for name, row in {
        "acrobot-swingup": _on_suite_model("acrobot", "AcrobotSwingUp"),
        "acrobot-swingup_sparse": _on_suite_model("acrobot", "AcrobotSwingUp", "AcrobotSwingUpSparse", sparse=True),
        "ball_in_cup-catch": _on_suite_model("ball_in_cup", "BallInCup"),
        "cartpole-balance": _on_suite_model("cartpole", "CartPoleBalance"),
        "cartpole-balance_sparse": _on_suite_model("cartpole", "CartPoleBalance", "CartPoleBalanceSparse", sparse=True),
        "cartpole-swingup": _on_suite_model("cartpole", "CartPoleSwingUp"),
        "cartpole-swingup_sparse": _on_suite_model("cartpole", "CartPoleSwingUp", "CartPoleSwingUpSparse", sparse=True),
        "cartpole-two_poles": _on_suite_model("cartpole", "CartPoleSwingUp", "CartPoleTwoPoles", poles=2),
        "cartpole-three_poles": _on_suite_model("cartpole", "CartPoleSwingUp", "CartPoleThreePoles", poles=3),
        "cheetah-run": _on_suite_model("cheetah", "CheetahRun"),
        "dog-stand": _row("dog", "SuiteDog", "DogStand"),
        "dog-walk": _row("dog", "SuiteDog", "DogWalk", move_speed=1.0),
        "dog-trot": _row("dog", "SuiteDog", "DogTrot", move_speed=3.0),
        "dog-run": _row("dog", "SuiteDog", "DogRun", move_speed=9.0),
        "dog-fetch": _row("dog", "DogFetch", "DogFetch"),
        "finger-spin": _on_suite_model("finger", "FingerSpin"),
        "finger-turn_easy": _row("finger", "FingerTurn", "FingerTurnEasy", target_size=0.07),
        "finger-turn_hard": _row("finger", "FingerTurn", "FingerTurnHard", target_size=0.03),
        "fish-upright": _on_suite_model("fish", "FishUpright", "FishUpright"),
        "fish-swim": _on_suite_model("fish", "FishSwim"),
        "hopper-stand": _row("hopper", "SuiteHopper", "HopperStand", hopping=False),
        "hopper-hop": _row("hopper", "SuiteHopper", "HopperHop"),
        "humanoid-stand": _row("humanoid", "SuiteHumanoid", "HumanoidStand", move_speed=0.0),
        "humanoid-walk": _row("humanoid", "SuiteHumanoid", "HumanoidWalk", move_speed=1.0),
        "humanoid-run": _row("humanoid", "SuiteHumanoid", "HumanoidRun", move_speed=10.0),
        "humanoid-run_pure_state": _row(
            "humanoid", "SuiteHumanoid", "HumanoidRunPureState", move_speed=10.0, pure_state=True
        ),
        "humanoid_CMU-stand": _row("humanoid", "SuiteHumanoid", "HumanoidCMUStand", move_speed=0.0, **_CMU),
        "humanoid_CMU-walk": _row("humanoid", "SuiteHumanoid", "HumanoidCMUWalk", move_speed=1.0, **_CMU),
        "humanoid_CMU-run": _row("humanoid", "SuiteHumanoid", "HumanoidCMURun", move_speed=10.0, **_CMU),
        "lqr-lqr_2_1": _row("lqr", "LinearRegulator", "LQR21")._replace(max_episode_steps=None),
        "lqr-lqr_6_2": _row("lqr", "LinearRegulator", "LQR62", bodies=6, actuated=2)._replace(max_episode_steps=None),
        "manipulator-bring_ball": _row("planar_arm", "ManipulatorBring", "ManipulatorBringBall"),
        "manipulator-bring_peg": _row("planar_arm", "ManipulatorBring", "ManipulatorBringPeg", peg=True),
        "manipulator-insert_ball": _row("planar_arm", "ManipulatorBring", "ManipulatorInsertBall", insert=True),
        "manipulator-insert_peg": _row("planar_arm", "ManipulatorBring", "ManipulatorInsertPeg", peg=True, insert=True),
        "pendulum-swingup": _on_suite_model("pendulum", "PendulumSwingUp"),
        "point_mass-easy": _on_suite_model("point_mass", "PointMass"),
        "point_mass-hard": _on_suite_model("point_mass", "PointMass", "PointMassHard", random_gains=True),
        "quadruped-walk": _row("quadruped", "QuadrupedMove", "QuadrupedWalk"),
        "quadruped-run": _row("quadruped", "QuadrupedMove", "QuadrupedRun", move_speed=5.0),
        "quadruped-escape": _row("quadruped", "QuadrupedEscape", "QuadrupedEscape"),
        "quadruped-fetch": _row("quadruped", "QuadrupedFetch", "QuadrupedFetch"),
        "reacher-easy": _on_suite_model("reacher", "ReacherHard", "ReacherEasy", target_size=0.05),
        "reacher-hard": _on_suite_model("reacher", "ReacherHard"),
        "stacker-stack_2": _row("planar_arm", "StackerStack", "StackerStack2"),
        "stacker-stack_4": _row("planar_arm", "StackerStack", "StackerStack4", boxes=4),
        "swimmer-swimmer6": _row("swimmer", "SuiteSwimmer", "Swimmer6"),
        "swimmer-swimmer15": _row("swimmer", "SuiteSwimmer", "Swimmer15", links=15),
        "walker-stand": _on_suite_model("walker", "WalkerWalk", "WalkerStand", move_speed=0.0),
        "walker-walk": _on_suite_model("walker", "WalkerWalk"),
        "walker-run": _on_suite_model("walker", "WalkerRun"),
    }.items()
}
