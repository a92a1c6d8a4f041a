"""Members of the groups of state tensors that steps do not change: structure, and numbers of the model.

Per-environment numbers are (items, environments, ...); shared numbers are (items, ...).
"""

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import torch

from ...base.joints import COORDINATES, is_scalar
from .state_members import Member, StateNumbers, of

Tensor = torch.Tensor


def _shared(shape: str, doc: str, read: Callable[[mujoco.MjModel], Any], unit: str = "1") -> Member:
    """Return a member that all environments share, from the compiled model."""
    return Member(f"({shape})", unit, doc, lambda s: s.fixed(read(s.model.mj)), static=True)


def _own(kind: str, parts: tuple[int, ...], unit: str, doc: str, read: Callable[[StateNumbers], Tensor]) -> Member:
    return Member(of(kind, *parts), unit, doc, read)


def _links(name: str) -> Callable[[StateNumbers], Tensor]:
    return lambda s: s.get(name)[:, 1:]


def _ends(starts: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return starts and ends; for an empty range the start where it would begin."""
    end = np.cumsum(counts)
    return np.where(counts > 0, starts, end - counts), np.where(counts > 0, starts + counts, end)


def _joints_of(mj: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    return _ends(mj.body_jntadr[1:], mj.body_jntnum[1:])


def _dofs_of(mj: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    return _ends(mj.body_dofadr[1:], mj.body_dofnum[1:])


def _geoms_of(mj: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    return _ends(mj.body_geomadr[1:], mj.body_geomnum[1:])


def _coordinates_of(mj: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    widths, owner = COORDINATES[mj.jnt_type], mj.jnt_bodyid
    counts = np.array([widths[owner == body].sum() for body in range(1, mj.nbody)], np.int64)
    end = np.cumsum(counts)
    return end - counts, end


LINKS = {
    "parent_idx": _shared("links", "link of the parent, -1: the world", lambda mj: mj.body_parentid[1:] - 1),
    "root_idx": _shared("links", "first link of the tree", lambda mj: mj.body_rootid[1:] - 1),
    "is_fixed": _shared("links", "True if no joint moves it", lambda mj: mj.body_weldid[1:] == 0),
    "joint_start": _shared("links", "first joint", lambda mj: _joints_of(mj)[0]),
    "joint_end": _shared("links", "one more than the last joint", lambda mj: _joints_of(mj)[1]),
    "dof_start": _shared("links", "first dof", lambda mj: _dofs_of(mj)[0]),
    "dof_end": _shared("links", "one more than the last dof", lambda mj: _dofs_of(mj)[1]),
    "n_dofs": _shared("links", "number of dofs", lambda mj: mj.body_dofnum[1:]),
    "q_start": _shared("links", "first coordinate", lambda mj: _coordinates_of(mj)[0]),
    "q_end": _shared("links", "one more than the last coordinate", lambda mj: _coordinates_of(mj)[1]),
    "geom_start": _shared("links", "first geom", lambda mj: _geoms_of(mj)[0]),
    "geom_end": _shared("links", "one more than the last geom", lambda mj: _geoms_of(mj)[1]),
    "pos": _own("links", (3,), "m", "place in the parent's frame, at the reference", _links("body_pos")),
    "quat": _own("links", (4,), "1", "orientation there, w first", _links("body_quat")),
    "inertial_pos": _own("links", (3,), "m", "centre of mass in the link's frame", _links("body_ipos")),
    "inertial_quat": _own("links", (4,), "1", "orientation of the principal axes", _links("body_iquat")),
    "inertial_i": _own("links", (3,), "kg m^2", "principal moments of inertia", _links("body_inertia")),
    "inertial_mass": _own("links", (), "kg", "mass", _links("body_mass")),
    "invweight": _own("links", (2,), "1/kg, 1/(kg m^2)", "inverse weights at the reference", _links("body_invweight0")),
}
JOINTS = {
    "type": _shared("joints", "0 free, 1 ball, 2 slide, 3 hinge", lambda mj: mj.jnt_type),
    "link_idx": _shared("joints", "link that it moves", lambda mj: mj.jnt_bodyid - 1),
    "pos": _shared("joints, 3", "anchor in the link's frame", lambda mj: mj.jnt_pos, "m"),
    "axis": _shared("joints, 3", "axis in the link's frame", lambda mj: mj.jnt_axis),
    "q_start": _shared("joints", "first coordinate", lambda mj: mj.jnt_qposadr),
    "q_end": _shared("joints", "one more than the last", lambda mj: mj.jnt_qposadr + COORDINATES[mj.jnt_type]),
    "dof_start": _shared("joints", "first dof", lambda mj: mj.jnt_dofadr),
    "dof_end": _shared("joints", "one more than the last", lambda mj: mj.jnt_dofadr + _dof_counts(mj)),
    "n_dofs": _shared("joints", "number of dofs", lambda mj: _dof_counts(mj)),
    "sol_params": _own(
        *("joints", (7,), "s, 1, m", "how limits give way: MuJoCo's solref and solimp"),
        lambda s: torch.cat((s.get("jnt_solref"), s.get("jnt_solimp")), -1),
    ),
}


def _dof_counts(mj: mujoco.MjModel) -> np.ndarray:
    return np.bincount(mj.dof_jntid, minlength=mj.njnt) if mj.nv else np.zeros(mj.njnt, np.int64)


def _limits(s: StateNumbers) -> Tensor:
    mj = s.model.mj
    held = is_scalar(mj.jnt_type[mj.dof_jntid]) & np.asarray(mj.jnt_limited, bool)[mj.dof_jntid]
    ranges = s.get("jnt_range")[:, mj.dof_jntid]
    return torch.where(s.fixed(held)[:, None], ranges, ranges.new_tensor([-torch.inf, torch.inf]))


DOFS = {
    "joint_idx": _shared("dofs", "joint", lambda mj: mj.dof_jntid),
    "link_idx": _shared("dofs", "link that it moves", lambda mj: mj.dof_bodyid - 1),
    "armature": _own("dofs", (), "kg or kg m^2", "inertia of the rotor", lambda s: s.get("dof_armature")),
    "damping": _own("dofs", (), "N s/m or N m s/rad", "damping", lambda s: s.get("dof_damping")),
    "frictionloss": _own("dofs", (), "N or N m", "dry friction", lambda s: s.get("dof_frictionloss")),
    "stiffness": _own(
        *("dofs", (), "N/m or N m/rad", "of its joint's spring"),
        lambda s: s.get("jnt_stiffness")[:, s.model.mj.dof_jntid],
    ),
    "invweight": _own(
        "dofs", (), "1/kg or 1/(kg m^2)", "inverse inertia at the reference", lambda s: s.get("dof_invweight0")
    ),
    "limit": _own("dofs", (2,), "m or rad", "lower and upper limit; infinite: none", _limits),
    "kp": _own("dofs", (), "N/m or N m/rad", "gain of positions", lambda s: s.joints.get_kp()),
    "kv": _own("dofs", (), "N s/m or N m s/rad", "gain of velocities", lambda s: s.joints.get_kv()),
    "force_range": _own(
        *("dofs", (2,), "N or N m", "bounds of controls' forces"), lambda s: torch.stack(s.joints.get_force_range(), -1)
    ),
}


def _store(name: str) -> Callable[[StateNumbers], Tensor]:
    return lambda s: s.fixed(getattr(s.model.geometry, name))


def _drawn(name: str) -> Callable[[StateNumbers], Tensor]:
    return lambda s: s.fixed(getattr(s.model.geometry.vgeoms, name))


GEOMS = {
    "type": _shared("geoms", "MuJoCo's mjtGeom", lambda mj: mj.geom_type),
    "link_idx": _shared("geoms", "link, -1: the world", lambda mj: mj.geom_bodyid - 1),
    "contype": _shared(
        "geoms", "bits that others' conaffinity is compared with", lambda mj: mj.geom_contype.view(np.uint32)
    ),
    "conaffinity": _shared("geoms", "bits of types it touches", lambda mj: mj.geom_conaffinity.view(np.uint32)),
    "data": Member("(geoms, 7)", "m", "numbers of its shape: `model.geometry.data_names`", _store("data"), True),
    "is_fixed": Member("(geoms)", "1", "True if it stands still in all environments", _store("static"), True),
    **{
        f"{kind}_{end}": Member("(geoms)", "1", f"{which} of its mesh's {words}", _store(f"{kind}_{end}"), True)
        for kind, words in (("vert", "vertices"), ("face", "triangles"), ("edge", "edges"))
        for end, which in (("start", "first"), ("end", "one more than the last"))
    },
    "pos": _own("geoms", (3,), "m", "place in the link's frame", lambda s: s.get("geom_pos")),
    "quat": _own("geoms", (4,), "1", "orientation there, w first", lambda s: s.get("geom_quat")),
    "friction": _own("geoms", (3,), "1, m, m", "sliding, torsional, rolling", lambda s: s.get("geom_friction")),
    "sol_params": _own(
        *("geoms", (7,), "s, 1, m", "how it gives way: MuJoCo's solref and solimp"),
        lambda s: torch.cat((s.get("geom_solref"), s.get("geom_solimp")), -1),
    ),
}
VGEOMS = {
    "geom_idx": Member("(vgeoms)", "1", "geom that is drawn", _drawn("geom"), True),
    "color": Member("(vgeoms, 4)", "1", "red, green, blue, opacity", _drawn("rgba"), True),
    **{
        f"{kind}_{end}": Member("(vgeoms)", "1", f"{which} of its mesh's {words}", _drawn(f"{name}_{end}"), True)
        for kind, name, words in (("vvert", "vert", "vertices"), ("vface", "face", "triangles"))
        for end, which in (("start", "first"), ("end", "one more than the last"))
    },
}

INFO: dict[str, dict[str, Member]] = {
    "links_info": LINKS,
    "joints_info": JOINTS,
    "dofs_info": DOFS,
    "geoms_info": GEOMS,
    "vgeoms_info": VGEOMS,
}
"""Members by group and name."""
