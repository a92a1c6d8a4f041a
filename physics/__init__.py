"""The solver: models, states and the batched rigid-body step.

`Model` holds what does not change, `RigidSolver` owns a batch of environments and steps them. `inverse_kinematics`
finds coordinates that bring bodies to poses, `plan_path` ways between coordinates without collisions.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .process.libraries import load_mujoco, load_taichi, load_torch

if TYPE_CHECKING:
    from .model.model import Model
    from .planning.chain import Target
    from .planning.inverse import InverseKinematics, inverse_kinematics
    from .planning.paths import plan_path
    from .solver import RigidSolver

__all__ = ["InverseKinematics", "Model", "RigidSolver", "Target", "inverse_kinematics", "plan_path"]
_HOMES = {
    "Model": "model.model",
    "RigidSolver": "solver",
    "Target": "planning.chain",
    "InverseKinematics": "planning.inverse",
    "inverse_kinematics": "planning.inverse",
    "plan_path": "planning.paths",
}


def __getattr__(name: str) -> Any:
    """Import the engine when it is first asked for, so that `import tumble` stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    load_mujoco()
    load_torch()
    load_taichi()
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
