"""Sleeping islands, as users see them: who sleeps, and how to wake them."""

from functools import cached_property
from typing import Any

import torch

from .model.sleeping import AWAKE, body_trees, qpos_trees
from .readout.contacts import SOURCES, Contacts, batched_contacts, with_asleep
from .solver_part import SolverPart


class SolverSleep(SolverPart):
    """The part of `RigidSolver` that knows which trees sleep, in a model with `<flag sleep="enable"/>`.

    Islands sleep and wake as in MuJoCo (MuJoCo documentation, Simulation: Sleeping): by contacts and equalities with
    what is awake, by `set_state` and by applied forces. Contacts among what sleeps are computed where they are read
    (`contacts.asleep`); a step that finds everything asleep does nothing.
    """

    edits: int

    @property
    def asleep(self) -> torch.Tensor:
        """True where a kinematic tree sleeps (num_envs, ntree), bool, trees in MuJoCo's order."""
        if not self._sleeps:
            return torch.zeros((self.num_envs, int(self.model.mj.ntree)), dtype=torch.bool, device=self.device)
        return self._driver.read("tree_asleep") >= 0.0

    def wake(self, envs_idx: Any = None) -> None:
        """Wake all trees of environments.

        Args:
            envs_idx: indices of environments; None for all.

        Raises:
            IndexError: for an environment that does not exist.
        """
        index = self._numbers.environments(envs_idx, self.num_envs)
        if self._sleeps:
            self._driver.write("tree_asleep", self._numbers.numbers(float(AWAKE)), index)
            self.edits += 1

    @cached_property
    def _sleeps(self) -> bool:
        return self.model.sizes["nsleep"] > 0

    def _with_contacts_asleep(self, contacts: Contacts) -> Contacts:
        """Contacts of the last evaluation with those among what sleeps."""
        if not self._sleeps:
            return contacts
        asleep = self._driver.evaluate(("tree_asleep",), None)["tree_asleep"][: self.num_envs] >= 0.0
        if not bool(asleep.any()):
            return contacts
        fields, indices = self._driver.evaluate_awake(SOURCES)
        awake = batched_contacts(self.num_envs, fields, indices, self._driver.sizes)
        trees = body_trees(self.model.mj)[self.model.mj.geom_bodyid]
        return with_asleep(contacts, awake, asleep, torch.as_tensor(trees, device=asleep.device))

    def _coordinates_before(self, index: Any) -> torch.Tensor | None:
        """Coordinates (n, nq) that a write is about to change, if that may wake a tree."""
        return self._driver.read("qpos", index) if self._sleeps else None

    def _reference_coordinates(self) -> torch.Tensor | None:
        """Coordinates (nq,) in which trees may begin asleep, where any may."""
        if not self._sleeps:
            return None
        return torch.as_tensor(self.model.mj.qpos0, dtype=self.dtype, device=self.device)

    def _wake_moved(self, before: torch.Tensor | None, index: Any) -> None:
        """Wake islands with a tree whose coordinates are no longer those of `before`."""
        if before is None:
            return
        moved = self._driver.read("qpos", index) != before
        label = self._driver.read("tree_asleep", index)
        if not bool((moved.any() & (label >= 0.0).any()).item()):
            return
        trees = torch.as_tensor(qpos_trees(self.model.mj), device=moved.device)
        hit = torch.zeros(label.shape, dtype=torch.int32, device=moved.device)
        hit.index_add_(1, trees, moved.to(torch.int32))
        one_island = (label[:, :, None] == label[:, None, :]) & (label[:, :, None] >= 0.0)
        woken = (one_island & (hit > 0)[:, None, :]).any(dim=2)
        rows = torch.where(woken, torch.full_like(label, float(AWAKE)), label)
        self._driver.write("tree_asleep", self._numbers.numbers(rows), index)
