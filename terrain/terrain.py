"""A piece of ground as it is simulated: one field of heights, its parts, and its place in a model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..physics.machine.libraries import load_mujoco
from .checks import number, pair, positive, require_room
from .files import highest_surface, read_image, read_triangles
from .surface import on_triangles, require_heights

load_mujoco()

import mujoco  # noqa: E402


@dataclass(frozen=True, eq=False, kw_only=True)
class Terrain:
    """A field of heights whose middle stands at the world's origin, with its sub-terrains.

    x runs along columns and y along rows: `heights[r, c]` is at (-sx/2 + sx c/(ncol - 1), -sy/2 + sy r/(nrow - 1)).
    Sub-terrains lie in rows along y and columns along x; a field that was not generated is one.

    Attributes:
        heights: (nrow, ncol), m.
        size: lengths along x and y, (sx, sy), m.
        sub_size: lengths of one sub-terrain, m.
        origins: (rows, cols, 3): where an environment that belongs to a sub-terrain has its origin, in its middle on
            the highest ground around, m.
        kinds: (rows, cols), the names of sub-terrains.
        difficulties: (rows, cols), from 0 to 1.
        proportions: the share of each name.
        flat_patches: by name (rows, cols, num_patches, 3), world frame, m; sub-terrains without patches of this name
            have their origin there.
        colors: (nrow, ncol, 3) uint8, or None.
    """

    heights: np.ndarray
    size: tuple[float, float]
    sub_size: tuple[float, float]
    origins: np.ndarray
    kinds: np.ndarray
    difficulties: np.ndarray
    proportions: Mapping[str, float]
    flat_patches: Mapping[str, np.ndarray] = field(default_factory=dict)
    colors: np.ndarray | None = None

    def __repr__(self) -> str:
        nrow, ncol = self.heights.shape
        rows, cols = self.kinds.shape
        return f"Terrain({self.size[0]:g} x {self.size[1]:g} m, {nrow} x {ncol} points, {rows} x {cols} sub-terrains)"

    @classmethod
    def from_heights(
        cls, heights: Any, *, size: Any = None, horizontal_scale: float | None = None, name: str = "ground"
    ) -> Self:
        """Take heights that are there already.

        Args:
            heights: (nrow, ncol), along y and x, m.
            size: lengths along x and y, m; or
            horizontal_scale: length of a cell, m.
            name: of the only sub-terrain.

        Raises:
            ValueError: a height is not finite, there is no cell, or not one of size and horizontal_scale is given.
        """
        heights = require_heights("heights", heights)
        if (size is None) == (horizontal_scale is None):
            raise ValueError("give either size=(x, y) in metres or horizontal_scale, the length of a cell")
        if size is None:
            scale = positive("horizontal_scale", horizontal_scale)
            lengths = (scale * (heights.shape[1] - 1), scale * (heights.shape[0] - 1))
        else:
            lengths = (positive("size", pair("size", size)[0]), positive("size", pair("size", size)[1]))
        top = on_triangles(heights, *(np.array((count - 1) / 2) for count in heights.shape[::-1]))
        return cls(
            heights=heights,
            size=lengths,
            sub_size=lengths,
            origins=np.array([[[0.0, 0.0, float(top)]]]),
            kinds=np.array([[name]]),
            difficulties=np.zeros((1, 1)),
            proportions={name: 1.0},
        )

    @classmethod
    def from_image(cls, path: str | Path, *, size: Any, height_range: Any = (0.0, 1.0)) -> Self:
        """Take a point for each pixel of a grey picture, whose upper edge lies at the largest y.

        Args:
            path: of a PNG, JPEG, TIFF or the like; 16 bits are kept, and colours become grey.
            size: lengths along x and y, m.
            height_range: heights of black and white, m.

        Raises:
            FileNotFoundError: no such file.
            ValueError: it is no picture.
        """
        low, high = pair("height_range", height_range)
        return cls.from_heights(low + (high - low) * read_image(path), size=size, name=Path(path).stem)

    @classmethod
    def from_mesh(
        cls,
        path: Any,
        *,
        horizontal_scale: float = 0.1,
        up: str = "z",
        scale: float = 1.0,
        outside: float | None = None,
    ) -> Self:
        """Take the highest surface of a mesh over each point of its bounds. The field's middle is the bounds'.

        Args:
            path: of a file that `trimesh` reads, or a `trimesh.Trimesh`.
            horizontal_scale: length of a cell, m.
            up: the axis that points up: "x", "y" or "z".
            scale: metres in the mesh's unit.
            outside: height where there is no mesh, m; None: of its lowest point.

        Raises:
            FileNotFoundError: no such file.
            ValueError: it is no mesh, or its bounds hold no cell.
        """
        triangles = read_triangles(path, up, scale)
        step = positive("horizontal_scale", horizontal_scale)
        low, high = triangles.reshape(-1, 3).min(0), triangles.reshape(-1, 3).max(0)
        counts = np.floor((high - low)[:2] / step + 1e-6).astype(int)
        require_room("path", counts[1] + 1, counts[0] + 1)
        x, y = (((low + high) / 2)[k] + (np.arange(counts[k] + 1) - counts[k] / 2) * step for k in (0, 1))
        heights = highest_surface(triangles, x, y)
        ground = low[2] if outside is None else number("outside", outside)
        heights = np.where(np.isfinite(heights), heights, ground)
        name = Path(path).stem if isinstance(path, str | Path) else "mesh"
        return cls.from_heights(heights, horizontal_scale=step, name=name)

    def height_at(self, xy: Any, clamp: bool = False) -> np.ndarray:
        """Return the ground's height, exactly on the triangles that geoms and rays meet.

        Args:
            xy: (..., 2), world frame, m.
            clamp: whether places outside of the field have the height of its nearest edge; else NaN.

        Returns:
            (...,), m.
        """
        xy = np.asarray(xy, float)
        nrow, ncol = self.heights.shape
        u = (xy[..., 0] / self.size[0] + 0.5) * (ncol - 1)
        v = (xy[..., 1] / self.size[1] + 0.5) * (nrow - 1)
        known = np.isfinite(u) & np.isfinite(v)
        height = on_triangles(self.heights, np.where(known, u, 0.0), np.where(known, v, 0.0))
        if not clamp:
            known &= (abs(xy) <= np.array(self.size) / 2).all(-1)
        return np.where(known, height, np.nan)

    def add_to(
        self, spec: mujoco.MjSpec, name: str = "terrain", *, friction: Any = None, base: float = 1.0, **geom: Any
    ) -> Any:
        """Add the field and its geom to a model, and a texture and material if there are colours.

        Args:
            spec: of the model.
            name: of the asset, the geom, and the rest.
            friction: of the geom: three coefficients, or only the sliding one; None: MuJoCo's.
            base: thickness of the ground below its lowest point, m.
            geom: other attributes of the geom, by MuJoCo's names.

        Returns:
            The geom, a `mujoco.MjsGeom`.

        Raises:
            ValueError: the model has such a name already, or the thickness is not above zero.
        """
        if any(found.name == name for found in (*spec.hfields, *spec.geoms)):
            raise ValueError(f"name={name!r}: the model has a field or geom of this name; choose another")
        lowest, nrow, ncol = float(self.heights.min()), *self.heights.shape
        spread = float(self.heights.max()) - lowest
        spec.add_hfield(
            name=name,
            nrow=nrow,
            ncol=ncol,
            size=[self.size[0] / 2, self.size[1] / 2, spread or 1.0, positive("base", base)],
            userdata=(self.heights - lowest).ravel(),
        )
        if friction is not None:
            geom["friction"] = (
                [number("friction", friction, 0.0), 0.005, 0.0001] if np.ndim(friction) == 0 else friction
            )
        if self.colors is not None and "material" not in geom:
            geom["material"] = _add_material(spec, name, self.colors)
        kind = mujoco.mjtGeom.mjGEOM_HFIELD
        return spec.worldbody.add_geom(name=name, type=kind, hfieldname=name, pos=[0.0, 0.0, lowest], **geom)


def _add_material(spec: mujoco.MjSpec, name: str, colors: np.ndarray) -> str:
    """Add a texture of colours (nrow, ncol, 3), at most 1,024 a side, and its material; return their name."""
    every = -(-max(colors.shape) // 1024)
    picture = colors[::-every, ::every]
    height, width = picture.shape[:2]
    kind = mujoco.mjtTexture.mjTEXTURE_2D
    texture = spec.add_texture(name=name, type=kind, width=width, height=height, nchannel=3)
    texture.data = picture.tobytes()
    textures = [""] * mujoco.mjtTextureRole.mjNTEXROLE
    textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name
    spec.add_material(name=name, textures=textures)
    return name
