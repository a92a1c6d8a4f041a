"""Tumble: robot-learning environments on a batched rigid-body solver.

`import tumble` registers every task as `tumble/<Name>-v0` with Gymnasium. Nothing heavy is imported before it is used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .envs.making import make, make_vec
from .envs.registry import register, register_all

if TYPE_CHECKING:
    from . import robots as robots
    from . import wrappers as wrappers
    from .envs.checking import check_vector_env as check_vector_env
    from .physics.machine.runtime import Runtime
    from .scene import Scene as Scene

__version__ = "0.1.0"
__all__ = ["__version__", "init", "make", "make_vec", "register"]

register_all()


def __getattr__(name: str) -> Any:
    """Load `tumble.wrappers`, `robots`, `check_vector_env` or `Scene` when it is first asked for."""
    if name == "Scene":
        return importlib.import_module(".scene", __name__).Scene
    if name == "check_vector_env":
        return importlib.import_module(".envs.checking", __name__).check_vector_env
    if name not in ("robots", "wrappers"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f".{name}", __name__)


def init(device: str = "cpu", precision: str = "32", lanes: int | None = None, threads: int | None = None) -> "Runtime":
    """Choose device, precision, lane width and threads; the first use does it with these defaults.

    See `tumble.physics.machine.runtime.init` for the arguments and errors.
    """
    from .physics.machine.runtime import init as start

    return start(device, precision, lanes, threads)
