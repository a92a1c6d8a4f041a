"""The sensors of a model, read in all environments at once, in torch, on the solver's device.

MuJoCo's `sensordata`: its order, cutoffs, and timing. After a step readings are those of the evaluation that the step
made, before it moved (with Runge-Kutta: of its first stage); `forward` brings them to the present state.

Readings are computed when they are asked for, and cost nothing otherwise. Most are a few numbers out of quantities that
a step computes anyway, so that one vectorised function a type of sensor is enough, and kernels stay small. Frames of
objects are made once, however many sensors look at them. What is read in the kernel, behind the feature `sensors` and
only in launches that are asked for it: contacts and limits, which only a kernel knows, as their number changes from
step to step (`sensed/contact_readings.py`, `sensed/limit_readings.py`), and accelerations of bodies and the
forces between them (`sensed/motion_readings.py`), whose sums along the tree took torch longer than a step of ants.

A solver made with outputs=("sensordata",) has its steps hand out all that readings are made of; for any other the first
reading after a step costs an evaluation. With Runge-Kutta it always does: a step's last evaluation is not the one that
sensors see.

Sensors that remember their readings (`nsample`, and with it `delay` and `interval`) are read in every step, each of
which is then a launch of its own (`delays.py`). What they remember is a part of the state.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import mujoco
import numpy as np
import torch

from ..batch_numbers import on_host
from ..drivers.interface import STATE
from ..drivers.settings import NON_FINITE, Count
from ..model.model import Model
from ..model.sensor_delays import recorded_sensors
from ..queries.distances import OWN, SOURCES, DistanceQuery
from ..rays.query import RayCaster
from ..readout.derived import SENSORDATA
from ..scalars import as_whole
from ..solver_part import SolverPart
from .delays import DelayedReadings, Past
from .readings import SensorReadings, sensor_name
from .sight import Sight

__all__ = ["SolverSensors", "sensor_sources"]

_OWN = (
    *("body_ipos", "body_iquat", "body_mass", "body_subtreemass", "body_inertia", "gravity", "geom_pos", "geom_quat"),
    *(
        "geom_size",
        "geom_rbound",
        "jnt_stiffness",
        "qpos_spring",
        "tendon_stiffness",
        "tendon_lengthspring",
        "actuator_gear",
        "cam_pos0",
        "cam_poscom0",
        "cam_mat0",
    ),
)
"""Numbers of the model that readings are made of, where environments have some of their own."""
_PAST = ("sensor_age", "sensor_history", "sensor_tick")
"""Fields of what sensors remember; of each there is another, `eval_...`, with what they did at the last evaluation."""


def sensor_sources(model: Model, outputs: Sequence[str]) -> tuple[str, ...]:
    """Fields that steps have to hand out where sensordata is among the outputs, or sensors remember their readings."""
    if model.sizes["nqbegin"]:
        return ()
    recorded = [sensor.sensor for sensor in recorded_sensors(model.mj)]
    chosen = None if SENSORDATA in outputs else recorded
    return () if chosen == [] else SensorReadings(model, chosen).sources


class SolverSensors(SolverPart):
    """The part of `RigidSolver` that reads sensors."""

    _caster: RayCaster | None = None
    _measurer: DistanceQuery | None = None

    @property
    def sensordata(self) -> torch.Tensor:
        """Readings of all sensors (num_envs, nsensordata), a copy, in MuJoCo's order.

        A sensor with a `delay` shows what it read so long ago, one with an `interval` what it read last.

        Raises:
            NotImplementedError: for sensors that Tumble does not compute, with their names.
        """
        return self._sensordata(None)

    def sensor(self, name: Any, envs_idx: Any = None) -> torch.Tensor:
        """Readings of one sensor (n, dim), a copy.

        Args:
            name: its name or number.
            envs_idx: indices of environments; None for all.

        Raises:
            KeyError: for an unknown name.
            ValueError: `name` is neither a name nor a whole number.
            IndexError: for a sensor or environment that does not exist.
            NotImplementedError: Tumble does not compute this one.
        """
        mj = self.model.mj
        if isinstance(name, str):
            index = mujoco.mj_name2id(mj, mujoco.mjtObj.mjOBJ_SENSOR, name)
            if index < 0:
                raise KeyError(f"no sensor is named {name!r}; there are {', '.join(self._sensor_names) or 'none'}")
        else:
            index = as_whole("name", name)
            if not 0 <= index < mj.nsensor:
                raise IndexError(f"sensor {index}: the model has {mj.nsensor}")
        if index in self._readings.refused:
            self._refuse({index: self._readings.refused[index]})
        adr, dim = int(mj.sensor_adr[index]), int(mj.sensor_dim[index])
        return self._readings_of_known(self._numbers.environments(envs_idx, self.num_envs))[:, adr : adr + dim]

    @cached_property
    def _readings(self) -> SensorReadings:
        return SensorReadings(self.model)

    @cached_property
    def _delays(self) -> DelayedReadings:
        return DelayedReadings(self.model)

    @cached_property
    def _recorded(self) -> SensorReadings:
        return SensorReadings(self.model, [sensor.sensor for sensor in self._delays.sensors])

    @property
    def _sensor_names(self) -> list[str]:
        return [sensor_name(self.model.mj, sensor) for sensor in range(self.model.mj.nsensor)]

    def _refuse(self, sensors: dict[int, str]) -> None:
        said = "; ".join(f"'{sensor_name(self.model.mj, s)}' is {reason}" for s, reason in sensors.items())
        raise NotImplementedError(
            f"sensors that Tumble does not compute: {said}. Take them out of the model, or read the others by "
            "solver.sensor(name)"
        )

    def _sensordata(self, index: Any) -> torch.Tensor:
        """Readings of all sensors of environments that exist, (n, nsensordata)."""
        if self._readings.refused:
            self._refuse(self._readings.refused)
        return self._readings_of_known(index)

    def _readings_of_known(self, index: Any) -> torch.Tensor:
        """The same, with zeros for those that cannot be read."""
        present = self._read_present(self._readings, index)
        return self._delays.shown(present, self._past_readings("eval_", index)) if self._remembers else present

    def _read_present(self, readings: SensorReadings, index: Any) -> torch.Tensor:
        """Readings of environments at the evaluation that sensors see, without delays and intervals."""
        self.runtime.require()
        names = readings.sources
        if self._driver.sizes["nqbegin"]:
            fields = self._driver.sense(names, index)
        else:
            fields = self._driver.sense([name for name in names if name not in STATE], index)
            fields |= {name: self._driver.read(name, index) for name in names if name in STATE}
        own = self._own_numbers(index)
        steps = torch.zeros(0)
        if readings.uses_clock:
            steps = self._driver.count(Count.EVALUATED)
            steps = steps if index is None else steps[index]
        return readings.read(fields, own, self, steps)

    # steps

    @cached_property
    def _remembers(self) -> bool:
        """True if any sensor remembers its readings."""
        return self.model.sizes["nsensorsample"] > 0

    def _take_steps(self, n: int) -> None:
        """Take steps under the present controls; one by one where sensors remember what they read in each of them."""
        if not self._remembers:
            self._driver.step(n)
            return
        for _ in range(n):
            self._driver.step(1)
            self._remember_readings()

    def _take_steps_under(self, controls: Any) -> torch.Tensor:
        """Take a step under each of the controls (num_envs, nstep, nu); qpos and qvel after each."""
        if not self._remembers:
            return self._driver.rollout(controls)
        track = []
        for k in range(controls.shape[1]):
            self._driver.write("ctrl", controls[:, k], None)
            self._take_steps(1)
            track.append(self._driver.coordinates())
        return torch.stack(track, 1)

    def _remember_readings(self) -> None:
        """After a step: the last evaluation knew what was remembered; now its readings belong to that as well."""
        past = self._past_readings("", None)
        moved = (self._driver.count(Count.FAULT) & NON_FINITE) == 0
        later = self._delays.after_step(self._read_present(self._recorded, None), past, moved)
        for prefix, known in (("eval_", past), ("", later)):
            ticks = known.ticks.to(self.dtype)
            pairs = torch.stack((ticks, (known.ticks - ticks).to(self.dtype)), 2).flatten(1)
            for name, numbers in zip(_PAST, (known.ages, known.readings, pairs), strict=True):
                self._driver.write(prefix + name, self._numbers.numbers(numbers), None)

    def _past_readings(self, prefix: str, index: Any) -> Past:
        """Return what sensors remember at present (prefix ""), or did at the last evaluation ("eval_")."""
        ages, readings, ticks = (self._driver.read(prefix + name, index) for name in _PAST)
        return Past(ages, readings, ticks[:, ::2].double() + ticks[:, 1::2].double())

    def _own_numbers(self, index: Any) -> dict[str, torch.Tensor]:
        names = [name for name in _OWN if name in self._overrides] if self._overrides else []
        found = {name: torch.from_numpy(self._overrides.get(name, on_host(index))) for name in names}
        return {name: numbers.to(self.device, self.dtype) for name, numbers in found.items()}

    def cast_rays(
        self, sight: Sight, body: int, pnt: torch.Tensor, vec: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Distances (n, k), -1 for none, and normals (n, k, 3) of what rays (n, k, 3) meet, but geoms of `body`."""
        if self._caster is None:
            self._caster = RayCaster(self.runtime, self.model.mj)
        sizes = None
        if "geom_size" in sight.own:
            sizes = self._caster.sized(sight.own["geom_size"].double().cpu().numpy())
        poses = sight["geom_xpos"], sight["geom_xmat"]
        hits = self._caster.cast(self._caster.choose(None, True, body), poses, (pnt, vec), sizes, True)
        assert hits.normal is not None
        return hits.distance, hits.normal

    def measure(self, sight: Sight, pairs: np.ndarray, distmax: float) -> tuple[torch.Tensor, torch.Tensor]:
        """Distances (n, npairs) of pairs of geoms, at most `distmax`, and their nearest points (n, npairs, 6)."""
        if self._measurer is None:
            self._measurer = DistanceQuery(self.runtime, self.model, self.device)
        own = {name: sight.own[name].double() for name in OWN if name in sight.own}
        fields = {name: sight[name].flatten(1) for name in SOURCES}
        found = self._measurer.measure(pairs, fields, own, distmax)
        return found.dist.to(self.dtype), found.fromto.to(self.dtype)
