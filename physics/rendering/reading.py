"""The numbers of a solver that pictures need, of the environments that are asked for."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import torch

from ..base.arguments import CheckedEnvs, as_environments
from .cameras.camera import PoseSource
from .shown.overlays import CONTACTS

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
    """Return environments of a solver by what `as_environments` takes, with its errors; None: all."""
    if envs_idx is None or isinstance(envs_idx, CheckedEnvs):
        return envs_idx
    return CheckedEnvs(as_environments(envs_idx, solver.num_envs, solver.device))


def count_of(envs: CheckedEnvs | None, solver: PoseSource) -> int:
    """Return the number of environments in what `environments` returned."""
    return solver.num_envs if envs is None else len(envs)


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
