"""The drawn things of a model: a surface for each geom that is not a plane, a floor for each plane, and a camera."""

import difflib
import math
from dataclasses import dataclass

import mujoco
import numpy as np

from ..physics.base.shapes import HFIELD, PLANE
from ..physics.files.geometry.visual import HIGHEST_VISIBLE_GROUP, MESH_TYPES, colour_of, flat_texture_of, pixels_of
from .errors import ViewerError
from .surfaces import PRIMITIVES, ROUND, GeomSurface, height_field, mesh

_PRIMITIVES = {int(getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}")): of for name, of in PRIMITIVES.items()}


@dataclass(frozen=True, eq=False)
class Drawn:
    """The geoms of a model with a surface, n of them, and its planes.

    Attributes:
        surfaces: the different surfaces.
        geom: (n,) ids of geoms.
        surface: (n,) index of each geom's surface.
        color: (n, 4) red, green, blue and opacity, 0 to 1, as shown on a screen.
        body: (n,) ids of bodies.
        collision: (n,) True for geoms of the groups that viewers hide, which are there for contacts.
        planes: (p,) ids of the planes that are shown.
        plane_colors: (p, 2, 3) colors of the two kinds of fields of each plane's checker.
        ground: indices of the surfaces that are height fields.
        cell: side of a field of the checkers, m.
    """

    surfaces: tuple[GeomSurface, ...]
    geom: np.ndarray
    surface: np.ndarray
    color: np.ndarray
    body: np.ndarray
    collision: np.ndarray
    planes: np.ndarray
    plane_colors: np.ndarray
    ground: tuple[int, ...]
    cell: float


def drawn(mj: mujoco.MjModel, collision: bool = False, corners: int = ROUND) -> Drawn:
    """Collect the drawn parts of a model.

    Args:
        mj: the compiled model.
        collision: take the geoms that are there for contacts, too.
        corners: of circles, a multiple of 4.

    Raises:
        ViewerError: there is nothing to draw.
    """
    surfaces: dict[tuple, int] = {}
    made: list[GeomSurface] = []
    rows, planes = [], []
    for g in range(mj.ngeom):
        hidden = min(int(mj.geom_group[g]), mujoco.mjNGROUP - 1) > HIGHEST_VISIBLE_GROUP
        color = _color(mj, g)
        if color[3] <= 0 or (hidden and not collision):
            continue
        kind = int(mj.geom_type[g])
        if kind == PLANE:
            if not hidden:
                planes.append(g)
            continue
        key = _key(mj, g)
        if key not in surfaces:
            surfaces[key] = len(made)
            made.append(_surface(mj, g, corners))
        rows.append((g, surfaces[key], hidden, color))
    if not rows and not planes:
        raise ViewerError("the model has no visible geoms: there is nothing to draw (groups 0 to 2 are shown)")
    geom = np.array([row[0] for row in rows], int)
    return Drawn(
        surfaces=tuple(made),
        geom=geom,
        surface=np.array([row[1] for row in rows], int),
        color=np.array([row[3] for row in rows], float).reshape(-1, 4),
        body=mj.geom_bodyid[geom].astype(int),
        collision=np.array([row[2] for row in rows], bool),
        planes=np.array(planes, int),
        plane_colors=np.array([_checker(mj, g) for g in planes], float).reshape(-1, 2, 3),
        ground=tuple(index for key, index in surfaces.items() if key[0] == HFIELD),
        cell=float(2.0 ** np.round(np.log2(max(mj.stat.extent, 1e-6) / 6))),
    )


def sized(mj: mujoco.MjModel, g: int, size: np.ndarray, corners: int = ROUND) -> GeomSurface | None:
    """Return the surface of a geom of another size (3,), m; None for one whose size says nothing of its surface."""
    shape = _PRIMITIVES.get(int(mj.geom_type[g]))
    return None if shape is None else shape(size, corners)


def _key(mj: mujoco.MjModel, g: int) -> tuple:
    """Return all that the surface of a geom follows from."""
    kind, data = int(mj.geom_type[g]), int(mj.geom_dataid[g])
    return (kind, data) if kind == HFIELD or kind in MESH_TYPES else (kind, *mj.geom_size[g].tolist())


def _surface(mj: mujoco.MjModel, g: int, corners: int) -> GeomSurface:
    kind, data = int(mj.geom_type[g]), int(mj.geom_dataid[g])
    if kind == HFIELD:
        return height_field(mj, data)
    if kind in MESH_TYPES and data >= 0:
        return mesh(mj, data)
    if kind not in _PRIMITIVES:
        raise ViewerError(f"geom {mj.geom(g).name or g}: surfaces of type {kind} cannot be drawn")
    return _PRIMITIVES[kind](mj.geom_size[g], corners)


def _color(mj: mujoco.MjModel, g: int) -> np.ndarray:
    """Color and opacity of a geom; of a texture, its mean."""
    color, texture = np.array(colour_of(mj, g), float), flat_texture_of(mj, g)
    if texture >= 0:
        color[:3] *= pixels_of(mj, texture).mean(axis=(0, 1)) / 255.0
    return color


def _checker(mj: mujoco.MjModel, g: int) -> list[np.ndarray]:
    """Two light tints of a plane's color: soft enough that bodies on it stand out."""
    color = _color(mj, g)[:3]
    hue = color / max(color.max(), 1e-6)
    tint = 0.78 + 0.22 * hue if color.max() > 0.02 else np.ones(3)
    return [tint * 0.86, tint * 0.70]


@dataclass(frozen=True)
class StartCamera:
    """A first look at a model: it turns about `target`."""

    target: tuple[float, float, float]  # m
    distance: float  # m
    azimuth: float  # degrees; 0 looks along +x, 90 along +y
    elevation: float  # degrees; below 0 looks down


def start_camera(mj: mujoco.MjModel, centers: np.ndarray) -> StartCamera:
    """Return a camera that sees all that moves, or all that is there if nothing does.

    Args:
        mj: the compiled model.
        centers: (ngeom, 3) positions of the geoms, m.
    """
    solid = (mj.geom_type != PLANE) & (mj.geom_rbound > 0)
    moving = solid & ((mj.body_weldid[mj.geom_bodyid] != 0) | (mj.body_mocapid[mj.geom_bodyid] >= 0))
    seen = moving if moving.any() else solid
    center, reach = np.array(mj.stat.center, float), float(mj.stat.extent)
    if seen.any():
        radius = mj.geom_rbound[seen, None]
        low, high = (centers[seen] - radius).min(axis=0), (centers[seen] + radius).max(axis=0)
        center, reach = (low + high) / 2, float(np.linalg.norm(high - low)) / 2
    azimuth = float(mj.vis.global_.azimuth)
    distance = 1.25 * reach / math.tan(math.radians(22.5))
    x, y, z = map(float, center)
    return StartCamera((x, y, z), max(distance, 1e-3), azimuth if azimuth != 90 else 125.0, -18.0)


def followed(mj: mujoco.MjModel, drawn: Drawn) -> int:
    """Return the row of the geom that a camera follows: one of the first body, if that can go places; -1 for none."""
    walks = (int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    first = next((b for b in range(1, mj.nbody) if mj.body_weldid[b] != 0), -1)
    joints = slice(mj.body_jntadr[first], mj.body_jntadr[first] + mj.body_jntnum[first]) if first > 0 else slice(0)
    if not np.isin(mj.jnt_type[joints], walks).any():
        return -1
    geoms = np.flatnonzero(drawn.body >= first)
    return int(geoms[0]) if len(geoms) else -1


def body_name(mj: mujoco.MjModel, body: int) -> str:
    """Return the name of a body, or its number."""
    return mj.body(body).name or ("world" if body == 0 else f"body {body}")


def closest(name: str, known: list[str]) -> str:
    """Return the end of a message about an unknown name: the nearest ones."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    return f"; nearest: {', '.join(near)}" if near else ""
