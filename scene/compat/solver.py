"""The solver of a scene, which answers to calls of entities with numbers of the whole scene."""

import re
from collections.abc import Callable
from typing import Any

from ...physics.solver.solver import RigidSolver

_NUMBERS = ("links_idx", "dofs_idx", "qs_idx")
_CALLS = re.compile(r"(get|set)_(links_|dofs_|qpos|mass_mat|\w+_energy)|apply_links_")


class SceneSolver(RigidSolver):
    """The solver of a scene: a `RigidSolver` that answers to calls of entities, too, for all links, dofs, coordinates.

    `solver.get_links_pos(links_idx, envs_idx)`, `solver.get_dofs_velocity(dofs_idx)`, `solver.set_qpos(qpos)`: getters,
    setters and pushes of `RigidEntity`, with numbers of the whole scene. Names in both are the `RigidSolver`'s.

    Attributes:
        whole: returns the scene as one entity.
    """

    whole: Callable[[], Any] | None = None

    def __getattr__(self, name: str) -> Any:
        """Return a call of entities, for all of them.

        Raises:
            AttributeError: for an unknown name.
        """
        asked = self.whole and _CALLS.match(name) and getattr(self.whole(), name, None)
        if not asked:
            raise AttributeError(f"the solver of a scene has no attribute {name!r}")

        def call(*args: Any, **named: Any) -> Any:
            return asked(*args, **{f"{key}_local" if key in _NUMBERS else key: value for key, value in named.items()})

        return call
