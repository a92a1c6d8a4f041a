"""A driver whose state and inputs are part of torch's graph, and users' numbers that stay in it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
import torch

from ...base.arguments import as_environments
from ...base.batch_numbers import DeviceNumbers, HostNumbers
from ...gradients.levels import INPUT_MEMORY, SWITCHES
from ...gradients.steps import Own, Steps
from ...gradients.tangent_space import TangentSpace
from ...machine.runtime import Runtime
from ...model.model import Model
from ...model.state.memory import FORCES
from ...run.driver import Driver
from ...run.interface import STATE, Index, InPlaceColumns
from ...run.launches import Arrangement
from .graph_nodes import Evaluate, GraphPart, NodeRecord, TakeSteps, parts_of

_FORCES = tuple(field.name for field in FORCES if field.name not in SWITCHES)
_INPUTS = ("ctrl", "mocap_pos", "mocap_quat", *INPUT_MEMORY, *_FORCES)
"""The inputs by which steps have derivatives."""


class GraphNumbers(DeviceNumbers):
    """Tensors on a device, in torch's graph where the user's are.

    Args:
        dtype: the solver's precision.
        device: where the solver's numbers are.
        columns: whether the driver takes the numbers of environments on the device.
    """

    def __init__(self, dtype: torch.dtype, device: torch.device, columns: bool) -> None:
        super().__init__(dtype, device)
        self._index_device = device if columns else None

    def numbers(self, value: Any, name: str = "numbers") -> torch.Tensor:
        """Return a tensor of the solver's precision; errors as in `HostNumbers.numbers`."""
        if isinstance(value, torch.Tensor) and value.requires_grad and torch.is_grad_enabled():
            return value.to(self._device, self._torch_dtype)
        if isinstance(value, torch.Tensor) and value.device == self._device:
            return super().numbers(value, name)
        return torch.from_numpy(HostNumbers.numbers(self, value, name).copy()).to(self._device)

    def require_start(self, rows: torch.Tensor, nq: int, largest: float) -> None:
        """Refuse a start that is not finite, or larger than any state may be."""
        super().require_start(rows.detach(), nq, largest)

    def require_finite(self, name: str, rows: torch.Tensor) -> None:
        """Refuse numbers that are not finite."""
        super().require_finite(name, rows.detach())

    def environments(self, envs_idx: Any, num_envs: int) -> Any:
        """Environment indices (k,) on the driver's side; None for all; errors as in `as_environments`."""
        return as_environments(envs_idx, num_envs, self._index_device)


class GraphDriver(Driver):
    """A driver that records what happens to numbers which require gradients.

    Beside the memory it keeps tensors of the fields that are part of torch's graph: of the state, the inputs, and,
    under `eval_` and their names, those of the last evaluation. Steps and evaluations add nodes (`graph_nodes`) if they
    depend on one of these and gradients are enabled; all numbers are those of a `Driver`, to the last bit.

    Args:
        runtime, model, arrangement, outputs: as of `Driver`.

    Attributes:
        steps: derivatives of steps.
        space: the tangent space of qpos.
        own: returns the numbers of the model that environments have as their own; the solver sets it.

    Raises:
        NotImplementedError: a step of the model has no derivative, for a reason that the message names.
    """

    own: Callable[[Index], Own | None]

    def __init__(self, runtime: Runtime, model: Model, arrangement: Arrangement, outputs: Sequence[str]) -> None:
        self.steps, self.space = Steps(runtime, model), TangentSpace(model.mj)
        self._graph: dict[str, GraphPart] = {}
        self._state = ("qpos", *self.steps.memory)
        self._fields = (*self._state, *(name for name in _INPUTS if self.steps.length(name)))
        self._staged = int(model.mj.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4)
        self._rest: torch.Tensor | None = None
        super().__init__(runtime, model, arrangement, outputs)

    def detach(self) -> None:
        """Cut the graph: the present state and inputs become constants."""
        self._graph.clear()

    @property
    def records(self) -> bool:
        """True if steps and evaluations add nodes at present."""
        return torch.is_grad_enabled() and bool(parts_of(self._fields, self._graph))

    # state and inputs

    def read(self, name: str, index: Index = None) -> torch.Tensor:
        """Return a field of the state, (k, numbers); in the graph, if it is a part of it."""
        tensor = self._tensor(name)
        if tensor is None:
            return super().read(name, index)
        return tensor.clone() if index is None else tensor[self._at(index)]

    def read_columns(self, name: str, columns: np.ndarray, index: Index) -> torch.Tensor:
        """Return single numbers (k,) of a field of the state, (environments, k)."""
        tensor = self._tensor(name)
        if tensor is None:
            return super().read_columns(name, columns, index)
        rows = tensor if index is None else tensor[self._at(index)]
        return rows[:, self._at(columns)]

    def _tensor(self, name: str) -> torch.Tensor | None:
        """Return a field of all environments if it is part of the graph.

        The last evaluation of a Runge-Kutta step is not at the state of which the graph has a part.
        """
        staged = self._staged and name.startswith("eval_")
        return self._graph[name].tensor if name in self._graph and not staged else None

    def coordinates(self) -> torch.Tensor:
        """Return qpos and qvel, (num_envs, nq + nv)."""
        if self._graph.keys().isdisjoint(("qpos", "qvel")):
            return super().coordinates()
        return torch.cat((self.read("qpos"), self.read("qvel")), 1)

    def write(self, name: str, rows: Any, index: Index) -> None:
        """Set a field of the state of environments."""
        self._require_derivative(name, rows)
        super().write(name, _constant(rows), index)
        self._put(name, slice(None), rows, index)

    def write_columns(self, name: str, columns: np.ndarray, rows: Any, index: Index) -> None:
        """Set single numbers (k,) of a field of the state of environments."""
        self._require_derivative(name, rows)
        super().write_columns(name, columns, _constant(rows), index)
        self._put(name, columns, rows, index)

    def reset(self, index: Index, coordinates: Any) -> None:
        """Reset environments as `Driver.reset` does; of the graph they keep what `coordinates` bring."""
        super().reset(index, self._given(coordinates))
        self._forget(index)
        if _is_in_graph(coordinates):
            split = self._room.widths["qpos"]
            for name, rows in (("qpos", coordinates[:, :split]), ("qvel", coordinates[:, split:])):
                self._put(name, slice(None), rows, index)
                self._put(f"eval_{name}", slice(None), rows, index)

    def load_state_dict(self, state: Mapping[str, torch.Tensor], index: Index = None) -> None:
        """Restore a `state_dict`, which is no part of the graph; errors as in `Driver.load_state_dict`."""
        super().load_state_dict(state, index)
        self._forget(index)

    def view(self, name: str) -> InPlaceColumns | None:
        """Return None: numbers that change in place are no part of a graph."""
        return None

    def _given(self, rows: Any) -> Any:
        """Return numbers in the form that the arrangement takes."""
        plain = _constant(rows)
        return plain.numpy() if isinstance(plain, torch.Tensor) and isinstance(self._fresh, np.ndarray) else plain

    def _at(self, index: Any) -> torch.Tensor:
        """Return numbers of rows or columns as an index into the tensors."""
        return torch.as_tensor(index, device=self._batch.memory.device)

    def _require_derivative(self, name: str, rows: Any) -> None:
        """Refuse numbers in the graph for a field by which steps have no derivative.

        Raises:
            ValueError: with the name of the field.
        """
        if _is_in_graph(rows) and name.removeprefix("eval_") not in self._fields:
            raise ValueError(f"{name}: steps have no derivative by it; give a tensor without gradients, x.detach()")

    def _put(self, name: str, columns: np.ndarray | slice, rows: Any, index: Index) -> None:
        """Note in the graph that numbers of environments were written, (k, columns) or broadcast to it."""
        part, moving = self._graph.get(name), _is_in_graph(rows)
        if part is None and not moving:
            return
        live = np.zeros(self._room.widths[name], np.bool_) if part is None else part.live.copy()
        others = np.ones(len(live), np.bool_)
        others[columns] = False
        if moving or index is None:
            live[columns] = moving
        if not live.any():
            del self._graph[name]
            return
        places, envs = (
            self._at(np.arange(len(live))[columns]),
            self._at(np.arange(self.num_envs) if index is None else index),
        )
        with torch.enable_grad():
            rows = rows if isinstance(rows, torch.Tensor) else torch.as_tensor(rows)
            rows = rows.to(self._batch.memory.device, self._batch.memory.dtype).expand(len(envs), len(places))
            keeps = part is not None and (index is not None or (part.live & others).any())
            before = part.tensor if part is not None and keeps else Driver.read(self, name)
            self._graph[name] = GraphPart(before.index_put((envs[:, None], places), rows), live)

    def _forget(self, index: Index) -> None:
        """Note that everything of environments was written as constants."""
        for name in list(self._graph):
            if index is None:
                del self._graph[name]
            else:
                self._put(name, slice(None), Driver.read(self, name, index), index)

    # motion

    def step(self, substeps: int, controls: Any = None) -> None:
        """Take `substeps` physics steps under the present controls, or under others (num_envs, nu), which then hold."""
        if controls is not None:
            self.write("ctrl", controls, None)
        if self.records:
            if substeps > 1:
                self._record(substeps - 1)
            self._record(1)  # separately, as the last evaluation is that of the last step
            return
        super().step(substeps)
        for name in self._state:
            self._graph.pop(name, None)
        self._evaluated_at(parts_of(self._fields, self._graph), None)

    def _record(self, n: int) -> None:
        """Take steps as a node of the graph."""
        parts = parts_of(self._fields, self._graph)
        states = self._states(None, evaluated=False)
        super().step(n)
        ends = [Driver.read(self, name) for name in self._state]
        record = NodeRecord(self.steps, self.space, self.own(None), _live(parts), n)
        found = TakeSteps.apply(record, states, ends, *(part.tensor for part in parts.values()))
        for name, tensor in zip(self._state, found, strict=True):
            self._graph[name] = GraphPart(tensor, np.ones(tensor.shape[1], np.bool_))
        self._evaluated_at(parts, None)

    def rollout(self, controls: Any) -> torch.Tensor:
        """Take a step under each of the controls, as `Driver.rollout` does; nothing may be in the graph.

        Raises:
            ValueError: a gradient would be lost.
        """
        if torch.is_grad_enabled() and (_is_in_graph(controls) or parts_of(self._fields, self._graph)):
            raise ValueError(
                "rollout: of a solver with requires_grad=True it has no gradients; call step, or "
                "solver.gradients.rollout, or this under torch.no_grad()"
            )
        found = super().rollout(self._given(controls))
        self.detach()
        return found

    # evaluation

    def forward(self, index: Index) -> None:
        """Make the present state of environments, if finite, the state of their last evaluation; nothing moves."""
        super().forward(index)
        self._evaluated_at(parts_of(self._fields, self._graph), index)

    def _evaluated_at(self, parts: Mapping[str, GraphPart], index: Index) -> None:
        """Note at which parts of the graph environments were evaluated."""
        for name in self._fields:
            twin = f"eval_{name}"
            if index is not None and (name in parts or twin in self._graph):
                with torch.enable_grad():
                    rows = parts[name].tensor[self._at(index)] if name in parts else Driver.read(self, twin, index)
                    self._put(twin, slice(None), rows, index)
            elif index is None and name in parts:
                self._graph[twin] = parts[name]
            elif index is None:
                self._graph.pop(twin, None)

    def evaluate(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Return fields of environments at their last evaluation, (k, numbers) each.

        Fields of contacts and of their solver, of which there is no fixed number, are no part of the graph.
        """
        found, parts = super().evaluate(names, index), parts_of(self._fields, self._graph, "eval_")
        if not parts or not torch.is_grad_enabled():
            return found
        found |= {name: self.read(name, index) for name in names if name in STATE}
        outputs = tuple(name for name in names if name not in STATE and name in self.steps.outputs_known)
        if outputs:
            record = NodeRecord(self.steps, self.space, self.own(index), _live(parts), 1, outputs)
            tensors = [part.tensor if index is None else part.tensor[self._at(index)] for part in parts.values()]
            values = [found[name] for name in outputs]
            fields = Evaluate.apply(record, self._states(index, evaluated=True), values, *tensors)
            found |= dict(zip(outputs, fields, strict=True))
        return found

    def sense(self, names: Sequence[str], index: Index) -> dict[str, torch.Tensor]:
        """Return fields of environments at the state where sensors are evaluated; readings are no part of the graph."""
        with torch.no_grad():
            return super().sense(names, index)

    def _states(self, index: Index, evaluated: bool) -> torch.Tensor:
        """Return states and inputs of environments as rows of the memory, in double precision on the processor.

        Args:
            index: the environments.
            evaluated: whether they are those of the last evaluation.
        """
        groups, read = self._launches.groups, self._arrangement.read
        forces, kept = groups["FORCES"], groups["KEPT"].start
        if self._rest is None:
            self._rest = read(self._numbers, None, slice(forces.stop, None)).cpu().double()
        rest = self._rest if index is None else self._rest[torch.as_tensor(index).cpu()]
        if evaluated:
            places = [slice(kept, kept + forces.start), groups["KEPT_FORCES"]]
            return torch.cat((*(read(self._numbers, index, rows).cpu().double() for rows in places), rest), 1)
        states = torch.cat((read(self._numbers, index, slice(0, forces.stop)).cpu().double(), rest), 1)
        if self._batch.memory.dtype == torch.float32:
            for name in ("qpos", "qvel"):
                states[:, self.steps.rows[name]] += Driver.read(self, f"{name}_rest", index).cpu().double()
        return states


def _live(parts: Mapping[str, GraphPart]) -> dict[str, np.ndarray]:
    """Return the numbers of fields that are not constants."""
    return {name: np.flatnonzero(part.live) for name, part in parts.items()}


def _is_in_graph(rows: Any) -> bool:
    """Return True if numbers are part of torch's graph."""
    return isinstance(rows, torch.Tensor) and rows.requires_grad


def _constant(rows: Any) -> Any:
    """Return numbers without their graph."""
    return rows.detach() if isinstance(rows, torch.Tensor) else rows
