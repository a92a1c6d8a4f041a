"""Inverse kinematics of many environments at once: poses of targets in, coordinates out; nothing moves."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from ...base.arguments import as_environments, as_real, real_array
from ...base.joints import is_slide
from ...machine.runtime import ensure_runtime
from ...machine.scalars import as_count, as_flag
from ...model.model import Model
from ..solver import RigidSolver
from .chain import OWN, Chain, Masks, as_targets, dof_indices, label_of, make_chain, row_reals
from .couplings import Couplings, coupled_joints, equality_errors, joint_couplings, joint_residuals, other_equalities
from .draws import env_streams
from .errors import ALL_AXES
from .launches import ChainLaunches, Settings

ALL = (True, True, True)


class Solution(NamedTuple):
    """Configurations of n environments that bring targets to their poses, or near them.

    Attributes:
        qpos: (n, nq) coordinates; coordinates that the search may not change are as they were.
        error: (n, targets, 6) how far each target is from its pose: the displacement that is left (m), then the
            rotation that is left, as a rotation vector (rad), both in the world frame; zero for masked components.
        success: (n,) bool, True if all targets are within the tolerances, and equalities of joints hold.
        steps: (n,) int32, steps that were taken in all attempts.
    """

    qpos: torch.Tensor
    error: torch.Tensor
    success: torch.Tensor
    steps: torch.Tensor


class InverseKinematics:
    """Targets on a model, and the search for configurations that bring them to poses.

    A search is damped least squares from a given configuration, then from random ones within the limits, only in
    environments that have no solution yet. It reads and changes no more of a solver than its state, its
    mocap bodies, its active equalities and its per-environment `body_pos`, `body_quat`, `qpos0` and `eq_data`.

    Equalities of joints, mimic joints of URDF files among them, hold in every solution: a joint that follows another
    moves with it, also where `dofs_idx` names only the other. Connects, welds and equalities of tendons are
    no part of the search, but its results are no success where they do not hold. Contacts do not count.

    Args:
        of: a solver, whose environments have states, or a model without states.
        targets: what to bring to poses: a `Target`, a body's name or number, or a sequence of them.
        pos_mask: three flags, (3,) or (targets, 3): axes of the world along which positions count.
        rot_mask: three flags, (3,) or (targets, 3): axes of the targets that are aligned. With one axis, the rotation
            about it is free; two make three.
        dofs_idx: indices (k,) or a mask (nv,) of the dofs that may be changed; None for all that move the targets, a
            free joint's included.

    Raises:
        KeyError: for an unknown name, with the nearest ones.
        IndexError: for a body, site or dof that does not exist.
        ValueError: for a wrong shape, or if no dof that may be changed moves a target.
        TypeError: `of` is neither.
    """

    def __init__(
        self, of: RigidSolver | Model, targets: Any, pos_mask: Any = ALL, rot_mask: Any = ALL, dofs_idx: Any = None
    ) -> None:
        if not isinstance(of, (RigidSolver, Model)):
            raise TypeError(f"inverse kinematics is of a RigidSolver or a Model, not of a {type(of).__name__}")
        self._solver = of if isinstance(of, RigidSolver) else None
        self.model: Model = of.model if isinstance(of, RigidSolver) else of
        self.targets, self._single = as_targets(targets)
        self._pos_mask, self._rot_mask = self._flags("pos_mask", pos_mask), self._flags("rot_mask", rot_mask)
        self._dofs = dof_indices(self.model.mj, dofs_idx)
        self._made: dict[bytes, ChainLaunches] = {}
        self._active = self.model.mj.eq_active0 == 1
        self._chain(np.ones((2, len(self.targets)), bool), self._active)  # errors now

    def _flags(self, name: str, given: Any) -> np.ndarray:
        flags, count = real_array(name, given), len(self.targets)
        if flags.shape not in ((3,), (count, 3)) or not np.isin(flags, (0, 1)).all():
            raise ValueError(f"{name}: expected three flags, or ({count}, 3), one row for each target; got {given!r}")
        return np.broadcast_to(flags.astype(bool), (count, 3))

    def _chain(self, given: np.ndarray, active: np.ndarray) -> tuple[Chain, ChainLaunches]:
        """Return the chain and its kernels.

        Args:
            given: (2, targets), targets that have positions, and orientations.
            active: (neq,) equalities.
        """
        key = given.tobytes() + active.tobytes()
        if key not in self._made:
            aligned = self._rot_mask.sum(axis=1)
            turning = np.where(aligned == 1, 1 + self._rot_mask.argmax(axis=1), np.where(aligned > 1, ALL_AXES, 0))
            masks = Masks(self._pos_mask & given[0][:, None], turning * given[1])
            chain = make_chain(self.model.mj, self.targets, masks, self._dofs, self._couplings(active))
            self._made[key] = ChainLaunches(self._runtime, chain)
        return self._made[key].chain, self._made[key]

    @property
    def _runtime(self) -> Any:
        return self._solver.runtime if self._solver is not None else ensure_runtime()

    def poses(self, qpos: Any = None, envs_idx: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return positions (n, targets, 3) m and quaternions (n, targets, 4) of the targets in the world.

        Args:
            qpos: (n, nq) or (nq,) coordinates; None for the state's, or for a model's reference coordinates.
            envs_idx: indices of environments of the solver; None for all.
        """
        pose, _ = self._place(qpos, envs_idx)
        return pose[..., :3], pose[..., 3:]

    def jacobians(self, qpos: Any = None, envs_idx: Any = None) -> torch.Tensor:
        """Return derivatives (n, targets, 6, nv) of the targets' positions and rotations by the dofs, world frame.

        Arguments as in `poses`. Rows are velocity (m/s) and angular velocity (rad/s) for a unit velocity of each
        dof of the model.
        """
        chain, _ = self._chain(np.ones((2, len(self.targets)), bool), self._active)
        _, jac = self._place(qpos, envs_idx)
        full = jac.new_zeros((*jac.shape[:3], int(self.model.mj.nv)))
        full[..., torch.as_tensor(chain.dofs, device=jac.device)] = jac
        return full

    def _place(self, qpos: Any, envs_idx: Any) -> tuple[torch.Tensor, torch.Tensor]:
        chain, launches = self._chain(np.ones((2, len(self.targets)), bool), self._active)
        envs = self._environments(envs_idx)
        start = self._start(qpos, envs)
        rows = self._rows(chain, envs)
        pose, jac = launches.place(rows, start[:, self._index(chain.qpos, start)])
        return pose.to(self._runtime.torch_dtype), jac.to(self._runtime.torch_dtype)

    def solve(
        self,
        positions: Any = None,
        quaternions: Any = None,
        *,
        init_qpos: Any = None,
        respect_joint_limit: bool = True,
        max_samples: int = 50,
        max_solver_iters: int = 20,
        damping: float = 0.01,
        pos_tol: float = 5e-4,
        rot_tol: float = 5e-3,
        max_step_size: float = 0.5,
        seed: int | None = None,
        envs_idx: Any = None,
    ) -> Solution:
        """Search configurations that bring the targets to poses; the state is left as it is.

        An environment without a solution gets the nearest configuration found (by the sum of squares of errors in m and
        rad); with a target that is not finite, its start. Neither is a success.

        Args:
            positions: (n, 3) or (3,) m, in the world; for several targets a sequence of these. None: no position
                counts; None in the sequence: not that target's.
            quaternions: (n, 4) or (4,), of any length, in the same way.
            init_qpos: (n, nq) or (nq,), where the search begins; None for the state, or a model's reference.
            respect_joint_limit: whether dofs that may be changed stay within the limits of their joints.
            max_samples: most attempts, the first of which begins at `init_qpos`, the others at random.
            max_solver_iters: most steps of an attempt.
            damping: of least squares (m or rad).
            pos_tol: m, the largest distance of a target that is at its position.
            rot_tol: rad, the largest angle of a target that has its orientation.
            max_step_size: rad or m, the longest change of a dof in a step.
            seed: of the random configurations; equal seeds give equal solutions. None draws one.
            envs_idx: indices of n environments, or a mask; None for all. A model has as many as rows are given.

        Returns:
            `Solution`.

        Raises:
            ValueError: for a wrong shape, naming the expected one, or if neither positions nor quaternions are given.
            IndexError: for an environment that does not exist.
        """
        lengths = {"pos_tol": pos_tol, "rot_tol": rot_tol, "damping": damping, "max_step_size": max_step_size}
        attempts, steps = as_count("max_samples", max_samples), as_count("max_solver_iters", max_solver_iters)
        respect = as_flag("respect_joint_limit", respect_joint_limit)
        settings = Settings(attempts, steps, respect, *(_positive(*each) for each in lengths.items()))
        envs = self._environments(envs_idx)
        places, turns = self._given("positions", positions, 3), self._given("quaternions", quaternions, 4)
        count = self._count(envs, [*places, *turns, init_qpos])
        numbers = np.arange(count) if envs is None else envs
        start = self._start(init_qpos, numbers)
        goals, given = self._goals(places, turns, count, start)
        streams, parts, patterns = env_streams(seed, numbers, start.device), [], self._patterns(envs, count)
        for active, rows in patterns:
            some = envs if envs is None else envs[rows]
            parts.append(self._search(given, active, some, start[rows], goals[rows], streams[rows], settings))
        order = self._index(np.argsort(np.concatenate([rows for _, rows in patterns])), start)
        return Solution(*(torch.cat(each)[order] for each in zip(*parts, strict=True)))

    def _patterns(self, envs: np.ndarray | None, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the different sets of active equalities (neq,), and the rows of the environments that have each."""
        if self._solver is None or not self.model.mj.neq or not count:
            return [(self._active, np.arange(count))]
        active = self._solver.eq_active.cpu().numpy()[envs]
        kinds, which = np.unique(active, axis=0, return_inverse=True)
        return [(kind, np.flatnonzero(which.ravel() == k)) for k, kind in enumerate(kinds)]

    def _search(
        self,
        given: np.ndarray,
        active: np.ndarray,
        envs: np.ndarray | None,
        start: torch.Tensor,
        goals: torch.Tensor,
        streams: torch.Tensor,
        settings: Settings,
    ) -> Solution:
        """Return solutions of environments that have the same active equalities."""
        mj = self.model.mj
        chain, launches = self._chain(given, active)
        index = self._index(chain.qpos, start)
        found = launches.search(self._rows(chain, envs), start[:, index], goals, streams, settings)
        start[:, index[chain.changes]] = found.qpos[:, chain.changes]
        coupled = coupled_joints(mj, active, chain.changed)
        success = found.success
        if len(coupled):
            data, qpos0 = (self._numbers(name, envs).to(start) for name in ("eq_data", "qpos0"))
            couplings = self._couplings(active)
            couplings = couplings.subset(chain.changed[mj.jnt_dofadr[couplings.follower]])
            couplings.obey(mj, couplings.laws(data), qpos0, start)
            left = joint_residuals(mj, coupled, data, qpos0, start).abs()
            most = np.where(is_slide(mj.jnt_type[mj.eq_obj1id[coupled]]), settings.pos_tol, settings.rot_tol)
            success = success & (left <= torch.as_tensor(most, device=left.device)).all(1)
            if settings.respect:
                success &= couplings.within_limits(mj, start)
        if len(others := other_equalities(mj, active, chain.changed)):
            errors = equality_errors(mj, others, *self._numbers_and_state(envs, start))
            met = np.all(errors <= (settings.pos_tol, settings.rot_tol), axis=(1, 2))
            success = success & self._index(met, success)
        dtype = self._runtime.torch_dtype
        return Solution(start.to(dtype), found.error.to(dtype), success, found.steps)

    def _couplings(self, active: np.ndarray) -> Couplings:
        """Return the laws of active equalities (neq,); joints that may be changed rather lead."""
        mj = self.model.mj
        return joint_couplings(mj, active, None if self._dofs is None else np.isin(mj.jnt_dofadr, self._dofs))

    def _numbers(self, name: str, envs: np.ndarray | None) -> torch.Tensor:
        """Return numbers of the model by name, a row for each environment, or one row for a model."""
        if self._solver is not None:
            return self._solver.parameters.get(name, envs)
        return torch.as_tensor(getattr(self.model.mj, name))[None]

    def _numbers_and_state(
        self, envs: np.ndarray | None, qpos: torch.Tensor
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return per-environment parameters, and the state of environments with coordinates (n, nq)."""
        state, own = {"qpos": qpos.cpu().numpy()}, {}
        if (solver := self._solver) is not None:
            names = [name for name in solver.parameters.own if hasattr(self.model.mj, name)]
            own = {name: solver.parameters.get(name, envs).cpu().numpy() for name in names}
            poses = {"mocap_pos": solver.mocap_pos, "mocap_quat": solver.mocap_quat}
            state |= {name: rows.cpu().double().numpy()[envs] for name, rows in poses.items()}
        return own, state

    def _index(self, numbers: np.ndarray, like: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(numbers, device=like.device)

    def _environments(self, envs_idx: Any) -> np.ndarray | None:
        """Return the numbers of environments; None for a model, which has none."""
        if self._solver is None:
            if envs_idx is not None:
                raise ValueError("envs_idx: a model has no environments; name a RigidSolver")
            return None
        index = as_environments(envs_idx, self._solver.num_envs)
        return np.arange(self._solver.num_envs) if index is None else index

    def _count(self, envs: np.ndarray | None, given: Sequence[Any]) -> int:
        """Return the number of environments: that of `envs`, of a model the number of rows given."""
        if envs is not None:
            return len(envs)
        rows = {int(np.shape(each)[0]) for each in given if each is not None and len(np.shape(each)) == 2}
        return max(rows, default=1)

    def _start(self, qpos: Any, envs: np.ndarray | None) -> torch.Tensor:
        """Return coordinates (n, nq) float64: the given ones, the state's, or the reference coordinates."""
        nq, count = int(self.model.mj.nq), 1 if envs is None else len(envs)
        device = self._runtime.torch_device
        if qpos is None:
            if self._solver is not None:
                return self._solver.qpos[torch.as_tensor(envs, device=device)].double()
            return torch.as_tensor(self.model.mj.qpos0, device=device).repeat(count, 1)
        rows = _rows("init_qpos", qpos, nq, device)
        if envs is None and len(rows) > 1:
            return rows.clone()
        return _expanded("init_qpos", rows, count, nq).clone()

    def _given(self, name: str, value: Any, width: int) -> list[Any]:
        """Return the rows of each target, or None for targets that have none."""
        count = len(self.targets)
        if value is None:
            return [None] * count
        if self._single:
            return [value]
        if not hasattr(value, "__len__") or len(value) != count:
            raise ValueError(f"{name}: expected a sequence of {count}, one (n, {width}) or None for each target")
        return list(value)

    def _goals(self, places: list, turns: list, count: int, like: torch.Tensor) -> tuple[torch.Tensor, np.ndarray]:
        """Return poses (n, targets, 7) with unit quaternions, and which of both are given (2, targets)."""
        given = np.array([[part is not None for part in parts] for parts in (places, turns)])
        if not given.any(axis=0).all():
            lacking = self.targets[int(np.flatnonzero(~given.any(axis=0))[0])]
            raise ValueError(f"{label_of(lacking)} has neither a position nor a quaternion: give one of them")
        goals = like.new_zeros((count, len(self.targets), 7))
        goals[..., 3] = 1.0
        for t, (place, turn) in enumerate(zip(places, turns, strict=True)):
            if place is not None:
                goals[:, t, :3] = _expanded("positions", _rows("positions", place, 3, like.device), count, 3)
            if turn is not None:
                rows = _expanded("quaternions", _rows("quaternions", turn, 4, like.device), count, 4)
                goals[:, t, 3:] = rows / rows.norm(dim=1, keepdim=True)
        return goals, given

    def _rows(self, chain: Chain, envs: np.ndarray | None) -> torch.Tensor:
        """Return the chain's real numbers; one row per environment if there are per-environment parameters."""
        solver = self._solver
        if solver is None or envs is None:
            return row_reals(self.model.mj, chain, {}, self._runtime.torch_device)
        own = {name: solver.parameters.get(name, envs) for name in OWN if name in solver.parameters.own}
        mocap = np.flatnonzero(self.model.mj.body_mocapid[chain.bodies] >= 0)
        if len(mocap):
            bodies = chain.bodies[mocap]
            ids = torch.as_tensor(self.model.mj.body_mocapid[bodies])
            for name, rows in (("body_pos", solver.mocap_pos), ("body_quat", solver.mocap_quat)):
                table = own.get(name, torch.as_tensor(getattr(self.model.mj, name)).repeat(len(envs), 1, 1))
                here = rows.cpu().double()[torch.as_tensor(envs)][:, ids]
                table[:, bodies] = here if name == "body_pos" else here / here.norm(dim=-1, keepdim=True)
                own[name] = table
        return row_reals(self.model.mj, chain, own, self._runtime.torch_device)


def inverse_kinematics(
    of: RigidSolver | Model,
    targets: Any,
    positions: Any = None,
    quaternions: Any = None,
    *,
    pos_mask: Any = ALL,
    rot_mask: Any = ALL,
    dofs_idx: Any = None,
    **options: Any,
) -> Solution:
    """Search configurations that bring targets to poses: `InverseKinematics(...).solve(...)` in one call.

    Arguments, results and errors as in the two; make an `InverseKinematics` once if calls repeat.
    """
    return InverseKinematics(of, targets, pos_mask, rot_mask, dofs_idx).solve(positions, quaternions, **options)


def _positive(name: str, value: Any) -> float:
    number = as_real(name, value)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name}={value!r}: it must be above 0, and finite")
    return number


def _rows(name: str, value: Any, width: int, device: torch.device) -> torch.Tensor:
    """Return numbers (n, width) float64, n being 1 for (width,)."""
    plain = isinstance(value, torch.Tensor) and not (value.is_meta or value.is_complex())
    rows = torch.as_tensor(value if plain else real_array(name, value), dtype=torch.float64, device=device)
    if rows.ndim not in (1, 2) or rows.shape[-1] != width:
        raise ValueError(f"{name}: expected shape (n, {width}) or ({width},), got {tuple(rows.shape)}")
    return rows.reshape(-1, width)


def _expanded(name: str, rows: torch.Tensor, count: int, width: int) -> torch.Tensor:
    if len(rows) not in (1, count):
        raise ValueError(f"{name}: expected shape ({count}, {width}) or ({width},), got {tuple(rows.shape)}")
    return rows.expand(count, width)
