"""MuJoCo's state vectors, as of mj_getState and mj_setState, for many environments."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import mujoco
import numpy as np
import torch

from ...base.arguments import on_host, real_array
from ...files.mjmodel.history import History, Samples, put_samples, shifted, taken_samples
from ...machine.scalars import as_whole
from ...model.state.memory import MEMORIES
from ...run.settings import Count
from .environments import Environments
from .memory import HISTORIES, STATE_PARTS
from .sleep import Sleep

BITS = {
    name: int(getattr(mujoco.mjtState, f"mjSTATE_{name.upper()}"))
    for name in (
        *("time", "qpos", "qvel", "act", "history", "warmstart", "ctrl", "qfrc_applied", "xfrc_applied"),
        *("eq_active", "mocap_pos", "mocap_quat", "userdata", "plugin", "plastic"),
    )
}
"""Elements of mjtState, in MuJoCo's order."""
_MOST_STEPS = 2**31 - 1


class StateVectors:
    """Reads and writes the state vectors of environments."""

    def __init__(self, envs: Environments, sleep: Sleep) -> None:
        self._envs, self._sleep, self._mj = envs, sleep, envs.model.mj
        self._histories = [(rings, history) for history in HISTORIES if (rings := history.rings(self._mj))]

    def has_past(self) -> bool:
        """Return True if a step reads samples of the past; sensors' samples are read where readings are made."""
        return any(memory.aged and self._envs.model.sizes[memory.field.dims[0]] for memory in MEMORIES)

    def read(self, spec: int, envs_idx: Any) -> torch.Tensor:
        """State vectors (n, size), float64; errors as in `SolverState.mj_state`."""
        index, count = self._envs.chosen(envs_idx)
        columns = [torch.zeros((count, 0), dtype=torch.float64)]
        for name, size in self._parts(spec):
            if name in STATE_PARTS:
                columns.append(self._envs.driver.read(STATE_PARTS[name].name, index).cpu().double())
            elif name == "time":
                columns.append(torch.from_numpy(self._times(index)))
            elif name == "history":
                columns.append(torch.from_numpy(self._history(index, count)))
            elif size:
                columns.append(torch.zeros((count, size), dtype=torch.float64))
        return torch.cat(columns, 1)

    def write(self, values: Any, spec: int, envs_idx: Any) -> None:
        """Write state vectors (n, size) or (size,); errors as in `SolverState.set_mj_state`."""
        envs = self._envs
        index, count = envs.chosen(envs_idx)
        parts = self._parts(spec)
        width = sum(size for _, size in parts)
        rows = real_array("values", values).astype(np.float64, copy=False)
        if rows.shape not in ((count, width), (width,)):
            raise ValueError(f"state of spec {spec}: expected shape ({count}, {width}), got {rows.shape}")
        ends = np.cumsum([size for _, size in parts])
        given = {name: rows[..., end - size : end] for (name, size), end in zip(parts, ends, strict=True)}
        for name, part in given.items():
            if name not in (*STATE_PARTS, "time", "history") and part.any():
                raise ValueError(f"state of spec {spec}: {name} is not 0, and Tumble has none")
        steps = self.steps_at(given["time"]) if "time" in given else None
        past, before = self._past(given, index), self._sleep.coordinates_before(index)
        for field, numbers in past.items():
            envs.driver.write(field, numbers, index)
        written = [(STATE_PARTS[name], part) for name, part in given.items() if name in STATE_PARTS]
        for kept, part in written:
            envs.write(kept.name, part, index)
            if kept.coordinate:
                envs.write(f"{kept.name}_rest", 0.0, index)
        if steps is not None:
            envs.driver.write_count(Count.STEPS, steps, index)
        self._sleep.wake_moved(before, index)
        if any(kept.coordinate for kept, _ in written):
            envs.driver.clear_faults(index)
        envs.edits += 1

    def of_keyframe(self, key: int) -> tuple[np.ndarray, int]:
        """Return the state vector of a keyframe but its coordinates, and its spec."""
        fields = {"time": "key_time"} | {name: kept.key for name, kept in STATE_PARTS.items() if kept.key}
        parts = [(bit, np.ravel(getattr(self._mj, fields[name])[key])) for name, bit in BITS.items() if name in fields]
        return np.concatenate([numbers for _, numbers in parts]), sum(bit for bit, _ in parts)

    def steps_at(self, times: Any) -> np.ndarray:
        """Return the number of whole steps that is nearest to each time in seconds.

        Raises:
            ValueError: for a time that is not finite, or larger than steps can be counted to.
        """
        steps = np.rint(np.asarray(times) / float(self._mj.opt.timestep))
        wrong = ~(np.abs(steps) <= _MOST_STEPS)  # true for nan
        if wrong.any():
            raise ValueError(
                f"time {np.asarray(times)[wrong].flat[0]:g} s: it must be finite, and at most {_MOST_STEPS:,} steps"
            )
        return steps

    def _times(self, index: Any) -> np.ndarray:
        """Simulated seconds, (n, 1)."""
        steps = self._envs.driver.count(Count.STEPS).cpu().numpy()
        chosen = steps if index is None else steps[on_host(index)]
        return chosen[:, None] * float(self._mj.opt.timestep)

    @cached_property
    def _history_of_reset(self) -> np.ndarray:
        """mjData.history (nhistory,) after a reset."""
        return np.array(mujoco.MjData(self._mj).history) if self._mj.nhistory else np.zeros(0)

    def _history(self, index: Any, count: int) -> np.ndarray:
        """mjData.history (n, nhistory) of n environments; buffers that no field keeps are as after a reset."""
        times, buffers = self._times(index), np.tile(self._history_of_reset, (count, 1))
        for rings, history in self._histories:
            put_samples(self._mj, rings, self._samples(history, index), times, buffers)
        return buffers

    @torch.no_grad()
    def _samples(self, history: History, index: Any) -> Samples:
        """Return the remembered samples of environments."""
        ages, values, ticks = (
            self._envs.driver.read(name, index).cpu().double().numpy() if name else np.zeros((1, 0))
            for name in (history.ages, history.values, history.ticks)
        )
        return Samples(ages, values, ticks[:, ::2] + ticks[:, 1::2])

    def _past(self, given: dict[str, np.ndarray], index: Any) -> dict[str, Any]:
        """Return the fields of the samples that parts of a state vector hold, or whose ages follow from its time."""
        past: dict[str, Any] = {}
        if not self._histories or not {"time", "history"}.intersection(given):
            return past
        present = self._times(index)
        times = np.broadcast_to(np.atleast_2d(given.get("time", present)), present.shape)
        for rings, history in self._histories:
            if "history" in given:
                buffers = np.broadcast_to(np.atleast_2d(given["history"]), (len(present), self._mj.nhistory))
                found = taken_samples(self._mj, rings, buffers, times)
            else:
                found = shifted(self._mj, rings, self._samples(history, index), times - present)
            past |= {history.ages: found.ages, history.values: found.values}
            if found.ticks.size:
                past[history.ticks] = self._with_rounding(found.ticks)
        return {name: self._envs.numbers.numbers(numbers) for name, numbers in past.items()}

    def _with_rounding(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers (n, k), each with its rounding error in the solver's precision, (n, 2 k)."""
        kept = numbers.astype(np.float32 if self._envs.dtype == torch.float32 else np.float64)
        return np.stack((kept, numbers - kept), 2).reshape(len(numbers), -1)

    def _parts(self, spec: int) -> Sequence[tuple[str, int]]:
        """Names and numbers of the parts of a state vector, in MuJoCo's order."""
        bits = int(spec) if isinstance(spec, mujoco.mjtState) else as_whole("spec", spec)
        chosen = [(name, mujoco.mj_stateSize(self._mj, bit)) for name, bit in BITS.items() if bits & bit]
        if not 0 < bits < 1 << int(mujoco.mjtState.mjNSTATE):
            raise ValueError(f"spec {spec} is no sum of elements of mujoco.mjtState")
        if dict(chosen).get("userdata"):
            raise ValueError(f"spec {spec} asks for userdata, of which Tumble keeps none: leave mjSTATE_USERDATA out")
        return chosen
