"""The numbers of a solver that a picture needs, read in one call."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol

import mujoco
import torch

from ..base.arguments import CheckedEnvs, as_environments
from .particles.group import ParticleGroup, groups_in
from .shown.overlays import CONTACTS

_CONTACT_FIELDS = ("mask", "pos", "frame", "dist", "force", "geom")


class PoseSource(Protocol):
    """The part of RigidSolver that rendering reads.

    A source may have particles, too: `particle_groups`, a sequence of `ParticleGroup`.
    """

    num_envs: int
    device: torch.device
    dtype: torch.dtype

    def get_many(self, names: Sequence[str], envs_idx: Any = None) -> dict[str, torch.Tensor]:
        """State fields by MuJoCo's names, (n, ...) of the environments `envs_idx`: None for all, or `CheckedEnvs`."""
        ...


@dataclass(frozen=True, eq=False)
class SceneReading:
    """The numbers of n environments of a solver.

    Attributes:
        envs: the environments; None: all of the solver.
        count: their number n.
        num_envs: number of environments of the solver.
        device: where the numbers are.
        dtype: the solver's precision.
        fields: fields by name, (n, ...), from one evaluation.
        own: per-environment parameters of the model by name, (n, ...), in the processor's memory.
        particles: groups of particles.
    """

    envs: CheckedEnvs | None
    count: int
    num_envs: int
    device: torch.device
    dtype: torch.dtype
    fields: dict[str, Any]
    own: dict[str, torch.Tensor]
    particles: tuple[ParticleGroup, ...]


def read(
    solver: PoseSource, mj: mujoco.MjModel, names: Iterable[str], parameters: Sequence[str], envs_idx: Any
) -> SceneReading:
    """Read environments of a solver.

    Args:
        solver: the solver.
        mj: the model of the renderer.
        names: fields to read; `CONTACTS` among them means the contacts.
        parameters: parameters of the model to read if environments have their own.
        envs_idx: the environments, in any form that `as_environments` takes, with its errors; None: all.

    Raises:
        TypeError: it is no solver, or has no contacts; or as in `groups_in`.
        ValueError: the solver has a model with other bodies, geoms or cameras; or as in `groups_in`.
    """
    if not hasattr(solver, "get_many"):
        raise TypeError(f"solver: expected a RigidSolver, not {type(solver).__name__}")
    theirs = getattr(getattr(solver, "model", None), "mj", None)
    if theirs is not None and any(getattr(mj, n) != getattr(theirs, n) for n in ("nbody", "ngeom", "ncam")):
        raise ValueError("solver: it is of another model than the one that this renderer was made for")
    envs = envs_idx
    if envs is not None and not isinstance(envs, CheckedEnvs):
        envs = CheckedEnvs(as_environments(envs, solver.num_envs, solver.device))
    wanted = sorted({*names} - {CONTACTS})
    fields: dict[str, Any] = dict(solver.get_many(wanted, envs)) if wanted else {}
    if CONTACTS in names:
        if not hasattr(solver, CONTACTS):
            raise TypeError(f"solver: contacts need a RigidSolver, not a {type(solver).__name__}")
        contacts = solver.contacts
        if envs is not None:
            contacts = SimpleNamespace(**{name: getattr(contacts, name)[envs.index] for name in _CONTACT_FIELDS})
        fields[CONTACTS] = contacts
    having: Any = getattr(solver, "parameters", None)
    own = {name: having.get(name, envs) for name in parameters if name in getattr(having, "own", ())}
    count = solver.num_envs if envs is None else len(envs)
    groups = groups_in(solver, envs, solver.num_envs)
    return SceneReading(envs, count, solver.num_envs, torch.device(solver.device), solver.dtype, fields, own, groups)
