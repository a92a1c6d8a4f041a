"""Meshes of round vessels: cups, bowls, scoops, as a profile that is turned about the z axis."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np

SIDES = 32
Profile = Sequence[tuple[float, float]]
"""Radius and height of points, m, counterclockwise if the axis is at the left; the first and the last are on it."""


def lathe(profile: Profile, sides: int = SIDES) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices (v, 3) m and faces (f, 3) of a profile that is turned about the z axis.

    Args:
        profile: its points; only the first and the last are on the axis.
        sides: of the polygon that stands for a circle.
    """
    (_, low), *ring, (_, high) = profile
    angles = 2 * math.pi * np.arange(sides) / sides
    around = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    rings = [np.column_stack((radius * around, np.full(sides, height))) for radius, height in ring]
    vertices = np.concatenate(([[0.0, 0.0, low], [0.0, 0.0, high]], *rings))
    here, there = 2 + np.arange(sides), 2 + (np.arange(sides) + 1) % sides
    faces = [np.stack((np.zeros_like(here), there, here), axis=1)]
    for k in range(len(ring) - 1):
        a, b, above = here + k * sides, there + k * sides, sides
        faces += [np.stack((a, b, b + above), axis=1), np.stack((a, b + above, a + above), axis=1)]
    last = (len(ring) - 1) * sides
    faces.append(np.stack((np.ones_like(here), here + last, there + last), axis=1))
    return vertices, np.concatenate(faces)


def vessel(inner: float, depth: float, lip: float, wall: float, floor: float) -> Profile:
    """Return the profile of a vessel, whose inner floor is at height 0.

    Args:
        inner: radius inside, m.
        depth: inside, m.
        lip: thickness of the wall at its upper edge, m.
        wall: thickness at the floor's lower side, m.
        floor: thickness of the floor, m.
    """
    edge = min(0.3 * lip, 0.003)
    return [
        (0.0, -floor),
        (inner + wall - 2 * edge, -floor),
        (inner + wall, -floor + 2 * edge),
        (inner + lip, depth - edge),
        (inner + lip - edge, depth),
        (inner + edge, depth),
        (inner, depth - edge),
        (inner, edge),
        (inner - edge, 0.0),
        (0.0, 0.0),
    ]


class Vessel(NamedTuple):
    """A vessel as a part of a body.

    Attributes:
        body: name of the body.
        profile: from `vessel`.
        height: of the inner floor in the body's frame, m.
        material: of its mesh.
        touches: whether it is a field of distances that matter touches; else it is only drawn.
    """

    body: str
    profile: Profile
    height: float
    material: str
    touches: bool = False


def add_vessel(spec: mujoco.MjSpec, name: str, one: Vessel) -> None:
    """Add a vessel to a model: a mesh, and a geom of that name, which no body touches and which weighs nothing."""
    vertices, faces = lathe(one.profile)
    mesh = spec.add_mesh(name=name)
    mesh.uservert, mesh.userface = vertices.ravel().tolist(), faces.ravel().tolist()
    spec.body(one.body).add_geom(
        name=name,
        type=mujoco.mjtGeom.mjGEOM_SDF if one.touches else mujoco.mjtGeom.mjGEOM_MESH,
        meshname=name,
        pos=[0.0, 0.0, one.height],
        material=one.material,
        mass=0.0,
        contype=0,
        conaffinity=0,
        group=1,
    )
