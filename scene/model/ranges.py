"""Ranges of entities in the compiled model: their links, joints, coordinates, dofs, geoms, vertices and faces.

Everything that belongs to an entity has consecutive numbers: local index + start = global index. A global link is a
body of MuJoCo without the world: link 0 is body 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from ...physics.model.model import Model

KINDS = {
    "link": "links",
    "joint": "joints",
    "q": "coordinates",
    "dof": "dofs",
    "geom": "geoms",
    "vgeom": "geoms that are drawn",
    "vert": "vertices of meshes that touch",
    "face": "triangles of meshes that touch",
    "edge": "edges of meshes that touch",
    "vvert": "vertices of meshes that are drawn",
    "vface": "triangles of meshes that are drawn",
    "equality": "equalities among its parts",
}
"""The kinds of parts that an entity has ranges of, in words."""


@dataclass(frozen=True)
class Ranges:
    """The ranges of one entity, from a start to an end that is not part of it, by `KINDS`."""

    start: dict[str, int]
    end: dict[str, int]


class ScatteredEntityError(RuntimeError):
    """Parts of an entity do not have consecutive numbers in the compiled model."""


def ranges_of(model: Model, names: Sequence[str], link_counts: Sequence[int]) -> list[Ranges]:
    """Return the ranges of all entities, in their order.

    Args:
        model: the compiled scene.
        names: of the entities.
        link_counts: how many links each has, in the order in which they were attached.

    Raises:
        ScatteredEntityError: an entity's parts are not together; nothing that a scene is made of does that.
    """
    mj = model.mj
    if sum(link_counts) != mj.nbody - 1:
        raise ScatteredEntityError(f"the entities have {sum(link_counts)} links, the model {mj.nbody - 1}")
    owner = np.repeat(np.arange(len(names)), link_counts)  # of a link
    for link, entity in enumerate(owner.tolist()):
        body = mj.body(link + 1).name
        if not body.startswith(f"{names[entity]}/"):
            raise ScatteredEntityError(f"link {link} is '{body}', which is no part of entity '{names[entity]}'")
    if np.any(mj.geom_bodyid == 0):
        raise ScatteredEntityError("a geom belongs to the world instead of an entity")
    joints, geoms, dofs = owner[mj.jnt_bodyid - 1], owner[mj.geom_bodyid - 1], owner[mj.dof_bodyid - 1]
    coordinates = np.repeat(joints, np.diff([*mj.jnt_qposadr, mj.nq]))
    owners = {"link": owner, "joint": joints, "q": coordinates, "dof": dofs, "geom": geoms}
    owners["vgeom"] = geoms[model.geometry.vgeoms.geom]
    start, end = dict[str, np.ndarray](), dict[str, np.ndarray]()
    owners["equality"] = _of_equalities(mj, names, owner)
    for kind, of in owners.items():
        if np.any(np.diff(of) < 0):
            raise ScatteredEntityError(f"the {kind}s of the entities are not in the entities' order")
        start[kind] = np.searchsorted(of, np.arange(len(names)), side="left")
        end[kind] = np.searchsorted(of, np.arange(len(names)), side="right")
    store, drawn = model.geometry, model.geometry.vgeoms
    for kind, low, high, of in (
        ("vert", store.vert_start, store.vert_end, geoms),
        ("face", store.face_start, store.face_end, geoms),
        ("edge", store.edge_start, store.edge_end, geoms),
        ("vvert", drawn.vert_start, drawn.vert_end, owners["vgeom"]),
        ("vface", drawn.face_start, drawn.face_end, owners["vgeom"]),
    ):
        start[kind], end[kind] = _of_meshes(kind, low, high, of, len(names))
    return [
        Ranges({k: int(start[k][entity]) for k in KINDS}, {k: int(end[k][entity]) for k in KINDS})
        for entity in range(len(names))
    ]


def _of_equalities(mj: mujoco.MjModel, names: Sequence[str], owner: np.ndarray) -> np.ndarray:
    """Return the entity of each equality: that of its first body, site, joint or tendon."""
    ids = []
    for kind, objects, first in zip(mj.eq_type, mj.eq_objtype, mj.eq_obj1id.tolist(), strict=True):
        if kind == mujoco.mjtEq.mjEQ_TENDON:
            ids.append(names.index(mj.tendon(first).name.split("/")[0]))
            continue
        if kind == mujoco.mjtEq.mjEQ_JOINT:
            body = mj.jnt_bodyid[first]
        else:
            body = mj.site_bodyid[first] if objects == mujoco.mjtObj.mjOBJ_SITE else first
        ids.append(int(owner[body - 1]))
    return np.array(ids, int)


def _of_meshes(
    kind: str, low: np.ndarray, high: np.ndarray, owner: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return starts and ends of the vertices or faces of entities, from the geoms'; geoms may share them."""
    start, end, at = np.zeros(count, int), np.zeros(count, int), 0
    for entity in range(count):
        mine = (owner == entity) & (high > low)
        start[entity] = low[mine].min() if mine.any() else at
        end[entity] = high[mine].max() if mine.any() else at
        if start[entity] < at:
            raise ScatteredEntityError(f"the {kind}s of entity {entity} begin at {start[entity]}, before {at}")
        at = end[entity]
    return start, end
