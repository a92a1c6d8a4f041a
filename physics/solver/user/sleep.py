"""Sleeping islands: which trees sleep, their contacts, and how they wake."""

from typing import Any

import numpy as np
import torch

from ...files.mjmodel.sleep import AWAKE
from ..readout.contacts import SOURCES, Contacts, batched_contacts, with_asleep
from .environments import Environments


class Sleep:
    """Sleep in a model with `<flag sleep="enable"/>`; in others all is awake.

    Islands sleep and wake as in MuJoCo (MuJoCo documentation, Simulation: Sleeping): by contacts and equalities with
    bodies that are awake, by new coordinates and by applied forces. Contacts among sleeping bodies are computed when
    they are read
    (`contacts.asleep`); a step that finds everything asleep does nothing.
    """

    def __init__(self, envs: Environments) -> None:
        self._envs, self._sleeps = envs, envs.model.sizes["nsleep"] > 0

    def asleep(self) -> torch.Tensor:
        """Return True where a kinematic tree sleeps (num_envs, ntree), bool, trees in MuJoCo's order."""
        envs = self._envs
        if not self._sleeps:
            return torch.zeros((envs.num_envs, int(envs.model.mj.ntree)), dtype=torch.bool, device=envs.device)
        return envs.driver.read("tree_asleep") >= 0.0

    def wake(self, index: Any) -> None:
        """Wake all trees of environments."""
        if self._sleeps:
            self._envs.write("tree_asleep", float(AWAKE), index)
            self._envs.edits += 1

    def coordinates_before(self, index: Any) -> torch.Tensor | None:
        """Coordinates (n, nq) that a write is about to change; None if that wakes no tree."""
        return self._envs.driver.read("qpos", index) if self._sleeps else None

    def reference_coordinates(self) -> torch.Tensor | None:
        """Coordinates (nq,) in which trees may begin asleep; None if no tree may."""
        if not self._sleeps:
            return None
        return torch.as_tensor(self._envs.model.mj.qpos0, dtype=self._envs.dtype, device=self._envs.device)

    def wake_moved(self, before: torch.Tensor | None, index: Any) -> None:
        """Wake islands with a tree whose coordinates differ from `before`, (n, nq) or (nq,)."""
        if before is None:
            return
        moved = self._envs.driver.read("qpos", index) != before
        label = self._envs.driver.read("tree_asleep", index)
        if not bool((moved.any() & (label >= 0.0).any()).item()):
            return
        trees = torch.as_tensor(self._qpos_trees(), device=moved.device)
        hit = torch.zeros(label.shape, dtype=torch.int32, device=moved.device)
        hit.index_add_(1, trees, moved.to(torch.int32))
        one_island = (label[:, :, None] == label[:, None, :]) & (label[:, :, None] >= 0.0)
        woken = (one_island & (hit > 0)[:, None, :]).any(dim=2)
        self._envs.write("tree_asleep", torch.where(woken, torch.full_like(label, float(AWAKE)), label), index)

    def _qpos_trees(self) -> np.ndarray:
        """Return the tree of every coordinate (nq,)."""
        mj = self._envs.model.mj
        return np.repeat(mj.body_treeid[mj.jnt_bodyid], np.diff([*mj.jnt_qposadr, mj.nq]))

    def with_contacts_asleep(self, contacts: Contacts) -> Contacts:
        """Return the contacts of the last evaluation with the contacts among sleeping bodies."""
        envs = self._envs
        if not self._sleeps:
            return contacts
        asleep = envs.driver.evaluate(("tree_asleep",), None)["tree_asleep"][: envs.num_envs] >= 0.0
        if not bool(asleep.any()):
            return contacts
        fields, indices = envs.driver.evaluate_as_if("tree_asleep", AWAKE, SOURCES)
        awake = batched_contacts(envs.num_envs, fields, indices, envs.driver.sizes)
        trees = envs.model.values["body_tree"][envs.model.mj.geom_bodyid]
        return with_asleep(contacts, awake, asleep, torch.as_tensor(trees, device=asleep.device))
