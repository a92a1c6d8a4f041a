"""Viewers for a browser: a replay as one HTML file, and a live view of a running batch.

`record` or `Recorder` makes a `Replay`, a page that needs no network and no server. `view` serves a batch that runs,
with viser. Both draw the surfaces that `drawn.py` makes of a model, at the poses of the solver's geoms; nothing here
knows how a solver works. Lengths are metres, z is up, quaternions are w first.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..physics.machine.libraries import load_mujoco, load_torch

if TYPE_CHECKING:
    from .errors import ViewerError
    from .live import Viewer, view
    from .recorder import Recorder, record
    from .replay import Replay

__all__ = ["Recorder", "Replay", "Viewer", "ViewerError", "record", "view"]

_HOMES = {"Recorder": "recorder", "record": "recorder", "Replay": "replay", "ViewerError": "errors"}
_HOMES |= {"Viewer": "live", "view": "live"}


def __getattr__(name: str) -> Any:
    """Import a name lazily."""
    if name in _HOMES:
        load_mujoco()
        load_torch()
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
