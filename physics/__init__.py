"""The solver: models, states and the batched rigid-body step.

`Model` holds what does not change, `RigidSolver` owns a batch of environments and steps them.
"""

from typing import TYPE_CHECKING, Any

from .process.kernel_cache import prepare

if TYPE_CHECKING:
    from .model.model import Model
    from .solver import RigidSolver

__all__ = ["Model", "RigidSolver"]

prepare()


def __getattr__(name: str) -> Any:
    """Import the engine when it is first asked for, so that `import tumble` stays light."""
    if name == "Model":
        from .model.model import Model

        return Model
    if name == "RigidSolver":
        from .solver import RigidSolver

        return RigidSolver
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
