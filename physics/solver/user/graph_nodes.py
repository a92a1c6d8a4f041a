"""Steps and evaluations as nodes of torch's graph; their backward passes compute Jacobians from recorded states."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch
from torch.autograd.function import once_differentiable

from ...gradients.steps import Own, Steps
from ...gradients.tangent_space import TangentSpace


class GraphPart(NamedTuple):
    """A field of state or inputs that is part of torch's graph.

    Attributes:
        tensor: its numbers, (environments, numbers).
        live: which of the numbers may depend on tensors that require gradients, bool (numbers,); others are constants.
    """

    tensor: torch.Tensor
    live: np.ndarray


class NodeRecord(NamedTuple):
    """The data that the backward pass of a node needs, beside the states.

    Attributes:
        steps: derivatives of steps.
        space: the tangent space of qpos.
        own: numbers of the model that environments have as their own.
        live: by the names of the fields on which the node depends, the numbers of them that are not constants.
        n: number of steps.
        outputs: fields that an evaluation computes.
    """

    steps: Steps
    space: TangentSpace
    own: Own | None
    live: dict[str, np.ndarray]
    n: int = 1
    outputs: tuple[str, ...] = ()


class TakeSteps(torch.autograd.Function):
    """The state after n steps under the same inputs, as a function of the state before them and of the inputs."""

    @staticmethod
    def forward(
        ctx: Any, record: NodeRecord, states: torch.Tensor, ends: list[torch.Tensor], *_: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Return `ends`, which steps from `states` (environments, rows) led to: qpos and the steps' other memory."""
        ctx.record = record
        ctx.save_for_backward(states, ends[0])
        return tuple(ends)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *by_ends: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradients by the fields of the record."""
        record, (states, qpos) = ctx.record, _saved(ctx)
        steps, like = record.steps, qpos
        by_qpos, *by_memory = (part.detach().cpu().double() for part in by_ends)
        by_qvel = record.space.gradient_by_velocity(qpos.cpu().double(), by_qpos)
        rows = _input_rows(record)
        whole, (states, finite) = torch.cat((by_qvel, *by_memory), 1), _without_infinities(states)
        by_inputs = whole.new_zeros((len(states), len(rows)))
        jacobians = steps.jacobians(states, record.n, record.own, inputs=rows)
        for jacobian in reversed([found.clone() for found in jacobians]):
            back = torch.einsum("er,erd->ed", whole, jacobian)
            whole = back[:, : steps.nstate]
            by_inputs += back[:, steps.nstate :]
        whole[~finite] = torch.nan
        _warn_of_nonfinite(whole, by_qpos)
        return None, None, None, *_by_fields(record, states, torch.cat((whole, by_inputs), 1), like)


class Evaluate(torch.autograd.Function):
    """Fields of an evaluation, as functions of the state and inputs there."""

    @staticmethod
    def forward(
        ctx: Any, record: NodeRecord, states: torch.Tensor, values: list[torch.Tensor], *_: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Return `values`, the outputs of the record at `states` (environments, rows)."""
        ctx.record, ctx.like = record, values[0].detach()[:0]
        ctx.save_for_backward(states)
        return tuple(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *by_values: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradients by the fields of the record."""
        record, (states,) = ctx.record, _saved(ctx)
        steps = record.steps
        if int(steps.model.mj.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4):
            raise NotImplementedError(
                "backward: quantities that follow from the state have no gradients with the integrator RK4; let the "
                "loss depend on coordinates and velocities alone, or take another integrator"
            )
        (states, finite), rows = _without_infinities(states), _input_rows(record)
        jacobian = next(steps.jacobians(states, 1, record.own, record.outputs, rows))[:, steps.nstate :]
        by_all = torch.cat([part.detach().cpu().double() for part in by_values], 1)
        back = torch.einsum("er,erd->ed", by_all, jacobian)
        back[~finite] = torch.nan
        return None, None, None, *_by_fields(record, states, back, ctx.like)


def _saved(ctx: Any) -> tuple[torch.Tensor, ...]:
    """Return the saved tensors of a node.

    Raises:
        RuntimeError: an earlier backward pass has freed them.
    """
    try:
        return ctx.saved_tensors
    except RuntimeError:
        raise RuntimeError(
            "backward: it went through these steps before, and their states were freed; cut the graph by a reset or "
            "`solver.gradients.detach()` after each backward pass, or call backward(retain_graph=True)"
        ) from None


def _without_infinities(states: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return states, zeros, which do no harm, instead of those that are not finite; and which (n,) are finite."""
    finite = states.isfinite().all(1)
    return torch.where(finite[:, None], states, 0.0), finite


def _input_rows(record: NodeRecord) -> list[int]:
    """Return the rows of the memory that are inputs on which a node depends."""
    steps = record.steps
    inputs = [(name, live) for name, live in record.live.items() if not _is_state(steps, name)]
    return [steps.rows[name].start + int(k) for name, live in inputs for k in live]


def _is_state(steps: Steps, name: str) -> bool:
    return name == "qpos" or name in steps.memory


def _by_fields(
    record: NodeRecord, states: torch.Tensor, gradient: torch.Tensor, like: torch.Tensor
) -> list[torch.Tensor]:
    """Return the gradients by fields, from the one by the state vector and the rows of `_input_rows`."""
    steps, found = record.steps, dict[str, torch.Tensor]()
    qpos, at = states[:, steps.rows["qpos"]], steps.nv
    found["qpos"] = record.space.gradient_by_coordinates(qpos, gradient[:, :at])
    for name in steps.memory:
        width = steps.length(name)
        found[name], at = gradient[:, at : at + width], at + width
    for name, live in record.live.items():
        if name not in found:
            found[name] = gradient.new_zeros((len(gradient), steps.length(name)))
            found[name][:, live], at = gradient[:, at : at + len(live)], at + len(live)
    return [found[name].to(like.device, like.dtype) for name in record.live]


def _warn_of_nonfinite(gradient: torch.Tensor, given: torch.Tensor) -> None:
    """Warn of environments whose gradients are not finite, where the gradients given to a node were."""
    wrong = ~gradient.isfinite().all(1) & given.isfinite().all(1)
    if wrong.any():
        warnings.warn(
            f"backward: the gradient of environment {int(wrong.nonzero()[0])} is not finite; the motion is unstable "
            "over so long a horizon, or the environment was stopped by a fault: take fewer steps between resets",
            RuntimeWarning,
            stacklevel=2,
        )


def parts_of(names: Sequence[str], graph: dict[str, GraphPart], prefix: str = "") -> dict[str, GraphPart]:
    """Return the parts of some fields that are in a graph, where their names have a prefix."""
    return {name: graph[prefix + name] for name in names if prefix + name in graph}
