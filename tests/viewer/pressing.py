"""Send without a browser the messages that it sends when a button is pressed or a value is changed."""

from types import SimpleNamespace
from typing import Any

from tumble.viewer import Viewer


def handle_of(viewer: Viewer, label: str) -> Any:
    """The only control of the panel with a label."""
    every = viewer._server.gui._gui_input_handle_from_uuid.values()
    (found,) = [handle for handle in every if getattr(handle, "label", None) == label]
    return found


def press(viewer: Viewer, label: str, value: Any = None) -> None:
    """Press a button, or give another control a value, and have done what it asks for."""
    handle = handle_of(viewer, label)
    if value is not None:
        handle._impl.value = value
    for callback in handle._impl.update_cb:
        callback(SimpleNamespace(client=object(), client_id=0, target=handle))
    viewer._do_jobs()
