"""Whole states of environments: keyframes, MuJoCo's state vectors, and a file that goes on to the last bit."""

import hashlib
import os
import pickle
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import torch

from .arguments import real_array
from .batch_numbers import on_host
from .drivers.settings import Count
from .scalars import as_whole
from .sleep import SolverSleep
from .state.history import Ring, Samples, put_samples, rings_of_actuators, rings_of_sensors, shifted, taken_samples
from .state.memory import MEMORIES

_BITS = {
    name: int(getattr(mujoco.mjtState, f"mjSTATE_{name.upper()}"))
    for name in (
        *("time", "qpos", "qvel", "act", "history", "warmstart", "ctrl", "qfrc_applied", "xfrc_applied"),
        *("eq_active", "mocap_pos", "mocap_quat", "userdata", "plugin", "plastic"),
    )
}
_KEPT = {name: name for name in ("qpos", "qvel", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")}
_KEPT |= {"act": "act", "warmstart": "qacc_warmstart", "eq_active": "eq_active"}
_KEPT |= {memory.state: memory.field.name for memory in MEMORIES if memory.state}
"""Parts of a state vector that lie in memory, under these names."""
_HISTORIES = (("history_age", "history_ctrl", ""), ("sensor_age", "sensor_history", "sensor_tick"))
"""Ages, numbers and ticks of samples of controls, then of readings: what a history is made of, with the time."""
_ROUNDED = ("qpos", "qvel")
"""Those whose rounding is kept in a field of its own."""
_MOST_STEPS = 2**31 - 1


class SolverStates(SolverSleep):
    """The part of `RigidSolver` that takes and gives whole states."""

    def reset(self, envs_idx: Any = None, qpos: Any = None, qvel: Any = None) -> None:
        """Defined by `RigidSolver`."""
        raise NotImplementedError

    def forward(self, envs_idx: Any = None) -> None:
        """Defined by `RigidSolver`."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, torch.Tensor]:
        """Defined by `RigidSolver`."""
        raise NotImplementedError

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        """Defined by `RigidSolver`."""
        raise NotImplementedError

    def reset_to_keyframe(self, key: int | str, envs_idx: Any = None) -> None:
        """Reset environments, then put them into a keyframe of the model, as MuJoCo's `mj_resetDataKeyframe` does.

        Time, coordinates, controls and mocap bodies are the keyframe's; the time is rounded to whole steps.

        Args:
            key: name or number.
            envs_idx: indices of environments; None for all.

        Raises:
            KeyError: for an unknown name, with those there are.
            IndexError: for a keyframe or environment that does not exist.
            ValueError: `key` is neither a name nor a whole number, or no environment can start from the keyframe;
                nothing is changed then.
        """
        mj, number = self.model.mj, self._key(key)
        if self._steps_at(mj.key_time[number]) < 0 and self.model.sizes["nlag"]:
            raise ValueError(f"keyframe {key!r}: its time is before 0, where samples of delayed controls would be")
        self.reset(envs_idx, mj.key_qpos[number], mj.key_qvel[number])
        parts = {"act": mj.key_act, "ctrl": mj.key_ctrl, "mocap_pos": mj.key_mpos, "mocap_quat": mj.key_mquat}
        parts |= {memory.state: getattr(mj, memory.keyframe) for memory in MEMORIES if memory.keyframe}
        values = [np.ravel(parts[name][number]) for name in parts]
        spec = sum(_BITS[name] for name in (*parts, "time"))
        self.set_mj_state(np.concatenate([mj.key_time[number : number + 1], *values]), spec, envs_idx)
        self.forward(envs_idx)

    def _key(self, key: int | str) -> int:
        mj = self.model.mj
        if isinstance(key, str):
            number = mujoco.mj_name2id(mj, mujoco.mjtObj.mjOBJ_KEY, key)
            if number < 0:
                names = ", ".join(mj.key(i).name or f"#{i}" for i in range(mj.nkey)) or "none"
                raise KeyError(f"no keyframe is named {key!r}; there are: {names}")
            return number
        number = as_whole("key", key)
        if not 0 <= number < mj.nkey:
            raise IndexError(f"keyframe {number} does not exist: the model has {mj.nkey}")
        return number

    def _steps_at(self, times: Any) -> np.ndarray:
        """Return the number of whole steps that is nearest to each time in seconds.

        Raises:
            ValueError: for a time that is not finite, or beyond what steps can be counted to.
        """
        steps = np.rint(np.asarray(times) / float(self.model.mj.opt.timestep))
        wrong = ~(np.abs(steps) <= _MOST_STEPS)  # true for nan
        if wrong.any():
            raise ValueError(
                f"time {np.asarray(times)[wrong].flat[0]:g} s: it must be finite, and at most {_MOST_STEPS:,} steps"
            )
        return steps

    def _reset_memory(self, index: Any) -> None:
        """After a reset, set the memory of mechanisms that follows from numbers of environments' own."""
        for memory in MEMORIES:
            field, (names, compute) = memory.field, memory.reset or ((), None)
            if field.length(self._driver.sizes) and any(name in self._overrides for name in names):
                chosen = on_host(index)
                numbers = compute(self.model.mj, *(self._overrides.get(name, chosen) for name in names))
                for name in (field.name, f"eval_{field.name}"):
                    self._driver.write(name, self._numbers.numbers(numbers), index)

    def mj_state(self, spec: int = int(mujoco.mjtState.mjSTATE_INTEGRATION), envs_idx: Any = None) -> torch.Tensor:
        """States as MuJoCo's `mj_getState` gives them, (n, `mujoco.mj_stateSize(model.mj, spec)`), float64.

        In single precision a state is more than these numbers show (`docs/fields.md`, qpos_rest); `state_dict` and
        `save` have all of it. A history has its oldest sample first, where MuJoCo's ring begins anywhere; that of a
        sensor which Tumble does not compute is as after a reset.

        Args:
            spec: sum of elements of `mujoco.mjtState`.
            envs_idx: indices of environments; None for all.

        Raises:
            ValueError: for a spec with a part that Tumble does not have, user data.
            IndexError: for an environment that does not exist.
        """
        index = self._numbers.environments(envs_idx, self.num_envs)
        count = self.num_envs if index is None else len(index)
        columns = [torch.zeros((count, 0), dtype=torch.float64)]
        for name, size in self._state_parts(spec):
            if name in _KEPT:
                columns.append(self._driver.read(_KEPT[name], index).cpu().double())
            elif name == "time":
                columns.append(torch.from_numpy(self._times(index)))
            elif name == "history":
                columns.append(torch.from_numpy(self._history(index, count)))
            elif size:
                columns.append(torch.zeros((count, size), dtype=torch.float64))
        return torch.cat(columns, 1)

    def set_mj_state(
        self, values: Any, spec: int = int(mujoco.mjtState.mjSTATE_INTEGRATION), envs_idx: Any = None
    ) -> None:
        """Write states as MuJoCo's `mj_setState` does; `forward` then brings the derived quantities to them.

        Args:
            values: (n, size) as `mj_state` gives them, or (size,) for everyone; times are rounded to whole steps.
            spec: sum of elements of `mujoco.mjtState`.
            envs_idx: indices of n environments; None for all.

        Raises:
            ValueError: for a wrong shape, for a spec with a part that Tumble does not have, user data, for a time that
                is not finite, and for samples of a history that are not in the past; nothing is written then.
            IndexError: for an environment that does not exist.
        """
        index = self._numbers.environments(envs_idx, self.num_envs)
        count = self.num_envs if index is None else len(index)
        parts = self._state_parts(spec)
        width = sum(size for _, size in parts)
        rows = real_array("values", values).astype(np.float64, copy=False)
        if rows.shape not in ((count, width), (width,)):
            raise ValueError(f"state of spec {spec}: expected shape ({count}, {width}), got {rows.shape}")
        ends = np.cumsum([size for _, size in parts])
        given = {name: rows[..., end - size : end] for (name, size), end in zip(parts, ends, strict=True)}
        for name, part in given.items():
            if name not in (*_KEPT, "time", "history") and part.any():
                raise ValueError(f"state of spec {spec}: {name} is not 0, and Tumble has none")
        steps = self._steps_at(given["time"]) if "time" in given else None
        past, before = self._past(given, index), self._coordinates_before(index)
        for name, numbers in past.items():
            self._driver.write(name, numbers, index)
        for name, part in given.items():
            if name in _KEPT:
                self._driver.write(_KEPT[name], self._numbers.numbers(part), index)
                if name in _ROUNDED:
                    self._driver.write(f"{name}_rest", self._numbers.numbers(0.0), index)
        if steps is not None:
            self._driver.write_count(Count.STEPS, steps, index)
        self._wake_moved(before, index)
        if any(name in _ROUNDED for name, _ in parts):
            self._driver.clear_faults(index)
        self.edits += 1

    def _times(self, index: Any) -> np.ndarray:
        """Simulated seconds, (n, 1)."""
        steps = self._driver.count(Count.STEPS).cpu().numpy()
        chosen = steps if index is None else steps[on_host(index)]
        return chosen[:, None] * float(self.model.mj.opt.timestep)

    @cached_property
    def _rings(self) -> tuple[tuple[Ring, ...], tuple[Ring, ...]]:
        """Buffers of actuators, and of sensors."""
        return rings_of_actuators(self.model.mj), rings_of_sensors(self.model.mj)

    @cached_property
    def _history_of_reset(self) -> np.ndarray:
        """mjData.history (nhistory,) after a reset."""
        return np.array(mujoco.MjData(self.model.mj).history) if self.model.mj.nhistory else np.zeros(0)

    def _history(self, index: Any, count: int) -> np.ndarray:
        """mjData.history (n, nhistory) of n environments."""
        mj, times, buffers = self.model.mj, self._times(index), np.tile(self._history_of_reset, (count, 1))
        for rings, names in zip(self._rings, _HISTORIES, strict=True):
            put_samples(mj, rings, self._samples(names, index), times, buffers)
        return buffers

    def _samples(self, names: Sequence[str], index: Any) -> Samples:
        """Return what environments remember, in fields of these names."""
        ages, values, ticks = (
            self._driver.read(name, index).cpu().double().numpy() if name else np.zeros((1, 0)) for name in names
        )
        return Samples(ages, values, ticks[:, ::2] + ticks[:, 1::2])

    def _past(self, given: dict[str, np.ndarray], index: Any) -> dict[str, Any]:
        """Return the fields of the samples of controls and readings that parts of a state vector hold, by name."""
        mj, past = self.model.mj, dict[str, Any]()
        if not any(self._rings) or not {"time", "history"}.intersection(given):
            return past
        present = self._times(index)
        times = np.broadcast_to(np.atleast_2d(given.get("time", present)), present.shape)
        for rings, names in zip(self._rings, _HISTORIES, strict=True):
            if not rings:
                continue
            if "history" in given:
                buffers = np.broadcast_to(np.atleast_2d(given["history"]), (len(present), mj.nhistory))
                found = taken_samples(mj, rings, buffers, times)
            else:
                found = shifted(mj, rings, self._samples(names, index), times - present)
            past |= {names[0]: self._numbers.numbers(found.ages), names[1]: self._numbers.numbers(found.values)}
            if found.ticks.size:
                past[names[2]] = self._numbers.numbers(self._with_rounding(found.ticks))
        return past

    def _with_rounding(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers (n, k), each beside what the solver's precision takes off it, (n, 2 k)."""
        kept = numbers.astype(np.float32 if self.dtype == torch.float32 else np.float64)
        return np.stack((kept, numbers - kept), 2).reshape(len(numbers), -1)

    def _state_parts(self, spec: int) -> Sequence[tuple[str, int]]:
        """Names and numbers of the parts of a state vector, in MuJoCo's order."""
        mj = self.model.mj
        bits = int(spec) if isinstance(spec, mujoco.mjtState) else as_whole("spec", spec)
        chosen = [(name, mujoco.mj_stateSize(mj, bit)) for name, bit in _BITS.items() if bits & bit]
        if not 0 < bits < 1 << int(mujoco.mjtState.mjNSTATE):
            raise ValueError(f"spec {spec} is no sum of elements of mujoco.mjtState")
        for name, size in chosen:
            if size and name in ("userdata",):
                raise ValueError(f"spec {spec} asks for {name}, of which Tumble keeps none: leave mjSTATE_USERDATA out")
        return chosen

    def save(self, path: str | os.PathLike) -> None:
        """Write everything that the future depends on into a file: `load` goes on to the last bit, in any process.

        A file that exists is replaced at once, when the new one is whole.
        """
        path = Path(path)
        content = {"model": self._model_digest(), "state": self.state_dict()}
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
        try:
            torch.save(content, unfinished)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)

    def load(self, path: str | os.PathLike) -> None:
        """Go on where `save` left off.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: it is no such file, or of another model, precision or number of environments.
        """
        try:
            content = torch.load(path, weights_only=True, map_location="cpu")
            digest, state = content["model"], content["state"]
        except (RuntimeError, EOFError, KeyError, TypeError, pickle.UnpicklingError) as error:
            raise ValueError(f"{path}: not a file that RigidSolver.save wrote, or a damaged one") from error
        if digest != self._model_digest():
            raise ValueError(f"{path}: saved from another model; load it into a solver of the model it was saved from")
        try:
            self.load_state_dict(state)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def _model_digest(self) -> str:
        """Return a digest of all numbers of the model that kernels read."""
        digest = hashlib.sha256()
        for name in sorted(self.model.values):
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(self.model.values[name], np.float64).tobytes())
        return digest.hexdigest()
