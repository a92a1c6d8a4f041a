"""The live view of environments, in a browser."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..viewer import Viewer


class Viewed:
    """Environments that can be looked at."""

    def view(self, act: Callable[[Any], Any] | None = None, **options: Any) -> "Viewer":
        """Show them in a browser, and move them: `tumble.viewer.view`, with its arguments and errors.

        Args:
            act: returns actions for observations, as a policy does; None: random actions.
            options: `block=False` returns at once; `envs`, `port`, `host`, `play` and more.
        """
        from ..viewer import view

        return view(self, act, **options)
