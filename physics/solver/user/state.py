"""The state of environments: read, written, reset, saved."""

import os
from collections.abc import Mapping
from typing import Any

import mujoco
import torch

from ...base.arguments import on_host
from ...machine.scalars import as_whole
from ...model.state.snapshot import LARGEST
from ...run.interface import is_of_one
from ...run.settings import Count
from . import saved_parameters, state_file
from .columns import as_columns, as_entries
from .environments import Environments
from .inputs import checked_inputs
from .memory import FIELDS, LASTING, REFERENCES, SETTABLE
from .mj_state import StateVectors
from .sleep import Sleep


class SolverState:
    """The state of all environments. Properties return copies; `set`, `reset` and `load` write.

    In single precision a state is more than `qpos` and `qvel` show (`docs/reference/fields.md`, qpos_rest): values
    written here are taken as exact. `state_dict` and `load_state_dict` go on to the bit.
    """

    def __init__(self, envs: Environments, sleep: Sleep) -> None:
        self._envs, self._sleep = envs, sleep
        self._vectors = StateVectors(envs, sleep)
        self._nq, self._nv = int(envs.model.mj.nq), int(envs.model.mj.nv)

    @property
    def qpos(self) -> torch.Tensor:
        """Generalised coordinates (num_envs, nq); m or rad, quaternions w first."""
        return self._envs.driver.read("qpos")

    @property
    def qvel(self) -> torch.Tensor:
        """Generalised velocities (num_envs, nv); m/s or rad/s."""
        return self._envs.driver.read("qvel")

    @property
    def act(self) -> torch.Tensor:
        """Activations of actuators (num_envs, na)."""
        return self._envs.driver.read("act")

    @property
    def plastic(self) -> torch.Tensor:
        """Rest positions of plastic springs (num_envs, nplastic), m or rad: mjData.plastic."""
        return self._envs.driver.read("plastic")

    @property
    def qacc_warmstart(self) -> torch.Tensor:
        """Acceleration at which the constraint solver starts (num_envs, nv)."""
        return self._envs.driver.read("qacc_warmstart")

    @property
    def time(self) -> torch.Tensor:
        """Simulated seconds since each environment's reset (num_envs,), float64."""
        steps = self._envs.driver.count(Count.STEPS)
        return steps.to(torch.float64) * float(self._envs.model.mj.opt.timestep)

    @property
    def faults(self) -> torch.Tensor:
        """Bits of errors that occurred (num_envs,), int32: `NON_FINITE`, `CONTACTS_FULL`; cleared by `reset` and `set`.

        With a full list of contacts (`Model.max_contacts`) an environment goes on with its deepest ones.
        """
        return self._envs.driver.count(Count.FAULT)

    @property
    def contacts_needed(self) -> torch.Tensor:
        """Most contacts that an environment with the fault `CONTACTS_FULL` had at once (num_envs,), int32; else 0."""
        return self._envs.driver.count(Count.NEEDED)

    @property
    def any_fault(self) -> bool:
        """True if any environment has a fault: quicker than all their faults."""
        return self._envs.driver.any_fault()

    @property
    def edits(self) -> int:
        """Number of calls that changed coordinates: `step`, `rollout`, and the writing calls of this class."""
        return self._envs.edits

    @property
    def asleep(self) -> torch.Tensor:
        """True where a kinematic tree sleeps (num_envs, ntree), bool, trees in MuJoCo's order."""
        return self._sleep.asleep()

    def wake(self, envs_idx: Any = None) -> None:
        """Wake all trees of environments.

        Args:
            envs_idx: indices of environments; None for all.

        Raises:
            IndexError: for an environment that does not exist.
        """
        self._sleep.wake(self._envs.chosen(envs_idx)[0])

    def coordinates(self) -> torch.Tensor:
        """`qpos` and `qvel` side by side (num_envs, nq + nv); the environments of a column lie together in memory."""
        return self._envs.driver.coordinates()

    def set(self, envs_idx: Any = None, **values: Any) -> None:
        """Write parts of the state: `set([3, 5], qpos=positions)`.

        The warm start and any fault of these environments are forgotten. Values that are not finite (or beyond 1e10)
        stop their environment at the next step.

        Args:
            envs_idx: indices of n environments; None for all.
            values: `qpos` (n, nq), `qvel` (n, nv) in m/s or rad/s, `act` (n, na) activations, `plastic` (n, nplastic)
                rest positions of plastic springs, m or rad. Parts that are None or not named stay as they are.

        Raises:
            ValueError: for a wrong shape, naming the expected one, or values that are not numbers; nothing is written
                then.
            IndexError: for an environment that does not exist.
            TypeError: for an unknown part.
        """
        envs = self._envs
        index, count = envs.chosen(envs_idx)
        for name in values:
            if name not in SETTABLE:
                raise TypeError(f"no part of the state is named {name!r}; there are {', '.join(SETTABLE)}")
        rows = {  # all of them before anything is written: it may raise
            name: envs.numbers.rows(name, values[name], count, FIELDS[name].length(envs.model.sizes))
            for name in SETTABLE
            if values.get(name) is not None
        }
        zero, before = envs.numbers.numbers(0.0), self._sleep.coordinates_before(index)
        for name, numbers in rows.items():
            envs.driver.write(name, numbers, index)
            if SETTABLE[name].coordinate:
                envs.driver.write(f"{name}_rest", zero, index)
        self._sleep.wake_moved(before, index)
        envs.driver.write("qacc_warmstart", zero, index)
        envs.driver.clear_faults(index)
        envs.edits += 1

    def set_columns(self, envs_idx: Any = None, **parts: tuple[Any, Any]) -> None:
        """Write single numbers of the state: `set_columns([3, 5], qvel=([0, 2], speeds))`; others are not touched.

        The warm start and any fault of these environments are forgotten.

        Args:
            envs_idx: indices of n environments; None for all.
            parts: of each part that `set` takes the indices of k columns, and the values to write: (n, k), (k,) or
                one number, finite.

        Raises:
            ValueError: for a wrong shape, naming the expected one, or values that are not finite; nothing is written
                then.
            IndexError: for an environment or a column that does not exist.
            TypeError: for an unknown part.
        """
        envs = self._envs
        index, count = envs.chosen(envs_idx)
        entries = {}
        for name, (columns, values) in parts.items():
            if name not in SETTABLE:
                raise TypeError(f"no part of the state is named {name!r}; there are {', '.join(SETTABLE)}")
            chosen = as_columns(f"columns of {name}", columns, FIELDS[name].length(envs.model.sizes))
            entries[name] = chosen, as_entries(envs.numbers, name, values, count, len(chosen))
        zero, before = envs.numbers.numbers(0.0), self._sleep.coordinates_before(index)
        for name, (chosen, values) in entries.items():
            envs.driver.write_columns(name, chosen, values, index)
            if SETTABLE[name].coordinate:
                envs.driver.write_columns(f"{name}_rest", chosen, zero, index)
        self._sleep.wake_moved(before, index)
        envs.driver.write("qacc_warmstart", zero, index)
        envs.driver.clear_faults(index)
        envs.edits += 1

    def get_columns(self, name: str, columns: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Single numbers of a part of the state (n, k), a copy; arguments and errors as in `set_columns`."""
        if name not in FIELDS:
            raise TypeError(f"no part of the state is named {name!r}; there are {', '.join(FIELDS)}")
        chosen = as_columns(f"columns of {name}", columns, FIELDS[name].length(self._envs.model.sizes))
        return self._envs.driver.read_columns(name, chosen, self._envs.chosen(envs_idx)[0])

    def reset(
        self,
        envs_idx: Any = None,
        qpos: Any = None,
        qvel: Any = None,
        parameters: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        """Put environments into the model's reference state, or the given one; everything else is reset, too.

        Time, warm start and faults are cleared, inputs are the given ones or the model's, and the derived quantities
        belong to the new state. Per-environment parameters (`Parameters.set`) stay, except those that the
        reset brings; so do gains of dofs.

        Args:
            envs_idx: indices of environments; None for all.
            qpos: (n, nq), n being num_envs or the number of `envs_idx`; None for the reference.
            qvel: (n, nv), m/s or rad/s; None for zero.
            parameters: model numbers by name, (n, ...) each, as `Parameters.set` takes them.
            inputs: inputs by name, (n, ...) each, as `Inputs.set` takes them.

        Raises:
            ValueError: for a wrong shape, naming the expected one, and for numbers that no environment can start from.
            IndexError: for an environment that does not exist.
            KeyError: for an unknown name of a parameter.
            TypeError: for an unknown name of an input.
        """
        envs = self._envs
        index, count = envs.chosen(envs_idx)
        start = self._start(count, qpos, qvel)  # before anything is changed: it may raise
        begins = checked_inputs(envs, inputs, count) if inputs else {}
        if parameters:
            given = envs.overrides.checked(parameters, index)
            if qpos is None and "qpos0" in given:
                self._start(count, given["qpos0"], qvel)
            envs.overrides.set(given, index)
        if qpos is None and "qpos0" in envs.overrides:
            start = self._start(count, envs.overrides.get("qpos0", on_host(index)), qvel)
        if envs.lasting:
            begins |= {name: envs.driver.read(name, index).detach() for name in envs.lasting}
        if envs.overrides:
            begins |= self._own_references(index)
        envs.driver.reset(index, start)
        envs.begin(begins, index)
        if start is not None:
            self._sleep.wake_moved(self._sleep.reference_coordinates(), index)
        envs.edits += 1

    def _own_references(self, index: Any) -> dict[str, Any]:
        """Fields whose value after a reset depends on numbers of environments' own, (n, k) each, by name."""
        envs, found = self._envs, dict[str, Any]()
        for name, (parameters, rows) in REFERENCES.items():
            if FIELDS[name].length(envs.model.sizes) and any(parameter in envs.overrides for parameter in parameters):
                own = (envs.overrides.get(parameter, on_host(index)) for parameter in parameters)
                found[name] = rows(envs.model.mj, *own)
        return found

    def _start(self, count: int, qpos: Any, qvel: Any) -> Any:
        """Coordinates (count, nq + nv) in which environments start; None: the reference state."""
        if qpos is None and qvel is None:
            return None
        numbers = self._envs.numbers
        start = numbers.rows("qpos", self._envs.model.mj.qpos0 if qpos is None else qpos, count, self._nq)
        moving = None if qvel is None else numbers.rows("qvel", qvel, count, self._nv)
        rows = numbers.side_by_side(count, start, moving, self._nv)
        numbers.require_start(rows, self._nq, LARGEST)
        return rows

    def reset_to_keyframe(self, key: int | str, envs_idx: Any = None) -> None:
        """Reset environments, then put them into a keyframe of the model, as MuJoCo's `mj_resetDataKeyframe` does.

        Time, coordinates, controls and mocap bodies are the keyframe's; the time is rounded to whole steps.

        Args:
            key: name or number.
            envs_idx: indices of environments; None for all.

        Raises:
            KeyError: for an unknown name, with the names that exist.
            IndexError: for a keyframe or environment that does not exist.
            ValueError: `key` is neither a name nor a whole number, or no environment can start from the keyframe;
                nothing is changed then.
        """
        model, number = self._envs.model, _keyframe(self._envs.model.mj, key)
        if self._vectors.steps_at(model.mj.key_time[number]) < 0 and self._vectors.has_past():
            raise ValueError(f"keyframe {key!r}: its time is before 0, where samples of delayed controls would be")
        self.reset(envs_idx, model.mj.key_qpos[number], model.mj.key_qvel[number])
        self._vectors.write(*self._vectors.of_keyframe(number), envs_idx)
        self._envs.driver.forward(self._envs.chosen(envs_idx)[0])

    def mj_state(self, spec: int = int(mujoco.mjtState.mjSTATE_INTEGRATION), envs_idx: Any = None) -> torch.Tensor:
        """States as MuJoCo's `mj_getState` gives them, (n, `mujoco.mj_stateSize(model.mj, spec)`), float64.

        A history has its oldest sample first, where MuJoCo's ring begins anywhere; that of a sensor which Tumble does
        not compute is as after a reset.

        Args:
            spec: sum of elements of `mujoco.mjtState`.
            envs_idx: indices of environments; None for all.

        Raises:
            ValueError: for a spec with a part that Tumble does not have, user data.
            IndexError: for an environment that does not exist.
        """
        return self._vectors.read(spec, envs_idx)

    def set_mj_state(
        self, values: Any, spec: int = int(mujoco.mjtState.mjSTATE_INTEGRATION), envs_idx: Any = None
    ) -> None:
        """Write states as MuJoCo's `mj_setState` does; `forward` then brings the derived quantities to them.

        Args:
            values: (n, size) as `mj_state` gives them, or (size,) for all; times are rounded to whole steps.
            spec: sum of elements of `mujoco.mjtState`.
            envs_idx: indices of n environments; None for all.

        Raises:
            ValueError: for a wrong shape, for a spec with a part that Tumble does not have, user data, for a time that
                is not finite, and for samples of a history that are not in the past; nothing is written then.
            IndexError: for an environment that does not exist.
        """
        self._vectors.write(values, spec, envs_idx)

    def state_dict(self, envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """Everything that the future depends on, to the last bit: (n, numbers) each, whatever the lane width.

        The state lies on the solver's device. Per-environment parameters are there too,
        in the processor's memory.

        Args:
            envs_idx: indices of n environments; None for all.

        Raises:
            IndexError: for an environment that does not exist.
        """
        index, _ = self._envs.chosen(envs_idx)
        return self._envs.driver.state_dict(index) | saved_parameters.saved(self._envs, index)

    def check_state_dict(self, state: Mapping[str, torch.Tensor], count: int) -> None:
        """Refuse a `state_dict` that is not of `count` environments, with the errors of `load_state_dict`."""
        self._checked(state, count)

    def load_state_dict(self, state: dict[str, torch.Tensor], envs_idx: Any = None) -> None:
        """Go on where `state_dict` left off: each environment where one was, or all of them where a single one was.

        Args:
            state: of as many environments as are named, or of one.
            envs_idx: indices of environments; None for all. The others stay as they are.

        Raises:
            ValueError: the state is of another model, timestep, precision or number of environments; nothing is changed
                then.
            IndexError: for an environment that does not exist.
        """
        envs = self._envs
        index, count = envs.chosen(envs_idx)
        numbers = self._checked(state, 1 if is_of_one(state) else count)
        envs.driver.load_state_dict(state, index)
        envs.lasting |= envs.driver.unlike_the_reference(state, LASTING - envs.lasting)
        saved_parameters.load(envs, numbers, index)
        envs.edits += 1

    def _checked(self, state: Mapping[str, torch.Tensor], count: int) -> dict[str, Any]:
        """Return the parameters in a `state_dict` of `count` environments by name, once all of it is known to fit."""
        numbers = saved_parameters.checked(self._envs, state, count)
        self._envs.driver.check_state(state, count)
        saved_parameters.check_timestep(self._envs.model.mj, state, count)
        return numbers

    def save(self, path: str | os.PathLike) -> None:
        """Write everything that the future depends on into a file: `load` goes on to the last bit, in any process.

        A file that exists is replaced at once, when the new one is whole.
        """
        state_file.save(path, self._envs.model, self.state_dict())

    def load(self, path: str | os.PathLike) -> None:
        """Go on where `save` left off.

        Raises:
            FileNotFoundError: the file does not exist.
            ValueError: it is no saved state, or of another model, precision or number of environments.
        """
        state = state_file.load(path, self._envs.model)
        try:
            self.load_state_dict(state)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


def _keyframe(mj: mujoco.MjModel, key: int | str) -> int:
    """Return the number of a keyframe; errors as in `SolverState.reset_to_keyframe`."""
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
