"""Models that MuJoCo compiles and nobody can simulate: numbers that no mechanism has, and geoms beyond counting.

MuJoCo takes an infinite size or a negative inertia without a word, and what follows from it is not finite either. Here
each such number is named with its element and its place before anything is computed with it.
"""

import mujoco
import numpy as np

from .pairs import contacts_disabled
from .places import Places

MOST_PAIRS = (1 << 22) - 1
"""Pairs of geoms that can touch, beyond which a model is refused: they are all listed once while it is loaded."""
MOST_GEOMS = 20_000
"""Geoms that can collide: more would need tables of more than half a gigabyte to find their pairs."""
_FINITE = {
    "geom": ("geom_size", "geom_pos", "geom_quat", "geom_rbound"),
    "body": ("body_mass", "body_inertia", "body_pos", "body_quat", "body_ipos", "body_iquat"),
    "joint": ("jnt_pos", "jnt_axis", "jnt_stiffness"),
    "dof": ("dof_armature", "dof_damping"),
}
"""Arrays of mjModel whose numbers must be finite, by the kind of element they belong to."""
_NOT_NEGATIVE = {"body": ("body_mass", "body_inertia"), "dof": ("dof_armature",)}
_LISTS = {"body": "bodies", "geom": "geoms", "joint": "joints"}
_OBJECTS = {kind: int(getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")) for kind in _LISTS}


class ModelLoadError(ValueError):
    """A model file that is missing, that is not MJCF, that MuJoCo's compiler rejects, or that nobody can simulate."""


def reject_impossible(mjm: mujoco.MjModel, spec: mujoco.MjSpec | None, places: Places) -> None:
    """Refuse a model with numbers that no mechanism has, or with more geoms than can be looked at.

    Args:
        mjm: the compiled model.
        spec: what it was compiled from, if anything; gives the places.
        places: the tags of its files.

    Raises:
        ModelLoadError: with the element, its place and its number.
    """
    for table, fault in ((_FINITE, "is not finite"), (_NOT_NEGATIVE, "is negative")):
        for kind, names in table.items():
            for name in names:
                rows = np.asarray(getattr(mjm, name), float)
                rows = rows.reshape(len(rows), rows.size // max(1, len(rows)))
                wrong = ~np.isfinite(rows) if table is _FINITE else rows < 0
                for row, column in np.argwhere(wrong)[:1]:
                    where = _element(mjm, spec, places, kind, int(row))
                    number = f"{name.split('_', 1)[1]} {rows[row, column]:g}"
                    raise ModelLoadError(f"{where}: {number} {fault}; no mechanism can have it")
    _reject_crowd(mjm, places.label)


def _element(mjm: mujoco.MjModel, spec: mujoco.MjSpec | None, places: Places, kind: str, index: int) -> str:
    """Place and name of an element; a dof is named by its joint."""
    if kind == "dof":
        kind, index = "joint", int(mjm.dof_jntid[index])
    name = mujoco.mj_id2name(mjm, _OBJECTS[kind], index) or f"#{index}"
    elements = getattr(spec, _LISTS[kind]) if spec is not None else []
    place = (
        places.of_element(kind, elements[index].name, elements[index].info) if index < len(elements) else places.label
    )
    return f"{place}: {kind} '{name}'"


def _reject_crowd(mjm: mujoco.MjModel, label: str) -> None:
    """Refuse more pairs of geoms than a step can look at, counted without listing them."""
    if contacts_disabled(mjm):
        return
    solid = int(np.count_nonzero(mjm.geom_contype | mjm.geom_conaffinity))
    if solid > MOST_GEOMS:
        raise ModelLoadError(
            f"{label}: too large a model: {solid:,} of its geoms can collide, and {MOST_GEOMS:,} are the most; "
            "give those that need not contype and conaffinity 0"
        )
    count = least_pairs(mjm)
    if count > MOST_PAIRS:
        raise ModelLoadError(
            f"{label}: too large a model: among its {mjm.ngeom:,} geoms {count:,} pairs or more can touch, and "
            f"{MOST_PAIRS:,} are the most; give geoms that need not touch each other contype and conaffinity 0"
        )


def least_pairs(mjm: mujoco.MjModel) -> int:
    """A lower bound of the number of pairs of geoms that can touch, in a time that grows with the geoms alone.

    Pairs whose masks meet, less those of one body, of two bodies that stand still, of a body and its parent, and those
    of excluded bodies (`pairs.possible_pairs` has the rules).
    """
    weld = mjm.body_weldid[mjm.geom_bodyid]
    count = _meeting(mjm, np.ones(mjm.ngeom, bool))
    if count <= MOST_PAIRS:
        return count
    still = mjm.body_dofnum[weld] == 0
    count -= _meeting(mjm, still)
    load = np.bincount(weld, minlength=mjm.nbody).astype(np.int64)
    moving = np.flatnonzero((mjm.body_weldid == np.arange(mjm.nbody)) & (mjm.body_dofnum > 0))
    count -= int((load[moving] * (load[moving] - 1) // 2).sum())
    parent = mjm.body_weldid[mjm.body_parentid[moving]]
    count -= int((load[moving] * load[parent])[parent > 0].sum())
    for signature in mjm.exclude_signature:
        low, high = int(signature) >> 16, int(signature) & 0xFFFF
        count -= int(mjm.body_geomnum[low]) * int(mjm.body_geomnum[high])
    return count


def _meeting(mjm: mujoco.MjModel, chosen: np.ndarray) -> int:
    """Pairs among the chosen geoms of which one's contype meets the other's conaffinity."""
    masks = np.stack([mjm.geom_contype, mjm.geom_conaffinity], axis=1)[chosen]
    kinds, counts = np.unique(masks, axis=0, return_counts=True)
    meets = ((kinds[:, :1] & kinds[:, 1]) | (kinds[:, 1:] & kinds[:, 0])) != 0
    counts = counts.astype(np.int64)
    twice = counts[:, None] * counts - np.diag(counts)
    return int(twice[meets].sum()) // 2
