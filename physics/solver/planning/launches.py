"""Launches of the kernels of chains: tensors in, tensors out."""

from typing import NamedTuple

import torch

from ...machine.runtime import Runtime
from ...run.tensor_kernels import Argument, Launch, Recipe, shared_kernels
from .chain import Chain
from .kernels import place_kernel, solve_kernel

_WORKERS, _ROOM = 1 << 16, 1 << 28  # most threads of a GPU at once, and bytes that they may work in


class Settings(NamedTuple):
    """The numbers of a search.

    Attributes:
        attempts: most attempts, the first of which begins at the given configuration.
        steps: most steps of an attempt.
        respect: True if limits of joints are respected.
        pos_tol: m.
        rot_tol: rad.
        damping: of least squares.
        max_step: rad or m, the longest change of a dof in a step.
    """

    attempts: int
    steps: int
    respect: bool
    pos_tol: float
    rot_tol: float
    damping: float
    max_step: float


class SearchOutcome(NamedTuple):
    """The outcome of a search, for n environments.

    Attributes:
        qpos: (n, nq) float64 coordinates of the chain.
        error: (n, ntarget, 6) m and rad.
        success: (n,) bool.
        steps: (n,) int32, the steps that were taken.
    """

    qpos: torch.Tensor
    error: torch.Tensor
    success: torch.Tensor
    steps: torch.Tensor


class ChainLaunches:
    """The kernels for one chain.

    Args:
        runtime: whose kernels are used.
        chain: the chain.
    """

    def __init__(self, runtime: Runtime, chain: Chain) -> None:
        self._runtime, self.chain = runtime, chain
        device = runtime.torch_device
        self._ints, self._begins = (torch.as_tensor(array, device=device) for array in (chain.ints, chain.begins))

    def search(
        self, reals: torch.Tensor, qpos: torch.Tensor, goals: torch.Tensor, streams: torch.Tensor, settings: Settings
    ) -> SearchOutcome:
        """Search configurations.

        Args:
            reals: `chain.row_reals`.
            qpos: where the search begins (n, nq) float64.
            goals: positions and unit quaternions (n, ntarget, 7) float64.
            streams: (n,) int32 keys of random numbers.
            settings: the numbers of the search.
        """
        n, device = len(qpos), qpos.device
        qpos, targets = qpos.clone().contiguous(), self.chain.sizes["ntarget"]
        error = torch.zeros((n, targets, 6), dtype=torch.float64, device=device)
        found, steps = (torch.zeros(n, dtype=torch.int32, device=device) for _ in range(2))
        if n:
            s = settings
            damping = s.damping * s.damping
            given = [s.attempts, s.steps, int(s.respect), s.pos_tol, s.rot_tol, damping, s.max_step]
            launch = shared_solve_kernel(self._runtime)
            launch([*self._room(reals, n), qpos, goals.contiguous(), streams, *given, error, found, steps])
        return SearchOutcome(qpos, error, found == 1, steps)

    def place(self, reals: torch.Tensor, qpos: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return poses (n, ntarget, 7) of the targets and their Jacobians (n, ntarget, 6, nv) at qpos (n, nq)."""
        n, sizes = len(qpos), self.chain.sizes
        pose = torch.zeros((n, sizes["ntarget"], 7), dtype=torch.float64, device=qpos.device)
        jac = torch.zeros((n, sizes["ntarget"], 6, sizes["nv"]), dtype=torch.float64, device=qpos.device)
        if n:
            shared_place_kernel(self._runtime)([*self._room(reals, n), qpos.contiguous(), pose, jac])
        return pose, jac

    def _room(self, reals: torch.Tensor, items: int) -> list[Argument]:
        """Return the arguments of all kernels: the chain's numbers, and scratch for some workers."""
        columns, rows = self._runtime.columns, int(self.chain.begins[-1])
        workers = min(items, max(1, min(_WORKERS, _ROOM // (8 * rows))) if columns else self._runtime.threads)
        scratch = torch.empty(workers * rows, dtype=torch.float64, device=reals.device)
        steps = (workers, 1) if columns else (1, rows)
        own = reals.shape[1] if len(reals) > 1 else 0
        return [self._ints, reals.reshape(-1), own, self._begins, scratch, workers, *steps]


def shared_solve_kernel(runtime: Runtime) -> Launch:
    """Return the kernel of inverse kinematics; made once, then shared, and compiled when it is first launched."""
    (kernel,) = shared_kernels(runtime, "f64", (Recipe(solve_kernel),), "inverse kinematics")
    return kernel


def shared_place_kernel(runtime: Runtime) -> Launch:
    """Return the kernel of poses and Jacobians; made once, then shared, and compiled when it is first launched."""
    (kernel,) = shared_kernels(runtime, "f64", (Recipe(place_kernel),), "poses of chains")
    return kernel
