"""Environments: tasks as batched functions, a vector environment and a single one over the same solver.

What a task of one's own needs is imported from here; `docs/your_own_task.md` shows how it is used.

| file | what |
|---|---|
| `registry`, `making` | the table of tasks; registration with Gymnasium; a vector environment of any task |
| `task`, `locomotion`, `humanoid_task`, `terms` | what a task is, and what tasks share |
| one file a task | options, start, observation, reward terms, termination |
| `arrays`, `noise` | the arrays and the random numbers that tasks are written in |
| `batch` | one task on one solver, by `views` of the solver, `memory` of the task, and `checks` of its results |
| `ground`, `levels`, `scans` | heights of a terrain, levels and origins on it, and rays that tasks read |
| `managers` | what tasks are put together from: commands, randomization, observation terms, curricula, terminations |
| `inputs` | what a task may drive of the solver beside the controls |
| `simulators`, `in_mujoco` | which solver moves the environments: Tumble's, or MuJoCo's C |
| `vector_env`, `single_env`, `base_env` | Gymnasium's two faces, and their base: copies, goal methods |
| `episodes`, `pictures`, `snapshots`, `vector_names` | the parts of vector environments, and their flat names |
| `actions`, `observations`, `infos`, `packing`, `faults`, `seeds`, `reset_options`, `arguments` | their helpers |
| `window`, `attributes` | helpers for rendering, and for `call`, `get_attr`, `set_attr` |
| `checking` | what `tumble.check_vector_env` is: it knows none of the others |
| `wrappers` | what `tumble.wrappers` has |

Importing this package imports neither torch nor Taichi; a name below, or Gymnasium when an environment is made, loads
the rest.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ..physics.process.libraries import load_mujoco, load_torch
from .making import make_vec
from .registry import register, task_ids

if TYPE_CHECKING:
    from .arrays import Array, all_finite, clip, exp, namespace, row_all, row_norm, row_sum, sin_cos
    from .ground import Ground
    from .levels import TerrainLevels
    from .managers.commands import PoseCommand, VelocityCommand
    from .managers.curricula import Difficulty, Stages, StepCount
    from .managers.delays import DelayedAction
    from .managers.encoders import EncoderBias
    from .managers.feet import FeetAirTime
    from .managers.observing import Observer, Term
    from .managers.pushes import Push, Wrench
    from .managers.randomization import Randomization
    from .managers.randomize import Randomize
    from .managers.terminations import BodyContact, JointLimits, SensorAbove, out_of_bounds, tilted, too_low
    from .noise import Noise
    from .scans import RayScan, grid_points, ring_points
    from .single_env import SingleEnv
    from .suite.rewards import tolerance
    from .task import CameraView, Last, ResetResult, Start, StepResult, Task, TaskState
    from .terms import control_cost, normal_start, strictly_inside, uniform_start
    from .v5.locomotion import LocomotionTask
    from .vector_env import SimVectorEnv

_HOMES = {
    "arrays": ("Array", "all_finite", "clip", "exp", "namespace", "row_all", "row_norm", "row_sum", "sin_cos"),
    "ground": ("Ground",),
    "levels": ("TerrainLevels",),
    "managers.commands": ("PoseCommand", "VelocityCommand"),
    "managers.curricula": ("Difficulty", "Stages", "StepCount"),
    "managers.delays": ("DelayedAction",),
    "managers.encoders": ("EncoderBias",),
    "managers.feet": ("FeetAirTime",),
    "managers.observing": ("Observer", "Term"),
    "managers.pushes": ("Push", "Wrench"),
    "managers.randomization": ("Randomization",),
    "managers.randomize": ("Randomize",),
    "managers.terminations": ("BodyContact", "JointLimits", "SensorAbove", "out_of_bounds", "tilted", "too_low"),
    "v5.locomotion": ("LocomotionTask",),
    "noise": ("Noise",),
    "scans": ("RayScan", "grid_points", "ring_points"),
    "single_env": ("SingleEnv",),
    "suite.rewards": ("tolerance",),
    "task": ("CameraView", "Last", "ResetResult", "Start", "StepResult", "Task", "TaskState"),
    "terms": ("control_cost", "normal_start", "strictly_inside", "uniform_start"),
    "vector_env": ("SimVectorEnv",),
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
    "LocomotionTask",
    "Noise",
    "Observer",
    "PoseCommand",
    "Push",
    "Randomization",
    "Randomize",
    "RayScan",
    "ResetResult",
    "SensorAbove",
    "SimVectorEnv",
    "SingleEnv",
    "Stages",
    "Start",
    "StepCount",
    "StepResult",
    "Task",
    "TaskState",
    "Term",
    "TerrainLevels",
    "VelocityCommand",
    "Wrench",
    "all_finite",
    "clip",
    "control_cost",
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
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load_mujoco()
    load_torch()
    return getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
