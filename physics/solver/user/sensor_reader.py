"""Readings of a solver's sensors, and the steps in which they are remembered."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import mujoco
import numpy as np
import torch

from ...run.interface import STATE
from ...run.settings import NON_FINITE, Count
from ..queries.distances import OWN, SOURCES
from ..sensors.delays import DelayedReadings, Past
from ..sensors.readings import SensorReadings, sensor_name
from ..sensors.sensor_quantities import SensorQuantities
from .environments import Environments

OWN_OF_READINGS = (
    *("body_ipos", "body_iquat", "body_mass", "gravity", "geom_pos", "geom_quat"),
    *("geom_size", "geom_rbound", "jnt_stiffness", "qpos_spring", "tendon_stiffness", "tendon_lengthspring"),
    *("actuator_gear", "cam_pos0", "cam_poscom0", "cam_mat0"),
)
"""Numbers of the model that readings depend on, which may be per-environment parameters."""
_PAST = ("sensor_age", "sensor_history", "sensor_tick")
"""Fields of sensors' samples; each has a twin, `eval_...`, with the samples at the last evaluation."""


class SensorReader:
    """Reads the sensors of environments.

    Attributes:
        remembers: True if any sensor remembers its readings, so that it is read in every step.
    """

    def __init__(self, envs: Environments) -> None:
        self._envs, self._scene = envs, _Scene(envs)
        self.remembers = envs.model.sizes["nsensorsample"] > 0

    @cached_property
    def _readings(self) -> SensorReadings:
        return SensorReadings(self._envs.model)

    @cached_property
    def _delays(self) -> DelayedReadings:
        return DelayedReadings(self._envs.model)

    @cached_property
    def _recorded(self) -> SensorReadings:
        return SensorReadings(self._envs.model, [sensor.sensor for sensor in self._delays.sensors])

    def all(self, index: Any) -> torch.Tensor:
        """Readings of all sensors of environments that exist, (n, nsensordata); 0 for sensors that are not computed."""
        present = self._read_present(self._readings, index)
        return self._delays.shown(present, self._past("eval_", index)) if self.remembers else present

    @property
    def sources_of_present(self) -> tuple[str, ...]:
        """The fields that `present` is given."""
        return self._immediate.sources

    def present(self, fields: dict[str, torch.Tensor], index: Any) -> torch.Tensor:
        """Readings (n, nsensordata) in the present state, of which `sources_of_present` are given.

        Sensors of forces and accelerations, and those with delays or intervals, have the readings of `all`.
        """
        own, steps = self._envs.own(OWN_OF_READINGS, index), self._steps(self._immediate, Count.STEPS, index)
        now, columns = self._immediate.read(fields, own, self._scene, steps), self._immediate.columns
        if len(columns) == now.shape[1]:
            return now
        known = torch.as_tensor(columns, device=now.device)
        late = self.all(index) if self.remembers else self._read_present(self._late, index)
        return late.index_copy(1, known, now.index_select(1, known))

    @cached_property
    def _immediate(self) -> SensorReadings:
        """The sensors that follow from positions and velocities, and are not delayed."""
        return SensorReadings(self._envs.model, immediate_sensors(self._envs.model.mj))

    @cached_property
    def _late(self) -> SensorReadings:
        """The sensors of forces and accelerations."""
        mj = self._envs.model.mj
        return SensorReadings(self._envs.model, sorted({*range(mj.nsensor)} - {*immediate_sensors(mj)}))

    def one(self, sensor: int, envs_idx: Any) -> torch.Tensor:
        """Readings of one sensor that exists, (n, dim); errors as in `Sensors.read`."""
        refused, mj = self._readings.refused, self._envs.model.mj
        self._refuse({sensor: refused[sensor]} if sensor in refused else {})
        first = int(mj.sensor_adr[sensor])
        return self.all(self._envs.chosen(envs_idx)[0])[:, first : first + int(mj.sensor_dim[sensor])]

    def step(self, n: int, controls: Any = None) -> None:
        """Take steps one by one, under controls as `Driver.step` takes them, and remember the readings of each."""
        for _ in range(n):
            self._envs.driver.step(1, controls)
            self._remember()

    def rollout(self, controls: Any) -> torch.Tensor:
        """Take a step under each of the controls (num_envs, nstep, nu); qpos and qvel after each, side by side."""
        track = []
        for k in range(controls.shape[1]):
            self.step(1, controls[:, k])
            track.append(self._envs.driver.coordinates())
        return torch.stack(track, 1)

    def _refuse(self, sensors: Mapping[int, str]) -> None:
        """Raise NotImplementedError for sensors that cannot be read, if there are any; each has its reason."""
        if sensors:
            said = "; ".join(f"'{sensor_name(self._envs.model.mj, s)}' is {reason}" for s, reason in sensors.items())
            raise NotImplementedError(f"sensors that Tumble does not compute: {said}. Model.notes lists them")

    @torch.no_grad()
    def _read_present(self, readings: SensorReadings, index: Any) -> torch.Tensor:
        """Readings of environments at the evaluation that sensors see, without delays and intervals."""
        self._envs.runtime.require()
        names, driver = readings.sources, self._envs.driver
        if driver.sizes["nstart"]:
            fields = driver.sense(names, index)
        else:
            fields = driver.sense([name for name in names if name not in STATE], index)
            fields |= {name: driver.read(name, index) for name in names if name in STATE}
        own = self._envs.own(OWN_OF_READINGS, index)
        return readings.read(fields, own, self._scene, self._steps(readings, Count.EVALUATED, index))

    def _steps(self, readings: SensorReadings, count: Count, index: Any) -> torch.Tensor:
        """Return the steps taken before an evaluation, (n,); nothing if no sensor reads the clock."""
        if not readings.uses_clock:
            return torch.zeros(0)
        steps = self._envs.driver.count(count)
        return steps if index is None else steps[index]

    def _remember(self) -> None:
        """Store the readings of the step's evaluation as samples; the evaluation itself saw the earlier samples."""
        past, driver, dtype = self._past("", None), self._envs.driver, self._envs.dtype
        moved = (driver.count(Count.FAULT) & NON_FINITE) == 0
        later = self._delays.after_step(self._read_present(self._recorded, None), past, moved)
        ticks = later.ticks.to(dtype)
        pairs = torch.stack((ticks, (later.ticks - ticks).to(dtype)), 2).flatten(1)
        for name, numbers in zip(_PAST, (later.ages, later.readings, pairs), strict=True):
            self._envs.write(name, numbers, None)

    def _past(self, prefix: str, index: Any) -> Past:
        """Return the sensors' samples at present (prefix ""), or at the last evaluation ("eval_")."""
        ages, readings, ticks = (self._envs.driver.read(prefix + name, index) for name in _PAST)
        return Past(ages, readings, ticks[:, ::2].double() + ticks[:, 1::2].double())


def immediate_sensors(mj: mujoco.MjModel) -> list[int]:
    """Return the ids of the sensors that follow from positions and velocities, without delays."""
    now = (mj.sensor_needstage != int(mujoco.mjtStage.mjSTAGE_ACC)) & (mj.sensor_history[:, 0] == 0)
    return np.flatnonzero(now).tolist()


def present_fields(envs: Environments, names: Iterable[str], index: Any) -> dict[str, torch.Tensor]:
    """Return fields of environments in their present state, (k, numbers) each, by name."""
    driver, fields = envs.driver, {}
    for name in names:
        if name in STATE:
            now = name.removeprefix("eval_")
            fields[name] = driver.read(now if now in STATE else name, index)
    if computed := [name for name in names if name not in STATE]:
        fields |= driver.evaluate_present(computed, index)
    return fields


class _Scene:
    """The geoms of environments, as sensors see them; see `sensors.reader.Scene`."""

    def __init__(self, envs: Environments) -> None:
        self._envs = envs

    def cast_rays(
        self, quantities: SensorQuantities, body: int, pnt: torch.Tensor, vec: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Distances (n, k), -1 for none, and normals (n, k, 3) where rays (n, k, 3) hit, ignoring geoms of `body`."""
        caster, sizes = self._envs.caster, None
        if "geom_size" in quantities.own:
            sizes = caster.sized(quantities.own["geom_size"].double().cpu().numpy())
        poses = quantities["geom_xpos"], quantities["geom_xmat"]
        hits = caster.cast(caster.choose(None, True, body), poses, (pnt, vec), sizes, True)
        assert hits.normal is not None
        return hits.distance, hits.normal

    def measure(
        self, quantities: SensorQuantities, pairs: np.ndarray, distmax: float
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Distances (n, npairs) of pairs of geoms, at most `distmax`, and their nearest points (n, npairs, 6)."""
        own = {name: quantities.own[name].double() for name in OWN if name in quantities.own}
        fields = {name: quantities[name].flatten(1) for name in SOURCES}
        found = self._envs.distances.measure(pairs, fields, own, distmax)
        return found.dist.to(self._envs.dtype), found.fromto.to(self._envs.dtype)
