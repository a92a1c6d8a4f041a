"""Warnings about faults: one for each kind of fault, with the environment, the step and what to change."""

import sys
import warnings
from collections.abc import Iterable

NON_FINITE = 1  # bit of solver.faults: the state would not stay finite; the environment stands still until it is reset
CONTACTS_FULL = 2  # bit of solver.faults: more contacts than there is room for; the deepest were kept

_STORIES = {
    NON_FINITE: (
        "its state stopped being finite, so it was held at its last finite state and terminated",
        "look at large actions, at forces or mocap poses that the task returned as inputs, and at states that were set "
        "from outside, or take a smaller timestep; a model that fails at rest may need double precision: "
        'tumble.init(precision="64")',
    ),
    CONTACTS_FULL: (
        "it has more contacts than there is room for, so only the deepest were kept",
        "make the model with more room (option max_contacts; solver.contacts_needed says how much; in MuJoCo it is the "
        "file's <size memory=...>), or let fewer geoms collide",
    ),
}


class FaultReporter:
    """Warns of each kind of fault the first time that it happens."""

    def __init__(self) -> None:
        self._reported: set[int] = set()

    def report(self, faults: Iterable[tuple[int, int, int]]) -> None:
        """Warn of the kinds of fault that no warning has been given of yet; the line shown is the user's.

        Args:
            faults: (environment, bit mask, step of its episode) of every environment that has one.
        """
        for env, mask, step in faults:
            for bit, (what, remedy) in _STORIES.items():
                if mask & bit and bit not in self._reported:
                    self._reported.add(bit)
                    warnings.warn(
                        f"environment {env}, step {step} of its episode: {what}. Remedy: {remedy}. Later faults of "
                        "this kind are only marked in info['fault'].",
                        RuntimeWarning,
                        stacklevel=_users_level(),
                    )


def _users_level() -> int:
    """Return the `stacklevel` at which `warnings.warn` shows the innermost line outside of this package."""
    frame, level, package = sys._getframe(1), 1, __name__.partition(".")[0]
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level
