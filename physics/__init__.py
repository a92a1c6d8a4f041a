"""The solver: models, states and the batched rigid-body step.

`Model` holds what does not change, `RigidSolver` owns a batch of environments and steps them.
"""

from typing import TYPE_CHECKING, Any

from .process.libraries import load_taichi, load_torch

if TYPE_CHECKING:
    from .model.model import Model
    from .solver import RigidSolver

__all__ = ["Model", "RigidSolver"]


def __getattr__(name: str) -> Any:
    """Import the engine when it is first asked for, so that `import tumble` stays light."""
    if name in __all__:
        load_torch()
        load_taichi()
    if name == "Model":
        from .model.model import Model

        return Model
    if name == "RigidSolver":
        from .solver import RigidSolver

        return RigidSolver
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
