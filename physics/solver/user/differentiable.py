"""Steps of a solver as a function that torch differentiates."""

import warnings
from typing import Any, NamedTuple

import torch
from torch.autograd.function import once_differentiable

from ...gradients.steps import Own, Steps
from ...gradients.tangent_space import TangentSpace


class RolloutResult(NamedTuple):
    """The states in which the periods of a rollout ended.

    Attributes:
        qpos: (num_envs, periods, nq), m or rad.
        qvel: (num_envs, periods, nv), m/s or rad/s.
        act: (num_envs, periods, na).
    """

    qpos: torch.Tensor
    qvel: torch.Tensor
    act: torch.Tensor


class Recording(NamedTuple):
    """The data that the backward pass of a rollout needs.

    Attributes:
        steps: derivatives of steps.
        space: the tangent space of qpos.
        states: state and inputs at the start of each period, and after the last, (periods + 1, num_envs, numbers) on
            the processor, in double precision.
        rest: the other rows of the environments' memory, (num_envs, rows).
        own: numbers of the model that environments have as their own.
        n: steps of a period.
    """

    steps: Steps
    space: TangentSpace
    states: torch.Tensor
    rest: torch.Tensor
    own: Own | None
    n: int


class Periods(torch.autograd.Function):
    """A rollout's results as functions of its start and controls; backward recomputes each period from its start.

    Only states at the starts of periods are kept. Going back, the gradient by a state is multiplied by the Jacobian of
    the steps before it: reverse accumulation over time, with forward tangents within a step.
    """

    @staticmethod
    def forward(
        ctx: Any, recording: Recording, rollout: RolloutResult, *inputs: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """Return the results of a rollout that was taken from `inputs`: qpos, qvel, act, controls."""
        ctx.recording = recording
        ctx.save_for_backward(*inputs)  # torch refuses the backward pass if one of them was changed in place
        return tuple(part.clone() for part in rollout)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *by_results: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Return the gradients by qpos, qvel, act and controls."""
        inputs = ctx.saved_tensors
        found = _backward(ctx.recording, *(part.detach().cpu().double() for part in by_results))
        _warn_of_nonfinite(found[3])
        return None, None, *(x.to(like.device, like.dtype) for x, like in zip(found, inputs, strict=True))


def _backward(
    recording: Recording, by_qpos: torch.Tensor, by_qvel: torch.Tensor, by_act: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """Return the gradients by the first qpos, qvel and act, and by all controls."""
    steps, space, states, rest, own, n = recording
    nv, na, nstate, qpos = steps.nv, by_act.shape[2], steps.nstate, steps.rows["qpos"]
    by_controls = torch.zeros((len(by_qpos), len(states) - 1, len(steps.control_rows)), dtype=torch.float64)
    adjoint = torch.zeros((len(by_qpos), nstate), dtype=torch.float64)
    for period in reversed(range(len(states) - 1)):
        adjoint[:, :nv] += space.gradient_by_velocity(states[period + 1][:, qpos], by_qpos[:, period])
        adjoint[:, nv : 2 * nv] += by_qvel[:, period]
        adjoint[:, 2 * nv : 2 * nv + na] += by_act[:, period]
        start = torch.cat((states[period], rest), 1)
        for jacobian in reversed([found.clone() for found in steps.jacobians(start, n, own)]):
            back = torch.einsum("er,erd->ed", adjoint, jacobian)
            adjoint = back[:, :nstate]
            by_controls[:, period] += back[:, nstate:]
    by_start = space.gradient_by_coordinates(states[0][:, qpos], adjoint[:, :nv])
    return by_start, adjoint[:, nv : 2 * nv], adjoint[:, 2 * nv : 2 * nv + na], by_controls


def _warn_of_nonfinite(by_controls: torch.Tensor) -> None:
    """Warn of environments whose gradients are not finite."""
    wrong = (~by_controls.isfinite()).any(2)
    if wrong.any():
        env = int(wrong.any(1).nonzero()[0])
        last = int(wrong[env].nonzero()[-1])
        warnings.warn(
            f"rollout: the gradient of environment {env} is not finite from period {last} back; the motion is unstable "
            "over so long a horizon, or the environment was stopped by a fault: take shorter rollouts",
            RuntimeWarning,
            stacklevel=2,
        )
