"""Warnings about faults: one for each kind of fault, with the environment, the step and what to change."""

import warnings
from collections.abc import Iterable

NON_FINITE = 1  # bit of solver.faults: the state would not stay finite; the environment stands still until it is reset
CONTACTS_FULL = 2  # bit of solver.faults: more contacts than there is room for; the deepest were kept

_STORIES = {
    NON_FINITE: (
        "its state stopped being finite, so it was held at its last finite state and terminated",
        "look at large actions, at forces or mocap poses that the task returned as inputs, and at states that were set "
        "from outside, or take a smaller timestep; if none of these is to blame, as in a model that fails at rest, "
        "precision 64 tells whether single precision is",
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
        self._told: set[int] = set()

    def report(self, faults: Iterable[tuple[int, int, int]], stacklevel: int) -> None:
        """Warn of the kinds of fault that no warning has been given of yet.

        Args:
            faults: (environment, bit mask, step of its episode) of every environment that has one.
            stacklevel: whose line the warning shows, as in `warnings.warn`; 2 is the caller of this method.
        """
        for env, mask, step in faults:
            for bit, (what, remedy) in _STORIES.items():
                if mask & bit and bit not in self._told:
                    self._told.add(bit)
                    warnings.warn(
                        f"environment {env}, step {step} of its episode: {what}. Remedy: {remedy}. Later faults of "
                        "this kind are only marked in info['fault'].",
                        RuntimeWarning,
                        stacklevel=stacklevel,
                    )
