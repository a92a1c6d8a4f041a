"""Tensors of all particles by Genesis' names: `scene.mpm_solver.particles.pos.to_torch()`."""

from typing import Any

import torch

from ...physics.solver.user.state_members import Member
from ...physics.solver.user.tensors import StateGroup


def _read(name: str) -> Any:
    return lambda solver: solver.get(name)


def _materials(solver: Any) -> torch.Tensor:
    counts = torch.tensor([matter.count for matter in solver.matters], device=solver.device)
    return torch.arange(len(counts), device=solver.device).repeat_interleave(counts)


def _masses(solver: Any) -> torch.Tensor:
    return solver.masses


_SHAPE = "(particles, environments"
_POS = Member(f"{_SHAPE}, 3)", "m", "position", _read("pos"))
_VEL = Member(f"{_SHAPE}, 3)", "m/s", "velocity", _read("vel"))
_ACTIVE = Member(f"{_SHAPE})", "1", "True if the particle exists", _read("active"))
GROUPS: dict[str, dict[str, Member]] = {
    "particles": {
        "pos": _POS,
        "vel": _VEL,
        "C": Member(f"{_SHAPE}, 3, 3)", "1/s", "affine velocity", lambda s: s.get("C").unflatten(-1, (3, 3))),
        "strain": Member(f"{_SHAPE}, 6)", "1", "elastic strain b - 1: xx yy zz xy xz yz", _read("strain")),
        "volume": Member(f"{_SHAPE})", "1", "change of volume, as the law counts it", _read("volume")),
    },
    "particles_ng": {"active": _ACTIVE},
    "particles_info": {
        "mass": Member(f"{_SHAPE})", "kg", "mass", _masses),
        "material_idx": Member("(particles,)", "1", "number of the entity among matter", _materials, static=True),
    },
    "particles_render": {"pos": _POS, "vel": _VEL, "active": _ACTIVE},
}
"""Members by group."""


def groups_of(solver: Any) -> dict[str, StateGroup]:
    """Return the groups of a solver of matter."""
    return {name: StateGroup(name, members, solver) for name, members in GROUPS.items()}
