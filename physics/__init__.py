"""The solver: models, states and the batched rigid-body step.

`Model` holds what does not change, `RigidSolver` owns a batch of environments and steps them. `inverse_kinematics`
finds coordinates that bring bodies to poses, `plan_path` paths between coordinates without collisions.

Eight rooms, each of which imports from those before it only:

| room | what |
|---|---|
| `machine` | what a process has once: Taichi, threads, memory, signals; machine code and its store |
| `base` | arithmetic in vector lanes, kinds of geoms, declarations of fields and stages |
| `files` | compiled models of MuJoCo, URDF, meshes |
| `mechanics` | kernels: kinematics, dynamics, collision, constraints, sensors |
| `model` | the numbers of a model, its mechanisms (`parts`), and the declaration of the state |
| `run` | the step, and the driver of a batch on a CPU or a GPU |
| `rendering` | rays, pictures, path tracing, films |
| `solver` | the solver that users hold, its sensors, queries and plans |
"""

import importlib
from typing import TYPE_CHECKING, Any

from .machine.libraries import load_mujoco, load_taichi, load_torch

if TYPE_CHECKING:
    from .model.model import Model
    from .solver.planning.chain import Target
    from .solver.planning.inverse import InverseKinematics, inverse_kinematics
    from .solver.planning.paths import plan_path
    from .solver.solver import RigidSolver

__all__ = ["InverseKinematics", "Model", "RigidSolver", "Target", "inverse_kinematics", "plan_path"]
_HOMES = {
    "Model": "model.model",
    "RigidSolver": "solver.solver",
    "Target": "solver.planning.chain",
    "InverseKinematics": "solver.planning.inverse",
    "inverse_kinematics": "solver.planning.inverse",
    "plan_path": "solver.planning.paths",
}


def __getattr__(name: str) -> Any:
    """Import the engine when it is first asked for, so that `import tumble` stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load_mujoco()
    load_torch()
    load_taichi()
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
