"""Paths between configurations, for many environments at once: free of collisions, short, and evenly sampled.

Paths are shortened by shortcuts: straight edges between random points of a path replace what lies between, where they
are free (Geraerts and Overmars, "Creating high-quality paths for motion planning", IJRR 2007).
"""

import time
import warnings
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace as changed
from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch

from ...base.arguments import as_environments, as_real
from ...base.joints import is_free, is_scalar, is_slide
from ...machine.scalars import as_count, as_flag, as_whole
from ..solver import RigidSolver
from .chain import body_id, dof_indices
from .collisions import Carried, CollisionChecker, Followers
from .couplings import joint_couplings
from .draws import combined, uniform
from .inverse import _expanded, _rows
from .polylines import arc_lengths, points_at, replace, sampled
from .rrt import BATCH, FINER, PathLimits, Query, find_paths, free_edges

PLANNERS = ("RRTConnect", "RRT")
_TURN = np.pi  # rad: how far beyond start and goal a hinge without limits is sought
_WAY = 1.0  # m, of a slide


class Paths(NamedTuple):
    """Paths of n environments.

    Attributes:
        qpos: (n, waypoints, nq) all coordinates; the first is the start and the last the goal. Without a path all are
            the start.
        valid: (n,) bool, True where a path was found.
        length: (n,) Euclidean length of the path in the planned coordinates (rad and m), 0 without one.
        reasons: (n,) sentences that say why there is no path; "" where there is one.
    """

    qpos: torch.Tensor
    valid: torch.Tensor
    length: torch.Tensor
    reasons: tuple[str, ...]


def plan_path(
    solver: RigidSolver,
    qpos_goal: Any,
    qpos_start: Any = None,
    *,
    dofs_idx: Any = None,
    max_nodes: int = 2000,
    resolution: float = 0.05,
    timeout: float | None = None,
    max_retry: int = 1,
    smooth_path: bool = True,
    num_waypoints: int = 300,
    ignore_collision: bool = False,
    planner: str = "RRTConnect",
    carried: Sequence[tuple[Any, Any]] = (),
    seed: int | None = None,
    envs_idx: Any = None,
) -> Paths:
    """Find paths from configurations to others on which nothing collides; the solver's state is left as it is.

    Contacts at the start may persist on the way; any other contact of a geom that moves, with the world or another
    part of the robot, is a collision, by the model's filters and margins. Joints that follow others by equalities are
    not planned, and follow. A search is RRT-Connect in steps of `resolution`, and shortcuts; paths found are looked at
    in 20 times finer steps.

    Args:
        solver: its state has the coordinates that are not planned.
        qpos_goal: (n, nq) or (nq,); coordinates that are not planned are not read.
        qpos_start: (n, nq) or (nq,), all coordinates; None for the state.
        dofs_idx: indices or a mask of the dofs that are planned; None for all of hinges and slides but mimic joints.
        max_nodes: the most nodes of a tree, and the most rounds of a search.
        resolution: rad or m, the longest change of a coordinate between two configurations that are looked at.
        timeout: s, of all environments; None for no limit.
        max_retry: searches, each with other random numbers, before an environment is given up.
        smooth_path: whether paths are shortened.
        num_waypoints: of each path, evenly spaced by length, corners among them if they are not more.
        ignore_collision: whether paths are straight, whatever is in the way.
        planner: "RRTConnect", or "RRT": only the tree of the start grows.
        carried: pairs of a free body and the body that carries it, as seen at the start.
        seed: of the random numbers; equal seeds give equal paths if no time runs out. None draws one.
        envs_idx: indices of n environments, or a mask; None for all.

    Returns:
        `Paths`; for environments without a path a warning says why.

    Raises:
        ValueError: for a wrong shape or number, naming the expected one; for a planned dof of a ball or free joint, or
            if all follow others; if environments differ in their active equalities of joints.
        KeyError: for an unknown name of a body, with the nearest ones.
        IndexError: for a dof, body or environment that does not exist.
    """
    limits = _limits(resolution, max_nodes, planner, timeout)
    number = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else as_whole("seed", seed)
    attempts, waypoints = as_count("max_retry", max_retry), as_count("num_waypoints", num_waypoints, least=2)
    smooth, ignore = as_flag("smooth_path", smooth_path), as_flag("ignore_collision", ignore_collision)
    search = _Search.between(solver, (qpos_start, qpos_goal), dofs_idx, carried, envs_idx, number, limits)
    with closing(search.checker):
        lines = search.straight() if ignore else search.run(attempts, smooth)
        return search.result(lines, waypoints, ignore)


class _Search:
    """The search for paths of some environments.

    Args:
        solver: the solver.
        coordinates: (k,) the indices of planned coordinates.
        held: bodies that are carried.
        followers: joints that follow planned ones.
        envs: (n,) environments.
        start: (n, nq) where they begin.
        query: the search's starts and goals.
        wrong: why environments have no path at all, by their rows.
    """

    def __init__(
        self,
        solver: RigidSolver,
        coordinates: np.ndarray,
        held: list[Carried],
        followers: Followers,
        envs: torch.Tensor,
        start: torch.Tensor,
        query: Query,
        wrong: dict[int, str],
    ) -> None:
        self.checker = CollisionChecker(solver, coordinates, held, followers, envs, start)
        self._query, self._reasons, self._envs, self._dtype = query, wrong, envs, solver.dtype

    @classmethod
    def between(
        cls,
        solver: RigidSolver,
        ends: tuple[Any, Any],
        dofs_idx: Any,
        carried: Sequence[tuple[Any, Any]],
        envs_idx: Any,
        seed: int,
        limits: PathLimits,
    ) -> "_Search":
        """Return the search that `plan_path` asks for; errors are its."""
        mj = solver.model.mj
        envs = _environments(solver, envs_idx)
        joints, followers, limits_of_joints = _leaders(solver, _planned_joints(mj, dofs_idx), envs)
        coordinates = mj.jnt_qposadr[joints].astype(np.int64)
        held = [_carried(mj, body, link) for body, link in carried]
        start, goal = _ends(solver, *ends, envs)
        index = torch.as_tensor(coordinates, device=start.device)
        begin, end = start[:, index], goal[:, index]
        lower, upper, wrong = _bounds(mj, joints, limits_of_joints, begin, end)
        keys = combined(torch.full_like(envs, seed & 0xFFFFFFFF), envs)
        return cls(
            solver, coordinates, held, followers, envs, start, Query(begin, end, lower, upper, keys, *limits), wrong
        )

    def straight(self) -> torch.Tensor:
        """Return straight lines (n, 2, k), whatever is in the way."""
        return torch.stack((self._query.start, self._query.goal), 1)

    def run(self, attempts: int, smooth: bool) -> torch.Tensor:
        """Return paths (n, m, k); environments without one are noted with a reason."""
        query, rows = self._query, torch.arange(len(self._envs), device=self._envs.device)
        touching = self.checker.touching(rows, query.goal)
        for row in torch.nonzero((touching >= 0).any(1))[:, 0].tolist():
            self._reasons.setdefault(row, f"the goal collides: {self.checker.words(touching[row])}")
        bad = self._without_path()
        pending, lines = rows[~bad], self.straight()
        for attempt in range(attempts):
            keys = combined(query.keys, torch.tensor(1000 + attempt, device=rows.device))
            tried = changed(query, keys=keys)
            for some, found in find_paths(self.checker, tried, pending):
                if smooth and time.monotonic() < query.until:
                    found = _shortened(self.checker, tried, some, found)
                lines = _placed(lines, some, found)
                pending = pending[~torch.isin(pending, some)]
            if not len(pending) or time.monotonic() >= query.until:
                break
        late = time.monotonic() >= query.until
        why = "no path was found before the timeout" if late else f"no path was found with {query.most_nodes} nodes"
        self._reasons.update(dict.fromkeys(pending.tolist(), why))
        return lines

    def _without_path(self) -> torch.Tensor:
        """Return which environments have a reason for not having a path, (n,) bool."""
        found = torch.zeros(len(self._envs), dtype=torch.bool, device=self._envs.device)
        found[torch.tensor(list(self._reasons), dtype=torch.int64, device=found.device)] = True
        return found

    def result(self, lines: torch.Tensor, count: int, ignore: bool) -> Paths:
        """Return waypoints of paths, which are looked at once more where corners may be cut."""
        way = sampled(lines, count)
        if not ignore and lines.shape[1] > count:
            rows = torch.arange(len(way), device=way.device)
            free = free_edges(self.checker, rows, way, self._query.resolution / FINER).all(1)
            for row in torch.nonzero(~free)[:, 0].tolist():
                self._reasons.setdefault(row, f"{count} waypoints are too few for its path, and cut a corner")
        n, k = way.shape[0], way.shape[2]
        valid = ~self._without_path()
        way = torch.where(valid[:, None, None], way, way[:, :1])
        rows = torch.arange(n, device=way.device).repeat_interleave(count)
        full = self.checker.configurations(rows, way.reshape(-1, k)).unflatten(0, (n, count))
        length = torch.where(valid, arc_lengths(lines)[:, -1], 0.0)
        reasons = tuple(self._reasons.get(row, "") for row in range(n))
        if self._reasons:
            first = min(self._reasons)
            said = f"environment {int(self._envs[first])}: {self._reasons[first]}"
            more = f" ({len(self._reasons)} of {n} environments have no path)" if n > 1 else ""
            warnings.warn(said + more, RuntimeWarning, stacklevel=3)
        return Paths(full.to(self._dtype), valid, length.to(self._dtype), reasons)


def _limits(resolution: Any, max_nodes: Any, planner: Any, timeout: Any) -> PathLimits:
    """Return the limits of a search from a user's numbers."""
    if planner not in PLANNERS:
        raise ValueError(f"planner={planner!r}: choose {' or '.join(map(repr, PLANNERS))}")
    step, until = as_real("resolution", resolution), np.inf
    if not 0.0 < step < np.inf:
        raise ValueError(f"resolution={resolution!r}: it must be above 0, and finite")
    if timeout is not None:
        until = time.monotonic() + as_real("timeout", timeout)
    return PathLimits(step, as_count("max_nodes", max_nodes, least=2), planner == PLANNERS[0], until)


def _placed(lines: torch.Tensor, rows: torch.Tensor, found: torch.Tensor) -> torch.Tensor:
    """Return lines (n, m, k) with others in some rows; the last vertices are repeated where widths differ."""
    width = max(lines.shape[1], found.shape[1])
    parts = [torch.cat((each, each[:, -1:].expand(-1, width - each.shape[1], -1)), 1) for each in (lines, found)]
    parts[0][rows] = parts[1]
    return parts[0]


def _planned_joints(mj: mujoco.MjModel, dofs_idx: Any) -> np.ndarray:
    """Return the joints that are planned; all are hinges and slides."""
    dofs = dof_indices(mj, dofs_idx)
    if dofs is None:
        found = np.flatnonzero(is_scalar(mj.jnt_type))
        if not len(found):
            raise ValueError("dofs_idx: the model has neither hinges nor slides, of which paths are planned")
        return found
    joints = np.unique(mj.dof_jntid[dofs])
    turning = joints[~is_scalar(mj.jnt_type[joints])]
    if not len(joints) or len(turning):
        said = f"joint {mj.joint(turning[0]).name or turning[0]!r} is free or a ball" if len(turning) else "it is empty"
        raise ValueError(f"dofs_idx: {said}; paths are planned of hinges and slides")
    return joints


def _leaders(
    solver: RigidSolver, joints: np.ndarray, envs: torch.Tensor
) -> tuple[np.ndarray, Followers, tuple[np.ndarray, torch.Tensor, torch.Tensor]]:
    """Return the planned joints without followers, the followers, and limits of all joints."""
    mj, rows = solver.model.mj, envs.cpu().numpy()
    active = solver.eq_active.cpu().numpy()[rows] | (mj.eq_type != mujoco.mjtEq.mjEQ_JOINT)
    if len(active) and (active != active[0]).any():
        raise ValueError("equalities of joints are active in some environments: plan the others apart, by envs_idx")
    named = np.isin(np.arange(mj.njnt), joints)
    couplings = joint_couplings(mj, active[0] if len(active) else mj.eq_active0 == 1, named)
    moved = named & ~np.isin(np.arange(mj.njnt), couplings.follower)
    if not moved.any():
        raise ValueError(f"dofs_idx: {mj.joint(joints[0]).name or joints[0]!r} follows another joint: plan that one")
    leaders = np.flatnonzero(moved)
    for follower, leader in zip(couplings.follower, couplings.leader, strict=True):
        moved[follower] = moved[leader]
    couplings = couplings.subset(moved[couplings.follower])
    data, qpos0 = (solver.parameters.get(name, rows).to(solver.device) for name in ("eq_data", "qpos0"))
    laws = couplings.laws(data)
    return leaders, Followers(couplings, laws, qpos0), couplings.narrow(mj, laws, qpos0)


def _carried(mj: mujoco.MjModel, body: Any, link: Any) -> Carried:
    """Return a free body, and the body that carries it."""
    free, carrier = body_id(mj, body), body_id(mj, link)
    joint = mj.body_jntadr[free]
    if mj.body_jntnum[free] != 1 or not is_free(mj.jnt_type[joint]):
        raise ValueError(f"carried: {mj.body(free).name or free} has no free joint, so that it cannot be carried")
    return Carried(mj.jnt_qposadr[joint] + np.arange(7), carrier)


def _environments(solver: RigidSolver, envs_idx: Any) -> torch.Tensor:
    index = as_environments(envs_idx, solver.num_envs)
    chosen = np.arange(solver.num_envs) if index is None else index
    return torch.as_tensor(chosen, device=solver.device)


def _ends(solver: RigidSolver, start: Any, goal: Any, envs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return start and goal (n, nq), as the solver's precision has them."""
    nq, found = int(solver.model.mj.nq), []
    for name, given in (("qpos_start", start), ("qpos_goal", goal)):
        if name == "qpos_start" and given is None:
            found.append(solver.qpos[envs].double())
            continue
        rows = _expanded(name, _rows(name, given, nq, solver.device), len(envs), nq).to(solver.dtype)
        if not bool(rows.isfinite().all()):
            row = int(torch.nonzero(~rows.isfinite().all(1))[0, 0])
            raise ValueError(f"{name}: environment {int(envs[row])} has coordinates that are not finite")
        found.append(rows.double())
    return found[0].clone(), found[1].clone()


def _bounds(
    mj: mujoco.MjModel,
    joints: np.ndarray,
    limits: tuple[np.ndarray, torch.Tensor, torch.Tensor],
    begin: torch.Tensor,
    end: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, dict[int, str]]:
    """Return the least and largest coordinates (n, k), and which goals are beyond limits, in words by row.

    A start beyond a limit, as physics allows, is where the search begins.
    """
    limited = torch.as_tensor(limits[0][joints], device=begin.device)
    least, most = (each[:, joints].to(begin).expand_as(begin) for each in limits[1:])
    beyond = torch.as_tensor(np.where(is_slide(mj.jnt_type[joints]), _WAY, _TURN), device=begin.device)
    slack = 1e-6 * (most - least).abs()
    outside = limited & ((end < least - slack) | (end > most + slack))
    wrong: dict[int, str] = {}
    for row, k in torch.nonzero(outside).tolist():
        joint = mj.joint(joints[k])
        low, high = float(least[row, k]), float(most[row, k])
        name = joint.name or f"joint {joints[k]}"
        wrong.setdefault(row, f"the goal of {name}, {float(end[row, k]):.4g}, is beyond its limits {low:g} to {high:g}")
    lower = torch.where(limited, least, torch.minimum(begin, end) - beyond)
    upper = torch.where(limited, most, torch.maximum(begin, end) + beyond)
    return torch.minimum(lower, begin), torch.maximum(upper, begin), wrong


_ROUNDS, _TRIES, _IDLE = 30, 8, 5
"""Most rounds, shortcuts that an environment tries in each, and rounds without a gain after which all end."""
_GAIN = 1e-2
"""The part of a path's length that a shortcut has to save."""


def _shortened(checker: CollisionChecker, query: Query, rows: torch.Tensor, lines: torch.Tensor) -> torch.Tensor:
    """Return paths (r, m', k) that are not longer than the given ones (r, m, k), of environments (r,).

    In each round an environment tries some shortcuts, in steps of the resolution. The one that saves most is looked at
    in finer steps, as all edges of a path are.
    """
    begin, end, idle = lines[:, 0].clone(), lines[:, -1].clone(), 0
    tries = max(1, min(_TRIES, BATCH // (2 * len(rows))))
    for turn in range(_ROUNDS):
        lengths = arc_lengths(lines)
        along = _pairs(query, rows, lengths[:, -1], tries, turn)
        ends = points_at(lines, lengths, along.flatten(1)).unflatten(1, (tries, 2))
        saved = (along[..., 1] - along[..., 0]) - (ends[:, :, 1] - ends[:, :, 0]).norm(dim=-1)
        worth = saved > _GAIN * lengths[:, -1:]
        free = _free(checker, rows[:, None].expand(-1, tries), ends, worth, query.resolution)
        saved = torch.where(free, saved, 0.0)
        best = saved.argmax(1, keepdim=True)
        chosen = saved.gather(1, best) > 0
        edge = ends.gather(1, best[..., None, None].expand(-1, -1, *ends.shape[2:]))
        chosen = _free(checker, rows[:, None], edge, chosen, query.resolution / FINER)[:, 0]
        idle = 0 if bool(chosen.any()) else idle + 1
        if idle == _IDLE or time.monotonic() >= query.until:
            break
        if idle == 0:
            pair = along.gather(1, best[..., None].expand(-1, -1, 2))[:, 0]
            lines = replace(lines, pair[:, 0], pair[:, 1], chosen)
            lines[:, 0], lines[:, -1] = begin, end
    return lines


def _pairs(query: Query, rows: torch.Tensor, total: torch.Tensor, tries: int, turn: int) -> torch.Tensor:
    """Return pairs of random lengths (r, tries, 2) along paths of some lengths (r,); the first is the whole path."""
    keys = combined(query.keys[rows], torch.tensor(-1 - turn, device=rows.device))
    shares = uniform(combined(keys[:, None], torch.arange(tries, device=rows.device)), 2).sort(-1).values
    if turn == 0:
        shares[:, 0] = torch.tensor([0.0, 1.0], device=rows.device)
    return shares * total[:, None, None]


def _free(
    checker: CollisionChecker, rows: torch.Tensor, ends: torch.Tensor, asked: torch.Tensor, step: float
) -> torch.Tensor:
    """Return which of the requested straight edges are free (r, c); `ends` is (r, c, 2, k)."""
    free = torch.zeros_like(asked)
    if bool(asked.any()):
        steps, taken = checker.first_hits(rows[asked], ends[:, :, 0][asked], ends[:, :, 1][asked], step)
        free[asked] = taken >= steps
    return free
