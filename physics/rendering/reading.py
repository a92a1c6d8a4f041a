"""The numbers of a solver that pictures need, of the environments that are asked for."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import torch

from ..batch_numbers import CheckedEnvs
from .camera import PoseSource
from .overlays import CONTACTS

_CONTACT_FIELDS = ("mask", "pos", "frame", "dist", "force", "geom")


def entity_ids(mj: mujoco.MjModel, given: Any) -> np.ndarray:
    """Return an id for each geom (ngeom,)."""
    if given is None:
        return np.array(mj.body_rootid[mj.geom_bodyid])
    ids = np.asarray(given)
    if ids.shape != (mj.ngeom,) or ids.dtype.kind not in "iu":
        raise ValueError(
            f"entities: needed are {mj.ngeom} whole numbers, one for each geom, not {ids.dtype} {ids.shape}"
        )
    return ids


def contacts_of(solver: Any, envs: CheckedEnvs | None) -> Any:
    """The contacts of some environments of a solver."""
    if not hasattr(solver, CONTACTS):
        raise TypeError(f"solver: contacts are those of a RigidSolver, not of a {type(solver).__name__}")
    found = solver.contacts
    return found if envs is None else SimpleNamespace(**{n: getattr(found, n)[envs.index] for n in _CONTACT_FIELDS})


def environments(envs_idx: Any, solver: PoseSource) -> CheckedEnvs | None:
    """Environments from a number, a sequence, or a mask of all, asked where it lies whether they exist; None: all."""
    if envs_idx is None or isinstance(envs_idx, CheckedEnvs):
        return envs_idx
    try:
        chosen = torch.as_tensor(envs_idx)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"envs_idx={envs_idx!r}: environment numbers must be integers") from error
    if chosen.is_meta:
        raise ValueError("envs_idx: a tensor on the device 'meta' has no numbers")
    if chosen.dtype == torch.bool:
        if chosen.shape != (solver.num_envs,):
            raise ValueError(f"envs_idx: a mask must have shape ({solver.num_envs},), not {tuple(chosen.shape)}")
        return CheckedEnvs(chosen.nonzero()[:, 0].to(solver.device))
    if chosen.numel() and (chosen.is_floating_point() or chosen.is_complex()):
        raise TypeError(f"envs_idx: environment numbers must be integers, not {chosen.dtype}")
    chosen = chosen.reshape(-1).long()
    outside = chosen[(chosen < 0) | (chosen >= solver.num_envs)]
    if len(outside):
        raise IndexError(f"envs_idx: environment {int(outside[0])} is not in 0 to {solver.num_envs - 1}")
    return CheckedEnvs(chosen.to(solver.device))


def count_of(envs: CheckedEnvs | None, solver: PoseSource) -> int:
    """Return the number of environments in what `environments` returned."""
    return solver.num_envs if envs is None else len(envs.index)


def read(solver: PoseSource, names: Sequence[str], envs: CheckedEnvs | None) -> dict[str, torch.Tensor]:
    """Fields of a solver, all from one evaluation."""
    return solver.get_many(names, envs) if names else {}


def enclosing_spheres(centres: torch.Tensor, radii: torch.Tensor) -> torch.Tensor:
    """A sphere around each environment's solids: (n, k, 3) and (k,) -> (n, 4), centre and radius."""
    middle = (centres.amin(dim=1) + centres.amax(dim=1)) / 2
    reach = ((centres - middle[:, None]).norm(dim=-1) + radii).amax(dim=1)
    return torch.cat([middle, reach[:, None]], dim=-1).contiguous()


def own_numbers(solver: Any, names: Sequence[str], envs: CheckedEnvs | None) -> dict[str, torch.Tensor]:
    """Return those of some numbers of the model (n, ...), in the processor's memory, that environments have own."""
    parameters: Any = getattr(solver, "parameters", None)
    own = getattr(parameters, "own", ())
    return {name: parameters.get(name, envs) for name in names if name in own}
