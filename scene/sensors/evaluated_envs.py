"""The quantities that sensors read, of the environments that are asked for, each found once."""

from collections.abc import Sequence
from functools import cached_property

import torch

from ...physics.solver.readout.contacts import Contacts
from ..world import World


class EvaluatedEnvs:
    """Environments at their last evaluation: of the last step before it moved, or of a reset.

    Args:
        world: the scene.
        names: the quantities, by MuJoCo's names.
        rows: which environments, (k,) int64; None: all.
    """

    def __init__(self, world: World, names: Sequence[str], rows: torch.Tensor | None) -> None:
        self.world, self.rows = world, rows
        self.envs = None if rows is None else rows.cpu().numpy()
        self._found = world.solver.get_many(names, self.envs) if names else {}

    def __getitem__(self, name: str) -> torch.Tensor:
        """Return a quantity, (k, ...)."""
        return self._found[name]

    @property
    def index(self) -> slice | torch.Tensor:
        """The environments as an index into arrays of all environments."""
        return slice(None) if self.rows is None else self.rows

    @cached_property
    def _contacts(self) -> Contacts:
        return self.world.solver.contacts

    @cached_property
    def pressing(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Geoms (k, m, 2), normal forces (k, m) N, and forces (k, m, 3) N on geom 2, in the world; 0 for none."""
        contacts, rows = self._contacts, self.index
        force, frame = contacts.force[rows], contacts.frame[rows]
        return contacts.geom[rows], force[..., 0], (force[..., :3, None] * frame).sum(-2)
