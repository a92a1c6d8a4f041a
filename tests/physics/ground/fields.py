"""Height fields and solids for tests, and the surface of a field as an independent library sees it."""

import mujoco
import numpy as np
import trimesh

GEOM = mujoco.mjtGeom
SQRT_HALF = float(np.sqrt(0.5))
CORNERS = np.array([[x * 0.09, y * 0.06, z * 0.05] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
SOLIDS = {
    "sphere": (GEOM.mjGEOM_SPHERE, (0.08, 0, 0)),
    "capsule": (GEOM.mjGEOM_CAPSULE, (0.04, 0.09, 0)),
    "ellipsoid": (GEOM.mjGEOM_ELLIPSOID, (0.1, 0.08, 0.05)),
    "cylinder": (GEOM.mjGEOM_CYLINDER, (0.09, 0.05, 0)),
    "box": (GEOM.mjGEOM_BOX, (0.1, 0.09, 0.05)),
    "mesh": (GEOM.mjGEOM_MESH, (0, 0, 0)),
}
"""Type and size of one solid of each kind that touches fields."""


def with_field(heights: np.ndarray, cell: float, **place: object) -> mujoco.MjSpec:
    """Return a spec with a static field of these heights (m), cells of this side, and no solid."""
    spec = mujoco.MjSpec()
    low, span = heights.min(), max(np.ptp(heights), 1e-3)
    nrow, ncol = heights.shape
    half = [0.5 * cell * (ncol - 1), 0.5 * cell * (nrow - 1)]
    data = ((heights - low) / span).astype(np.float32)
    spec.add_hfield(name="field", nrow=nrow, ncol=ncol, size=[*half, span, 0.1], userdata=data.ravel())
    frame = spec.worldbody.add_body(name="land", **place)
    frame.add_geom(name="field", type=GEOM.mjGEOM_HFIELD, hfieldname="field", pos=[0, 0, low])
    return spec


def add_solid(spec: mujoco.MjSpec, kind: str, **place: object) -> mujoco.MjsBody:
    """Add a free body of one solid, which touches fields and no other such body."""
    body = spec.worldbody.add_body(name=kind, **place)
    body.add_freejoint()
    if kind == "mesh" and not spec.meshes:
        spec.add_mesh(name="wedge", uservert=CORNERS.ravel(), inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX)
    shape, size = SOLIDS[kind]
    geom = body.add_geom(name=kind, type=shape, size=size, contype=2, conaffinity=1)
    if kind == "mesh":
        geom.meshname = "wedge"
    return body


def rough(nrow: int, ncol: int, height: float, seed: int = 0) -> np.ndarray:
    """Return independent random heights (m)."""
    return np.random.default_rng(seed).uniform(0, height, (nrow, ncol))


def surface(mjm: mujoco.MjModel) -> trimesh.Trimesh:
    """Return the upper surface of the model's only field in the field's frame, with normals up (m)."""
    nrow, ncol = int(mjm.hfield_nrow[0]), int(mjm.hfield_ncol[0])
    x = np.linspace(-mjm.hfield_size[0, 0], mjm.hfield_size[0, 0], ncol)
    y = np.linspace(-mjm.hfield_size[0, 1], mjm.hfield_size[0, 1], nrow)
    z = mjm.hfield_data.reshape(nrow, ncol).astype(float) * mjm.hfield_size[0, 2]
    points = np.stack([*np.meshgrid(x, y), z], axis=-1).reshape(-1, 3)
    r, c = np.meshgrid(np.arange(nrow - 1), np.arange(ncol - 1), indexing="ij")
    a = (r * ncol + c).ravel()
    faces = np.concatenate([np.stack([a, a + 1, a + ncol + 1], axis=1), np.stack([a, a + ncol + 1, a + ncol], axis=1)])
    return trimesh.Trimesh(points, faces, process=False)


def heights_at(mesh: trimesh.Trimesh, points: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Return the heights (n,) of a surface with this grid of vertices under points (n, 3)."""
    grid = mesh.vertices.reshape(*shape, 3)
    x, y = grid[0, :, 0], grid[:, 0, 1]
    c = np.clip(np.searchsorted(x, points[:, 0]) - 1, 0, len(x) - 2)
    r = np.clip(np.searchsorted(y, points[:, 1]) - 1, 0, len(y) - 2)
    u, v = (points[:, 0] - x[c]) / (x[c + 1] - x[c]), (points[:, 1] - y[r]) / (y[r + 1] - y[r])
    z = grid[..., 2]
    low = z[r, c] + u * (z[r, c + 1] - z[r, c]) + v * (z[r + 1, c + 1] - z[r, c + 1])
    high = z[r, c] + v * (z[r + 1, c] - z[r, c]) + u * (z[r + 1, c + 1] - z[r + 1, c])
    return np.where(u >= v, low, high)


def random_poses(rng: np.random.Generator, count: int, wide: float, low: float, high: float) -> np.ndarray:
    """Return poses (count, 7) of a free body, up to `wide` from the origin along x and y, in any orientation."""
    turn = rng.standard_normal((count, 4))
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    place = rng.uniform([-wide, -wide, low], [wide, wide, high], (count, 3))
    return np.concatenate([place, turn], axis=1)


def nearest_on(mesh: trimesh.Trimesh, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances (n,) of points (n, 3) from a surface, and its nearest points (n, 3) (m).

    Scaled, as trimesh has absolute tolerances.
    """
    scale, triangles = 1e3, mesh.triangles
    found = np.zeros((len(points), 3))
    for k, point in enumerate(points):
        close = trimesh.triangles.closest_point(scale * triangles, np.tile(scale * point, (len(triangles), 1))) / scale
        found[k] = close[np.linalg.norm(close - point, axis=1).argmin()]
    return np.linalg.norm(found - points, axis=1), found
