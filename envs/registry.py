"""The table of this package's tasks, and their registration with Gymnasium. Imports neither torch nor Taichi.

A new task is one class and one row here; a task of another package is one call of `register`.
"""

import importlib
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import gymnasium
from gymnasium.envs.registration import EnvSpec

from .nearest import nearest
from .row import Row

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
    "CartPoleSwingUpPixels": Row("suite.cartpole", 1000, None, "CartPoleSwingUp", {"pixels": 64}),
    "PendulumSwingUpPixels": Row("suite.pendulum", 1000, None, "PendulumSwingUp", {"pixels": 64}),
    "ReacherPixels": Row("suite.reacher", 1000, None, "ReacherHard", {"pixels": 64, "target_size": 0.05}),
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

MATTER = {
    "Pour": Row("manipulation.pour", 80),
    "Scoop": Row("manipulation.scoop", 80),
    "Knead": Row("manipulation.knead", 60),
}
"""Arms with liquid, sand and dough."""

SUITES = ("suite.table", "robotics.table", "metaworld.table", "myo.table", "humanoid_bench.table")
"""Modules with `ROWS`: tasks of other projects by the ids that these have there, as in "dm_control/dog-run-v0"."""

TASK_SETS = {f"metaworld/{name}": name for name in ("MT1", "MT10", "MT25", "MT50", "ML1", "ML10", "ML25", "ML45")}
"""Sets of tasks, whose environments are different tasks of one vector environment: the names that it knows."""

MANAGERS = ("randomize", "observe", "delay")
"""Arguments of environments that any task takes: what a batch runs around its methods."""

TASKS = V5 | SUITE | WALKING | MANIPULATION | FLIGHT | MATTER


if TYPE_CHECKING:
    from .task.task import Task

TaskLike: TypeAlias = Union[str, "Task", type["Task"]]
"""A name in `TASKS`, the id of a suite's task, a task, or its class."""

_SET = "tumble.envs.metaworld.task_set:TaskSetEnv"
_SINGLE, _VECTOR = "tumble.envs:SingleEnv", "tumble.envs:SimVectorEnv"


def register_all() -> None:
    """Register the tasks with Gymnasium as tumble/Name-v0, suites' also by their ids, unless the id is taken."""
    known = {f"tumble/{name}-v0": (name, row) for name, row in TASKS.items()}
    for identity, row in suite_rows().items():
        known[identity] = identity, row
        if row.alias:
            known[f"tumble/{row.alias}-v0"] = identity, row
    for identity, (name, row) in known.items():
        if identity not in gymnasium.registry:
            _register(identity, name, row.max_episode_steps, row.reward_threshold, {})
    for identity, name in TASK_SETS.items():
        if identity not in gymnasium.registry:
            gymnasium.register(identity, vector_entry_point=_SET, max_episode_steps=500, kwargs={"name": name})


@cache
def suite_rows() -> dict[str, Row]:
    """Return the tasks of other projects' suites by their ids."""
    tables = (importlib.import_module(f".{module}", __package__) for module in SUITES)
    return {identity: row for table in tables for identity, row in table.ROWS.items()}


def register(
    identity: str,
    task: "Task | type[Task]",
    *,
    max_episode_steps: int | None = None,
    reward_threshold: float | None = None,
    **options: Any,
) -> None:
    """Register a user's task with Gymnasium, for `gymnasium.make`, `make_vec` and the `tumble` command.

    Args:
        identity: such as "me/Reacher-v0".
        task: a class derived from `tumble.envs.Task`, or an instance of one.
        max_episode_steps: an episode is truncated after so many steps; None: never.
        reward_threshold: the return at which the task counts as solved, if that is known.
        options: the task's own, as defaults, and `randomize`, `observe` and `delay`, which run around it;
            `gymnasium.make(identity, option=...)` overrides them.

    Raises:
        TypeError: this is no task, or it has no such option; the message has the nearest ones.
        gymnasium.error.Error: the identity is not of the form namespace/Name-v0.
    """
    make_task(task, {name: value for name, value in options.items() if name not in MANAGERS})
    _register(identity, task, max_episode_steps, reward_threshold, options)


def _register(
    identity: str, task: TaskLike, max_episode_steps: int | None, reward_threshold: float | None, options: dict
) -> None:
    gymnasium.register(identity, **_entry(task, max_episode_steps, reward_threshold, options))


def _entry(
    task: TaskLike, max_episode_steps: int | None, reward_threshold: float | None, options: dict
) -> dict[str, Any]:
    """Return the arguments of `gymnasium.register`, and of `EnvSpec`, after the id."""
    return {
        "entry_point": _SINGLE,
        "vector_entry_point": _VECTOR,
        "max_episode_steps": max_episode_steps,
        "reward_threshold": reward_threshold,
        "kwargs": {"task": task, **options},
    }


def task_ids() -> list[str]:
    """Return the ids of Tumble's and its users' tasks, such as "tumble/Ant-v0", in alphabetical order."""
    registered = (name for name, spec in gymnasium.registry.items() if spec.vector_entry_point == _VECTOR)
    return sorted({*registered, *suite_rows()})


def spec_of(identity: str) -> EnvSpec:
    """Return Gymnasium's entry of a task: of a suite's id Tumble's own, even if another package (shimmy) has taken it.

    Raises:
        KeyError: the id is of no task.
    """
    spec, row = gymnasium.registry.get(identity), suite_rows().get(identity)
    if row is None or (spec is not None and spec.vector_entry_point == _VECTOR):
        return gymnasium.registry[identity]
    return EnvSpec(identity, **_entry(identity, row.max_episode_steps, row.reward_threshold, {}))


def identity_of(name: str) -> str:
    """Return the id in Gymnasium's registry of a task: of "Ant" and "Ant-v0" it is "tumble/Ant-v0".

    Names with a namespace or a module, and names of tasks that were registered without one, stay as they are.

    Raises:
        ValueError: it is of no task, but of Gymnasium's own, for example; the message suggests names.
    """
    if "/" in name or ":" in name or name in task_ids():
        return name
    known = [*TASKS, *(row.alias for row in suite_rows().values() if row.alias)]
    if (task := name.removesuffix("-v0")) in known:
        return f"tumble/{task}-v0"
    task = name.rpartition("-v")[0] or name
    of_suites = {identity.partition("/")[2].rpartition("-v")[0]: identity for identity in suite_rows()}
    of_suites |= {identity.partition("/")[2]: identity for identity in TASK_SETS}
    near = nearest(task, known)
    if task in known or task in of_suites:
        near = f"is {of_suites.get(task, f'tumble/{task}-v0')}"
    theirs = ", but an environment of Gymnasium's registry, for its own make and make_vec" * (
        name in gymnasium.registry
    )
    raise ValueError(f"no task {name!r}{theirs}; there {near}")


def make_task(task: TaskLike, options: dict[str, Any]) -> "Task":
    """Return a task by its name, class or instance, with options.

    Raises:
        ValueError: no such task; the message has the nearest names.
        TypeError: this is no task, or it has no such option; the message has the nearest ones.
    """
    from .task.task import Task, options_of

    if isinstance(task, str):
        rows = TASKS | suite_rows()
        if task not in rows:
            raise ValueError(f"no task {task!r}; there {nearest(task, list(rows))}")
        row = rows[task]
        module = importlib.import_module(f".{row.module}", __package__)
        return make_task(getattr(module, row.kind or task), {**row.options, **options})
    kind = task if isinstance(task, type) else type(task)
    if not issubclass(kind, Task):
        raise TypeError(f"{task!r} is no task: needed is a name, or a class derived from tumble.envs.Task")
    known = options_of(kind)
    for option in options:
        if option not in known:
            raise TypeError(
                f"{kind.__name__} got an unexpected keyword argument {option!r}; there {nearest(option, known)}"
            )
    if isinstance(task, Task):
        return replace(task, **options) if options else task
    return task(**options)
