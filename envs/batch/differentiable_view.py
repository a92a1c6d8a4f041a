"""Reading and stepping a batch's solver so that torch differentiates states by the controls and states before."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ...physics import RigidSolver
from ..arrays import Array, ArrayKind, row_all
from ..task.noise import Noise
from ..task.scans import RayScan
from ..task.task import CameraView, Start, StepResult, TaskState
from .views import BatchView

_STATE = ("qpos", "qvel", "act")


class DifferentiableView(BatchView):
    """A view of a solver whose states are parts of torch's graph since the last `detach`.

    The solver has the same numbers. The first state of an episode is a constant.
    """

    def __init__(
        self,
        solver: RigidSolver,
        reads: Sequence[str],
        cameras: Mapping[str, CameraView],
        rays: Mapping[str, RayScan],
        kind: ArrayKind,
        present: Sequence[str] = (),
    ) -> None:
        if present:
            raise NotImplementedError(f"differentiable: the task reads {', '.join(present)} of the state after a step")
        if not isinstance(solver, RigidSolver):
            raise NotImplementedError("differentiable: steps of matter have no derivatives, and the task has matter")
        super().__init__(solver, reads, cameras, rays, kind)
        self._rigid = solver
        self._held: dict[str, torch.Tensor] = {}
        self._fields: dict[str, torch.Tensor] | None = None  # None: the solver's
        self.detach()

    def detach(self) -> None:
        """Cut the graph: the present states become constants."""
        driver = self._rigid._driver
        self._held = {name: driver.read(name) for name in _STATE}
        if self._fields is not None:
            self._fields = {name: numbers.detach() for name, numbers in self._fields.items()}

    def step(self, n: int, controls: Any) -> None:
        """Take `n` physics steps under controls (num_envs, nu)."""
        if not torch.is_grad_enabled():
            super().step(n, controls)
            self._fields = None
            self.detach()
            return
        start = [self._held[name] for name in _STATE]
        found = self._rigid.gradients.recorder.record(start, controls[:, None], n, self._wanted)
        self._held = {"qpos": found.qpos[:, 0], "qvel": found.qvel[:, 0], "act": found.act[:, 0]}
        self._fields = {name: numbers[:, 0] for name, numbers in found.fields.items()}

    def coordinates(self) -> Array:
        """Return all coordinates, (num_envs, nq + nv)."""
        return torch.cat((self._held["qpos"], self._held["qvel"]), 1)

    def _found(self, rows: Array | None) -> dict[str, Array]:
        if self._fields is None or rows is not None:
            return super()._found(rows)
        return dict(self._fields)

    def restart(self, rows: Array, coordinates: Array, start: Start, noise: Noise) -> TaskState:
        """Put the environments `rows` (k,) into given coordinates (k, nq + nv); return their state."""
        state = super().restart(rows, coordinates.detach(), start, noise)
        driver = self._rigid._driver
        self._held = {name: _replaced(self._held[name], rows, driver.read(name)[rows]) for name in _STATE}
        if self._fields is not None:
            self._fields = {name: _replaced(old, rows, state.fields[name]) for name, old in self._fields.items()}
        return state

    def drive(self, inputs: Mapping[str, Array], rows: Array | None = None) -> None:
        """Set inputs of the solver; those that depend on states or actions are refused, as no gradient follows them."""
        for name, numbers in inputs.items():
            if torch.is_grad_enabled() and getattr(numbers, "requires_grad", False):
                raise NotImplementedError(
                    f"differentiable: the task drives {name} by numbers that depend on states or actions, and no "
                    "gradient flows through inputs; switch that off (rotor_drag=False of drones) or detach them"
                )
        super().drive(inputs, rows)

    def push(self, result: StepResult, state: TaskState) -> Array | None:
        """Write the velocities of a step's result; return the coordinates then, None if there are no others.

        Raises:
            NotImplementedError: the result has other positions.
        """
        if result.qpos is not None:
            raise NotImplementedError("differentiable: the task changes positions after a step, and no gradient flows")
        if result.qvel is None or bool(row_all(result.qvel == self._held["qvel"]).all()):
            return None
        self._rigid.set_state(qvel=result.qvel.detach())
        self._held = self._held | {"qvel": result.qvel}
        return self.coordinates()


def _replaced(tensor: torch.Tensor, rows: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Return a tensor with other rows, without a change of the tensor itself."""
    return tensor.index_copy(0, rows, values.to(tensor.dtype))
