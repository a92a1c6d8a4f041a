"""Environments: tasks as batched functions, a vector environment and a single one over the same solver.

Everything that a user's task needs is imported from here; `docs/your_own_task.md` shows how it is used.

| place | what |
|---|---|
| `registry`, `making`, `arguments` | the table of tasks; Gymnasium's registry; `make_vec` |
| `task` | the base class of tasks, and helpers of their methods: noise, memory, terms, heights, rays, inputs |
| `v5`, `suite`, `walking`, `manipulation`, `flight` | one file a task: options, start, observation, reward, end |
| `managers` | parts of tasks: commands, randomization, observation terms, curricula, terminations |
| `arrays` | the arrays that tasks are written in |
| `batch` | one task on one solver: views of the solver, checks of the task's results |
| `gym` | Gymnasium's two faces, the vector environment and the single one; their episodes, pictures, snapshots |
| `simulators`, `in_mujoco` | the solver that moves the environments: Tumble's, or MuJoCo's C |
| `checking` | `tumble.check_vector_env`, which imports no other folder |
| `wrappers` | `tumble.wrappers` |

Importing this package imports neither torch nor Taichi; a name below, or Gymnasium when an environment is made, loads
the rest.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ..physics.machine.libraries import load_mujoco, load_torch
from .making import make_vec
from .registry import register, task_ids

if TYPE_CHECKING:
    from .arrays import Array, all_finite, clip, exp, namespace, row_all, row_norm, row_sum, sin_cos
    from .gym.single_env import SingleEnv
    from .gym.vector_env import SimVectorEnv
    from .managers import randomize as dr
    from .managers.commands import PoseCommand, VelocityCommand
    from .managers.curricula import Difficulty, Stages, StepCount
    from .managers.delays import DelayedAction
    from .managers.encoders import EncoderBias
    from .managers.feet import FeetAirTime
    from .managers.latency import Latency
    from .managers.observing import Observer, Term
    from .managers.pushes import Push, Wrench
    from .managers.randomization import Randomization
    from .managers.randomize import Randomize
    from .managers.scatter import Scatter
    from .managers.terminations import BodyContact, JointLimits, SensorAbove, out_of_bounds, tilted, too_low
    from .suite.rewards import tolerance
    from .task.ground import Ground
    from .task.levels import TerrainLevels
    from .task.matter import TaskMatter
    from .task.noise import Noise
    from .task.scans import RayScan, grid_points, ring_points
    from .task.task import CameraView, Last, ResetResult, Start, StepResult, Task, TaskState
    from .task.terms import control_cost, normal_start, strictly_inside, uniform_start
    from .v5.locomotion import LocomotionTask

_HOMES = {
    "arrays": ("Array", "all_finite", "clip", "exp", "namespace", "row_all", "row_norm", "row_sum", "sin_cos"),
    "task.ground": ("Ground",),
    "task.levels": ("TerrainLevels",),
    "task.matter": ("TaskMatter",),
    "managers.commands": ("PoseCommand", "VelocityCommand"),
    "managers.curricula": ("Difficulty", "Stages", "StepCount"),
    "managers.delays": ("DelayedAction",),
    "managers.encoders": ("EncoderBias",),
    "managers.feet": ("FeetAirTime",),
    "managers.latency": ("Latency",),
    "managers.observing": ("Observer", "Term"),
    "managers.pushes": ("Push", "Wrench"),
    "managers.randomization": ("Randomization",),
    "managers.randomize": ("Randomize",),
    "managers.scatter": ("Scatter",),
    "managers.terminations": ("BodyContact", "JointLimits", "SensorAbove", "out_of_bounds", "tilted", "too_low"),
    "v5.locomotion": ("LocomotionTask",),
    "task.noise": ("Noise",),
    "task.scans": ("RayScan", "grid_points", "ring_points"),
    "gym.single_env": ("SingleEnv",),
    "suite.rewards": ("tolerance",),
    "task.task": ("CameraView", "Last", "ResetResult", "Start", "StepResult", "Task", "TaskState"),
    "task.terms": ("control_cost", "normal_start", "strictly_inside", "uniform_start"),
    "gym.vector_env": ("SimVectorEnv",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Array",
    "BodyContact",
    "CameraView",
    "DelayedAction",
    "Difficulty",
    "EncoderBias",
    "FeetAirTime",
    "Ground",
    "JointLimits",
    "Last",
    "Latency",
    "LocomotionTask",
    "Noise",
    "Observer",
    "PoseCommand",
    "Push",
    "Randomization",
    "Randomize",
    "RayScan",
    "ResetResult",
    "Scatter",
    "SensorAbove",
    "SimVectorEnv",
    "SingleEnv",
    "Stages",
    "Start",
    "StepCount",
    "StepResult",
    "Task",
    "TaskMatter",
    "TaskState",
    "Term",
    "TerrainLevels",
    "VelocityCommand",
    "Wrench",
    "all_finite",
    "clip",
    "control_cost",
    "dr",
    "exp",
    "grid_points",
    "make_vec",
    "namespace",
    "normal_start",
    "out_of_bounds",
    "register",
    "ring_points",
    "row_all",
    "row_norm",
    "row_sum",
    "sin_cos",
    "strictly_inside",
    "task_ids",
    "tilted",
    "tolerance",
    "too_low",
    "uniform_start",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for."""
    if name not in _HOME and name != "dr":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load_mujoco()
    load_torch()
    if name == "dr":
        return importlib.import_module(".managers.randomize", __name__)
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
