"""Quantities that follow from the state, by MuJoCo's names, at the last evaluation."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ...machine.scalars import as_whole
from ...model.state.fields import QUANTITIES
from ...run.interface import STATE, InPlaceColumns
from ...run.settings import Count
from ..readout.contacts import PLACES, Contacts, batched_contacts, touching_geoms
from ..readout.contacts import SOURCES as CONTACT_SOURCES
from ..readout.derived import DERIVED, SENSORDATA, derive, sources_of
from ..readout.inspection import inspect_numbers
from .environments import Environments
from .sensor_reader import SensorReader, present_fields
from .sleep import Sleep

OWN_OF_QUANTITIES = (
    "body_iquat",
    "body_subtreemass",
    "geom_pos",
    "geom_quat",
    "cam_pos0",
    "cam_poscom0",
    "cam_mat0",
    "actuator_gear",
)
"""Fields of the model that `readout.derived` reads."""


class Quantities:
    """Quantities of all environments, which follow from their states.

    After `step()` they belong to the last evaluation, before the final integration, as MuJoCo's mj_step leaves them
    (with RK4: of its last stage). `forward()` brings them to the present state.
    """

    def __init__(self, envs: Environments, readings: SensorReader, sleep: Sleep) -> None:
        self._envs, self._readings, self._sleep = envs, readings, sleep

    def get(self, name: str, envs_idx: Any = None) -> torch.Tensor:
        """A quantity by MuJoCo's name: (n, items) or (n, items, components) of the environments `envs_idx`, a copy.

        `xpos xquat xmat xipos geom_xpos geom_xmat site_xpos site_xmat cam_xpos cam_xmat subtree_com cinert cvel cdof
        qM qfrc_bias qfrc_passive qfrc_actuator qfrc_smooth qacc_smooth qacc qfrc_constraint actuator_force cfrc_ext
        cacc cfrc_int subtree_linvel subtree_angmom solver_niter sensordata` and every other field of
        `docs/reference/fields.md`.

        Raises:
            KeyError: for an unknown name, with the nearest ones.
        """
        envs, sources = self._envs, sources_of((name,))
        index, _ = envs.chosen(envs_idx)
        if name == SENSORDATA:
            return self._readings.all(index)
        if name in STATE:
            return derive(envs.model, name, {name: envs.driver.read(name, index)})
        fields = envs.driver.evaluate(sources, index)
        return derive(envs.model, name, fields | envs.own(OWN_OF_QUANTITIES, index))

    def get_many(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """`get` for several quantities at once: quicker, and outputs are parts of one tensor."""
        driver = self._envs.driver
        index, _ = self._envs.chosen(envs_idx)
        sources = sources_of(names)
        fields = {name: driver.read(name, index) for name in sources if name in STATE}
        together = [name for name in sources if driver.delivers((name,))]
        fields |= driver.evaluate(together, index) if together else {}
        if others := [name for name in sources if name not in fields]:
            fields |= driver.evaluate(others, index)
        if not DERIVED.keys().isdisjoint(names):
            fields |= self._envs.own(OWN_OF_QUANTITIES, index)
        return {
            name: self._readings.all(index) if name == SENSORDATA else derive(self._envs.model, name, fields)
            for name in names
        }

    def get_present(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Quantities in the present state, after the final integration, by name; their shapes are those of `get`.

        MuJoCo's mj_step1 computes them so after mj_step, and so dm_control's tasks see them. In `sensordata` sensors of
        forces and accelerations keep the readings of the last evaluation. Each call costs an evaluation up to the
        last stage that a quantity needs.

        Raises:
            KeyError: for an unknown name, with the nearest ones.
        """
        envs, sensed = self._envs, self._readings.sources_of_present if SENSORDATA in names else ()
        index, _ = envs.chosen(envs_idx)
        fields = present_fields(envs, dict.fromkeys((*sources_of(names), *sensed)), index)
        readings = self._readings.present(fields, index) if SENSORDATA in names else None
        if not DERIVED.keys().isdisjoint(names):
            fields |= envs.own(OWN_OF_QUANTITIES, index)
        return {
            name: readings if name == SENSORDATA and readings is not None else derive(envs.model, name, fields)
            for name in names
        }

    def view(self, name: str) -> InPlaceColumns | None:
        """Return the place of a coordinate, an output or "faults" in memory that the next step overwrites.

        For a solver of one environment, or of lane width 1; writing to the place of "ctrl" sets
        the controls. Outputs belong to the last step; after a change from outside `refresh` brings them up to date.

        Returns:
            None if there is no such view: several environments in lanes, quantities made from several fields.
        """
        return None if name in DERIVED else self._envs.driver.view(name)

    def refresh(self) -> None:
        """Bring the outputs to the last evaluation of every environment; `get` does it, too."""
        self._envs.driver.refresh(None)

    @property
    def solver_niter(self) -> torch.Tensor:
        """Iterations of the constraint solver in the last evaluation (num_envs,), int32."""
        return self._envs.driver.count(Count.NITER)

    @property
    def contacts(self) -> Contacts:
        """Contacts of all environments; see `Contacts`."""
        fields, indices = self._envs.driver.evaluate_together(CONTACT_SOURCES, None)
        found = batched_contacts(self._envs.num_envs, fields, indices, self._envs.driver.sizes)
        return self._sleep.with_contacts_asleep(found)

    @property
    def touching(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Pairs of geoms in contact (num_envs, n, 2) int64, and which of the n are any (num_envs, n) bool.

        These are the contacts of `contacts`, in its order, without contacts among sleeping bodies. No forces are
        computed for them, so that this is much quicker if nothing else is asked for.
        """
        fields, indices = self._envs.driver.evaluate_together(PLACES, None)
        return touching_geoms(self._envs.num_envs, fields, indices, self._envs.driver.sizes)

    @torch.no_grad()
    def inspect(self, env: int) -> dict[str, np.ndarray]:
        """All quantities of one environment at its last evaluation, dense, in MuJoCo's names and order.

        Raises:
            IndexError: for an environment that does not exist.
        """
        envs = self._envs
        index, _ = envs.chosen([as_whole("env", env)])
        fields, indices = envs.driver.evaluate_together([f.name for f in QUANTITIES], index)
        numbers = {name: values[:1].cpu() for name, values in (fields | envs.own(OWN_OF_QUANTITIES, index)).items()}
        sensordata = self._readings.all(index)[0].cpu().numpy()
        return inspect_numbers(envs.model, numbers, indices[0].cpu(), envs.driver.sizes) | {SENSORDATA: sensordata}
