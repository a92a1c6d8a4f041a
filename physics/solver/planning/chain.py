"""Chains: the bodies, joints and dofs of a model that move some targets, renumbered and laid out for the kernels."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch

from ...base.arguments import real_array
from ...base.joints import COORDINATES, is_free, is_scalar, rotation_dofs
from ...machine.scalars import as_whole
from .couplings import TERMS, Couplings
from .workspace import INTEGERS, REALS, SIZES, places

FULL_TURN = np.pi
"""Half the width (rad) of the range of random angles without limits."""
FAR = 1.0
"""Half the width (m) of the range of random displacements without limits."""
OWN = ("body_pos", "body_quat", "qpos0", "eq_data")
"""Numbers of a chain that can be per-environment parameters."""


class Target(NamedTuple):
    """A point of a body, or a site, that is to be brought to a pose.

    Attributes:
        body: the body's name or number; None if a site is named.
        site: the site's name or number; its frame is aligned.
        point: (3,) m, a point in the frame of the body or of the site.
    """

    body: int | str | None = None
    site: int | str | None = None
    point: Any = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Masks:
    """The parts of the targets' errors that count.

    Attributes:
        position: (m, 3) bool, axes of the world.
        turning: (m,) the part that is aligned: 0 nothing, 1 to 3 the x, y or z axis, 4 all axes.
    """

    position: np.ndarray
    turning: np.ndarray


@dataclass(frozen=True)
class Chain:
    """The part of a model that moves some targets.

    Attributes:
        bodies: the model's numbers of the bodies (k,), parents first, without the world.
        qpos: the model's coordinates (nq,), in their order.
        dofs: the model's dofs (nv,), in their order.
        moves: (nv,) bool, dofs that may be changed.
        changes: (nq,) bool, coordinates of their joints.
        couplings: laws of joints in the chain, in their order.
        changed: (nv of the model,) bool, dofs that the search may change, and their followers, also outside the chain.
        sizes: sizes of the fields, by name.
        begins: where every field begins.
        ints: integers for the kernels.
        values: real fields by name, as the model has them.
    """

    bodies: np.ndarray
    qpos: np.ndarray
    dofs: np.ndarray
    moves: np.ndarray
    changes: np.ndarray
    couplings: Couplings
    changed: np.ndarray
    sizes: dict[str, int]
    begins: np.ndarray
    ints: np.ndarray
    values: dict[str, np.ndarray]

    def reals(self) -> np.ndarray:
        """Return the real numbers in a row."""
        return np.concatenate([np.ravel(self.values[field.name]) for field in REALS]).astype(np.float64)


def body_id(mj: mujoco.MjModel, body: Any) -> int:
    """Return a body's number from its name or number; errors as in `_object_id`."""
    return _object_id(mj, "body", mujoco.mjtObj.mjOBJ_BODY, int(mj.nbody), body)


def _object_id(mj: mujoco.MjModel, kind: str, what: mujoco.mjtObj, count: int, given: Any) -> int:
    """Return the number of a body or site.

    Raises:
        KeyError: for an unknown name, with the nearest ones.
        IndexError: for a number that does not exist.
        ValueError: for a value that is neither a name nor a whole number.
    """
    if isinstance(given, str):
        found = mujoco.mj_name2id(mj, what, given)
        if found < 0:
            names = [mujoco.mj_id2name(mj, what, k) or "" for k in range(count)]
            near = difflib.get_close_matches(given, names, 3)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            raise KeyError(f"no {kind} is named {given!r}{hint}")
        return int(found)
    number = as_whole(kind, given)
    if not 0 <= number < count:
        raise IndexError(f"{kind} {number}: the model has {kind} numbers 0 to {count - 1}")
    return number


def as_targets(targets: Any) -> tuple[list[Target], bool]:
    """Return targets as a list, and True if a single one was given: a `Target`, or a body's name or number."""
    single = isinstance(targets, (Target, str)) or not isinstance(targets, Iterable)
    found = [each if isinstance(each, Target) else Target(each) for each in ([targets] if single else targets)]
    if not found:
        raise ValueError("targets: at least one is needed")
    for target in found:
        if (target.body is None) == (target.site is None):
            raise ValueError(f"{target}: name either a body or a site")
    return found, single


def dof_indices(mj: mujoco.MjModel, dofs_idx: Any) -> np.ndarray | None:
    """Return indices of dofs (k,) from indices or a mask (nv,); None for all.

    Raises:
        IndexError: for a dof that does not exist.
        ValueError: for values that are not whole numbers.
    """
    if dofs_idx is None:
        return None
    index = np.atleast_1d(real_array("dofs_idx", dofs_idx))
    if index.dtype == bool:
        if index.shape != (mj.nv,):
            raise ValueError(f"dofs_idx: a mask must have shape ({mj.nv},), not {index.shape}")
        return np.flatnonzero(index)
    if index.dtype.kind not in "iu" and index.size:
        raise ValueError(f"dofs_idx={dofs_idx!r}: expected whole numbers, as integers, or a mask of bools")
    if index.size and not (0 <= index.min() and index.max() < mj.nv):
        raise IndexError(f"dofs_idx={index.tolist()}: the model has dofs 0 to {mj.nv - 1}")
    return index.ravel().astype(np.int64)


def make_chain(
    mj: mujoco.MjModel, targets: Sequence[Target], masks: Masks, dofs_idx: np.ndarray | None, couplings: Couplings
) -> Chain:
    """Return the chain of some targets, with the joints that the joints on their paths follow.

    Raises:
        KeyError: for an unknown name, with the nearest ones.
        IndexError: for a body or site that does not exist.
        ValueError: no dof that may be changed moves a target.
    """
    frames = [_frame(mj, target) for target in targets]
    ends = np.array([frame[0] for frame in frames])
    paths = [_path(mj, end) for end in ends]
    within = {b for path in paths for b in path}
    movable, changed, within = _followed(mj, within, dofs_idx, couplings)
    bodies = np.array(sorted(within), np.int64)
    joints = np.flatnonzero(np.isin(mj.jnt_bodyid, bodies))
    qpos = _ranges(mj.jnt_qposadr[joints], COORDINATES[mj.jnt_type[joints]])
    dofs = np.flatnonzero(np.isin(mj.dof_jntid, joints))
    moves, follower = movable[dofs], mj.jnt_dofadr[couplings.follower]
    laws = couplings.subset(changed[follower] & np.isin(follower, dofs))
    on_path = np.array([np.isin(mj.dof_bodyid[dofs], path) for path in paths]).reshape(len(paths), len(dofs))
    for target, row in zip(targets, on_path, strict=True):
        if not (row & moves).any():
            which = "no dof" if dofs_idx is None else f"none of the dofs {dofs_idx.tolist()}"
            raise ValueError(f"{which} moves {label_of(target)}: it cannot be brought anywhere")
    sizes = dict(
        zip(
            SIZES,
            (len(bodies) + 1, len(joints), len(qpos), len(dofs), len(ends), 6 * len(ends), len(laws.follower), TERMS),
            strict=True,
        )
    )
    numbers = _integers(mj, bodies, joints, qpos, dofs)
    numbers |= {"dof_moves": moves, "target_body": np.searchsorted(bodies, ends) + 1}
    numbers |= {"target_turning": masks.turning, "target_dof": on_path}
    numbers["target_body"][ends == 0] = 0
    numbers |= {
        f"law_{name}": np.searchsorted(dofs, mj.jnt_dofadr[getattr(laws, name)]) for name in ("follower", "leader")
    }
    limits = _limits_and_laws(mj, dofs, laws, torch.as_tensor(mj.eq_data)[None], torch.as_tensor(mj.qpos0)[None])
    numbers["dof_limited"] = numbers["dof_absolute"] = limits.pop("dof_limited")
    ints = np.concatenate([[sizes[name] for name in SIZES], *(np.ravel(numbers[field.name]) for field in INTEGERS)])
    values = _reals(mj, bodies, joints, qpos) | {name: rows[0].numpy() for name, rows in limits.items()}
    values |= {name: np.array([f[k] for f in frames]) for k, name in ((1, "target_point"), (2, "target_quat"))}
    values["target_mask"] = masks.position.astype(float)
    changes = np.repeat(np.isin(joints, mj.dof_jntid[dofs[changed[dofs]]]), COORDINATES[mj.jnt_type[joints]])
    return Chain(bodies, qpos, dofs, moves, changes, laws, changed, sizes, places(sizes), ints.astype(np.int32), values)


def _followed(
    mj: mujoco.MjModel, within: set[int], dofs_idx: np.ndarray | None, couplings: Couplings
) -> tuple[np.ndarray, np.ndarray, set[int]]:
    """Return the dofs and bodies that move if some bodies are to be moved.

    Returns:
        The dofs (nv,) bool that the search moves, by themselves or through a law; the dofs (nv,) bool whose coordinates
        may change, as laws also set joints that follow a constant or a joint that stays; the bodies of the chain:
        the given ones, and the bodies of joints that theirs follow.
    """
    allowed = np.ones(mj.nv, bool) if dofs_idx is None else np.isin(np.arange(mj.nv), dofs_idx)
    wanted = np.isin(mj.dof_bodyid, list(within))
    within = set(within)
    pairs = [
        (int(mj.jnt_dofadr[f]), int(mj.jnt_dofadr[l]))
        for f, l in zip(couplings.follower, couplings.leader, strict=True)
    ]
    for follower, leader in reversed(pairs):
        if wanted[follower]:
            wanted[leader] = True
            within.update(_path(mj, int(mj.dof_bodyid[leader])))
    movable = wanted & allowed
    changed = movable.copy()
    for follower, leader in pairs:
        movable[follower] = follower != leader and movable[leader]
        changed[follower] = wanted[follower] or changed[leader]
    return movable, changed, within


def _limits_and_laws(
    mj: mujoco.MjModel, dofs: np.ndarray, laws: Couplings, eq_data: torch.Tensor, qpos0: torch.Tensor
) -> dict[str, Any]:
    """Return the fields that depend on equalities, with a row (n, ...) for each of `eq_data` and `qpos0`."""
    law = laws.laws(eq_data)
    which, lower, upper = laws.narrow(mj, law, qpos0)
    of_dofs = mj.dof_jntid[dofs]
    limited = is_scalar(mj.jnt_type[of_dofs]) & which[of_dofs]
    span = torch.as_tensor(np.where(rotation_dofs(mj)[dofs], FULL_TURN, FAR))
    lower, upper = lower[:, of_dofs].to(span), upper[:, of_dofs].to(span)
    known = torch.as_tensor(limited)
    return {
        "law": law,
        "dof_limited": limited,
        "dof_lower": torch.where(known, lower, -np.inf),
        "dof_upper": torch.where(known, upper, np.inf),
        "draw_low": torch.where(known, lower, -span),
        "draw_high": torch.where(known, upper, span),
    }


def label_of(target: Target) -> str:
    """Return the name of a target for errors."""
    return f"the body {target.body!r}" if target.site is None else f"the site {target.site!r}"


def _frame(mj: mujoco.MjModel, target: Target) -> tuple[int, np.ndarray, np.ndarray]:
    """Return body, point (3,) and orientation (4,) of a target, in the frame of the body."""
    point = np.zeros(3) if target.point is None else np.asarray(real_array("point", target.point), float)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise ValueError(f"{label_of(target)}: expected a point of three finite numbers, not {target.point!r}")
    if target.site is None:
        return body_id(mj, target.body), point, np.array([1.0, 0.0, 0.0, 0.0])
    site = _object_id(mj, "site", mujoco.mjtObj.mjOBJ_SITE, int(mj.nsite), target.site)
    quat, turned = mj.site_quat[site].copy(), np.zeros(3)
    mujoco.mju_rotVecQuat(turned, point, quat)
    return int(mj.site_bodyid[site]), mj.site_pos[site] + turned, quat


def _path(mj: mujoco.MjModel, body: int) -> list[int]:
    """Return the bodies from one up to the child of the world, itself first."""
    path = []
    while body > 0:
        path.append(int(body))
        body = mj.body_parentid[body]
    return path


def _ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int64), *(s + np.arange(c) for s, c in zip(starts, counts, strict=True))])


def _integers(
    mj: mujoco.MjModel, bodies: np.ndarray, joints: np.ndarray, qpos: np.ndarray, dofs: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the integers of bodies, joints and dofs by their names, numbered within the chain."""
    kinds, world = mj.jnt_type[joints], np.zeros(1, np.int64)
    counts = np.concatenate((world, mj.body_jntnum[bodies]))
    only = np.append(joints, 0)[np.cumsum(counts) - counts]
    of_dofs = mj.dof_jntid[dofs]
    scalar = is_scalar(mj.jnt_type[of_dofs])
    limited = mj.jnt_limited[joints] == 1
    return {
        "body_parentid": np.concatenate((world, np.searchsorted(bodies, mj.body_parentid[bodies], "right"))),
        "body_is_free": (counts == 1) & is_free(mj.jnt_type[only]),
        "body_jntadr": np.cumsum(counts) - counts,
        "body_jntnum": counts,
        "jnt_type": kinds,
        "jnt_qposadr": np.searchsorted(qpos, mj.jnt_qposadr[joints]),
        "jnt_dofadr": np.searchsorted(dofs, mj.jnt_dofadr[joints]),
        "jnt_at_origin": ~mj.jnt_pos[joints].any(axis=1),
        "jnt_turn_limited": limited & ~is_scalar(kinds) & ~is_free(kinds),
        "dof_qposadr": np.where(scalar, np.searchsorted(qpos, mj.jnt_qposadr[of_dofs]), 0),
    }


def _reals(mj: mujoco.MjModel, bodies: np.ndarray, joints: np.ndarray, qpos: np.ndarray) -> dict[str, np.ndarray]:
    """Return the real numbers of bodies and joints by their names."""
    return {
        "body_pos": np.concatenate((np.zeros((1, 3)), mj.body_pos[bodies])),
        "body_quat": np.concatenate(([[1.0, 0.0, 0.0, 0.0]], mj.body_quat[bodies])),
        "jnt_axis": mj.jnt_axis[joints],
        "jnt_pos": mj.jnt_pos[joints],
        "jnt_most": mj.jnt_range[joints, 1],
        "qpos0": mj.qpos0[qpos],
    }


def row_reals(mj: mujoco.MjModel, chain: Chain, own: dict[str, torch.Tensor], device: torch.device) -> torch.Tensor:
    """Return the real numbers of a chain for the kernels, one row (1, k) for all or one (n, k) for each environment.

    Args:
        mj: the model.
        chain: the chain.
        own: per-environment parameters that replace the chain's numbers, by name, (n, ...) each, as the model has them.
        device: where the numbers go.
    """
    table = torch.as_tensor(chain.reals(), device=device)[None]
    if own:
        count = len(next(iter(own.values())))
        table = table.repeat(count, 1)
        starts = dict(zip((field.name for field in REALS), chain.begins[len(INTEGERS) :], strict=False))
        chosen: dict[str, torch.Tensor] = {
            name: own[name][:, chain.bodies].flatten(1) for name in ("body_pos", "body_quat") if name in own
        }
        first = {name: int(starts[name]) + own[name].shape[-1] for name in chosen}  # the world comes first
        if "qpos0" in own:
            chosen["qpos0"] = own["qpos0"][:, chain.qpos]
        if len(chain.couplings.follower) and not own.keys().isdisjoint(("qpos0", "eq_data")):
            data, zero = (
                own.get(name, torch.as_tensor(getattr(mj, name)).repeat(count, *[1] * dims)).cpu().double()
                for name, dims in (("eq_data", 2), ("qpos0", 1))
            )
            laws = _limits_and_laws(mj, chain.dofs, chain.couplings, data, zero)
            del laws["dof_limited"]
            chosen |= {name: rows.flatten(1) for name, rows in laws.items()}
        for name, rows in chosen.items():
            start = first.get(name, int(starts[name]))
            table[:, start : start + rows.shape[1]] = rows.to(table)
    return table.contiguous()
