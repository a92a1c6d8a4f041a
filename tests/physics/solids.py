"""Solids that are not convex, as vertices (n, 3) in metres and faces (m, 3) that look outwards."""

import numpy as np

PITCH, DEPTH, RADIUS = 2e-3, 1.227e-3, 8e-3
"""An M16 thread, m: its pitch, its depth, the radius of its crests."""


def sheet(points, wrap_rows=False):
    """Faces over points (rows, columns, 3), closed along the columns."""
    rows, columns = points.shape[:2]
    i, j = np.meshgrid(np.arange(rows if wrap_rows else rows - 1), np.arange(columns), indexing="ij")
    a, b = i * columns + j, i * columns + (j + 1) % columns
    c, d = (i + 1) % rows * columns + j, (i + 1) % rows * columns + (j + 1) % columns
    return points.reshape(-1, 3), np.stack([a, b, d, a, d, c], axis=-1).reshape(-1, 3).astype(np.int32)


def outwards(vertices, faces):
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return vertices, faces if np.einsum("ij,ij->", a, np.cross(b, c)) > 0 else faces[:, ::-1].copy()


def torus(major=0.3, minor=0.1, around=64, across=32):
    """A ring around z with 2 around across faces."""
    u, v = np.meshgrid(2 * np.pi * np.arange(around) / around, 2 * np.pi * np.arange(across) / across, indexing="ij")
    ring = major + minor * np.cos(v)
    return outwards(*sheet(np.stack([ring * np.cos(u), ring * np.sin(u), minor * np.sin(v)], axis=-1), True))


def turned(radius, height, closed):
    """A solid of rows around z, radius (rows, columns) at height (rows,); `closed` by points on the axis, or a ring."""
    rows, columns = np.shape(radius)
    angle = 2 * np.pi * np.arange(columns) / columns
    height = np.broadcast_to(np.reshape(height, (rows, 1)), (rows, columns))
    points, faces = sheet(np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=-1), not closed)
    if closed:
        ends = np.array([[0, 0, height[0, 0]], [0, 0, height[-1, 0]]])
        j, k = np.arange(columns), (np.arange(columns) + 1) % columns
        last = (rows - 1) * columns
        low = np.stack([np.full(columns, len(points)), k, j], axis=1)
        high = np.stack([np.full(columns, len(points) + 1), last + j, last + k], axis=1)
        points, faces = np.concatenate([points, ends]), np.concatenate([faces, low, high]).astype(np.int32)
    return outwards(points, faces)


def star(outer=0.4, inner=0.16, height=0.2, points=5):
    """A five-pointed prism with 40 faces."""
    radius = np.where(np.arange(2 * points) % 2 == 0, outer, inner)
    return turned(np.stack([radius, radius]), [-height / 2, height / 2], True)


def together(*solids):
    """Several solids as one mesh."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in solids)])
    faces = [faces + start for (_, faces), start in zip(solids, starts[:-1], strict=True)]
    return np.concatenate([vertices for vertices, _ in solids]), np.concatenate(faces)


def cup(radius=0.04, height=0.09, wall=0.004, columns=48):
    """A cup, open above, around z; its bottom is at z = 0."""
    inner = radius - wall
    profile = [
        (radius, 0.0),
        (radius, height / 2),
        (radius, height),
        (inner, height),
        (inner, height / 2),
        (inner, wall),
    ]
    r, z = np.array(profile).T
    return turned(np.tile(r[:, None], (1, columns)), z, True)


def mug(radius=0.04, height=0.09, wall=0.004, columns=48):
    """A cup with a handle, whose ends lie in the wall: two closed surfaces that overlap."""
    u = np.linspace(-np.pi / 2, np.pi / 2, 17)[:, None]
    v = 2 * np.pi * np.arange(12) / 12
    reach, thick = 0.025, 0.004
    start = radius - wall / 2
    middle = np.stack([start + reach * np.cos(u), 0 * u, height / 2 + reach * np.sin(u)], axis=-1)
    out = np.stack([np.cos(u), 0 * u, np.sin(u)], axis=-1)
    points = middle + thick * (np.cos(v)[None, :, None] * out + np.sin(v)[None, :, None] * [0.0, 1.0, 0.0])
    vertices, faces = sheet(points)
    ends = np.concatenate([vertices, middle[0], middle[-1]])
    j, k = np.arange(12), (np.arange(12) + 1) % 12
    low = np.stack([np.full(12, len(vertices)), k, j], axis=1)
    high = np.stack([np.full(12, len(vertices) + 1), 16 * 12 + j, 16 * 12 + k], axis=1)
    handle = outwards(ends, np.concatenate([faces, low, high]).astype(np.int32))
    return together(cup(radius, height, wall, columns), handle)


def _thread(angle, z):
    return RADIUS - DEPTH / 2 + DEPTH / 2 * np.cos(2 * np.pi * z / PITCH - angle)


def _hexagon(angle, flat=12e-3):
    return flat / np.cos((angle + np.pi / 6) % (np.pi / 3) - np.pi / 6)


def bolt(length=24e-3, head=10e-3, columns=48, a_turn=10):
    """M16 with a raised-cosine thread from z = 0 up and a hexagonal head below; the thread fades out at both ends."""
    angle = 2 * np.pi * np.arange(columns) / columns
    z = np.linspace(0, length, round(length / PITCH * a_turn) + 1)
    fade = np.clip(np.minimum(z, length - z) / PITCH, 0, 1)[:, None]
    root = RADIUS - DEPTH
    shaft = root + fade * (_thread(angle, z[:, None]) - root)
    radius = np.vstack([_hexagon(angle), _hexagon(angle), shaft])
    return turned(radius, np.concatenate([[-head, -1e-6], z]), True)


def nut(height=13e-3, clearance=0.1e-3, columns=48, a_turn=10):
    """M16, hexagonal, around the origin; its thread is that of `bolt`, with the clearance added."""
    angle = 2 * np.pi * np.arange(columns) / columns
    z = np.linspace(-height / 2, height / 2, round(height / PITCH * a_turn) + 1)
    fade = np.clip((height / 2 - np.abs(z)) / (PITCH / 2), 0, 1)[:, None]
    crest = RADIUS + 0.2e-3
    inner = crest + fade * (_thread(angle, z[:, None]) + clearance - crest)
    return turned(np.vstack([inner, _hexagon(angle), _hexagon(angle)]), [*z, height / 2, -height / 2], False)


def without_faces(solid, share=0.01, seed=0):
    """The solid without a share of its faces."""
    vertices, faces = solid
    lost = np.random.default_rng(seed).choice(len(faces), max(1, round(share * len(faces))), replace=False)
    return vertices, np.delete(faces, lost, axis=0)


def with_turned_faces(solid, share=0.01, seed=0):
    """The solid with a share of its faces turned over."""
    vertices, faces = solid
    over = np.random.default_rng(seed).choice(len(faces), max(1, round(share * len(faces))), replace=False)
    faces = faces.copy()
    faces[over] = faces[over][:, ::-1]
    return vertices, faces
