"""Closed meshes made of numbers: vertices (n, 3) and faces (t, 3), counterclockwise from outside."""

import itertools

import numpy as np
import trimesh

Mesh = tuple[np.ndarray, np.ndarray]


def icosphere(halvings: int) -> Mesh:
    """A unit sphere: an icosahedron whose triangles are cut in four, again and again."""
    golden = (1 + 5**0.5) / 2
    corners = [(0.0, s, t * golden) for s in (-1, 1) for t in (-1, 1)]
    vertices = np.array([np.roll(corner, k) for k in range(3) for corner in corners])
    edge = np.abs(np.linalg.norm(vertices[:, None] - vertices[None], axis=-1) - 2) < 1e-9
    faces = [
        (a, b, c) for a in range(12) for b in range(a) for c in range(b) if edge[a, b] and edge[b, c] and edge[c, a]
    ]
    vertices, faces = vertices / np.linalg.norm(vertices[0]), np.array(faces)
    inward = np.linalg.det(vertices[faces]) < 0
    faces[inward] = faces[inward][:, ::-1]
    for _ in range(halvings):
        sides = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        unique, index = np.unique(sides, axis=0, return_inverse=True)
        middles = vertices[unique].sum(axis=1)
        ab, bc, ca = len(vertices) + index.reshape(3, -1)
        a, b, c = faces.T
        vertices = np.concatenate([vertices, middles / np.linalg.norm(middles, axis=1, keepdims=True)])
        faces = np.concatenate([np.stack(f, 1) for f in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))])
    return vertices, faces


def torus(radius: float, thickness: float, around: int = 32, across: int = 16) -> Mesh:
    """A ring about z, by its two radii."""
    a, b = np.meshgrid(*(np.arange(n) * 2 * np.pi / n for n in (around, across)), indexing="ij")
    out = radius + thickness * np.cos(b)
    vertices = np.stack([out * np.cos(a), out * np.sin(a), thickness * np.sin(b)], axis=-1).reshape(-1, 3)
    i, j = (x.ravel() for x in np.meshgrid(np.arange(around), np.arange(across), indexing="ij"))
    k, n = (i + 1) % around, (j + 1) % across
    here, ahead, beyond, above = i * across + j, k * across + j, k * across + n, i * across + n
    faces = np.concatenate([np.stack([here, ahead, beyond], 1), np.stack([here, beyond, above], 1)])
    return vertices, faces


def box_with_hole(outer: float, inner: float, height: float) -> Mesh:
    """A square box with a square hole along z, by half sizes."""
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    rings = [np.column_stack([s * square, np.full(4, z)]) for z in (-height, height) for s in (outer, inner)]
    faces = []
    for k in range(4):
        n = (k + 1) % 4
        sides = (
            (8 + k, 8 + n, 12 + n, 12 + k),
            (4 + k, 4 + n, n, k),
            (k, n, 8 + n, 8 + k),
            (4 + n, 4 + k, 12 + k, 12 + n),
        )
        faces += [corners for a, b, c, d in sides for corners in ((a, b, c), (a, c, d))]
    return np.concatenate(rings), np.array(faces)


def mug(radius: float = 0.03, height: float = 0.07, wall: float = 0.005) -> Mesh:
    """A cup of 16 sides that is open above, its bottom at z = 0, with a handle of short rods at y > 0; metres.

    Two of its sides look along x, so that fingers can take it there.
    """
    profile = [(0, 0), (radius, 0), (radius, height), (radius - wall, height), (radius - wall, wall), (0, wall)]
    cup = trimesh.creation.revolve(np.array(profile), sections=16)
    cup.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 16, (0, 0, 1)))
    turn = np.linspace(-np.pi / 2, np.pi / 2, 6)
    across, up = 0.3 * height * np.cos(turn), 0.3 * height * np.sin(turn)
    bow = np.column_stack([np.zeros(6), radius - wall / 2 + across, height / 2 + up])
    rods = [trimesh.creation.cylinder(0.8 * wall, segment=ends, sections=8) for ends in itertools.pairwise(bow)]
    whole = trimesh.util.concatenate([cup, *rods])
    return np.asarray(whole.vertices), np.asarray(whole.faces)


def attributes(mesh: Mesh) -> str:
    """A mesh as attributes of MJCF's element `mesh`."""
    vertices, faces = (" ".join(f"{x:g}" for x in array.ravel()) for array in mesh)
    return f'vertex="{vertices}" face="{faces}"'
