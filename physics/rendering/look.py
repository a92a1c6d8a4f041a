"""The light and colours of a picture: one small record, handed to the kernel as a table.

By default the lights of the file are not used: one sun and the sky light every model the same, so that pictures are
comparable and robots look good from any side. `Look.of_file()` lights a model as its author did. Light is added up
linearly and shown with gamma 2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..machine.scalars import as_count

# rows of `Look.table`, three columns each
SUN_DIRECTION = 0  # unit vector towards the sun
SUN_RGB = 1
HORIZON_RGB = 2
ZENITH_RGB = 3
GROUND_RGB = 4  # light that comes up from below
SETTINGS = 5  # distance at which the floor fades into the sky (m), strength of ambient occlusion, exposure
SHADOWS = 6  # radius of the sun as seen from here (rad), rays to a light, 1 + the skybox's row of textures
LIMITS = 7  # nearest distance that is seen (m), reach of occlusion (m), share by which the haze below is darker
LIT_HORIZON_RGB, LIT_ZENITH_RGB = 8, 9  # the sky as it lights surfaces, which may be another than the one that is seen
HAZE_RGB = 10  # of the file, at the horizon of endless planes
HAZE_RING = 11  # its width as a share, distance of its upper edge (m); 0: no ring
LIGHTS = ("sun", "file")
CURVE = 0.29, 0.383, 0.223
"""The numbers a, b, c of the curve that shows light, see `shading.shown`."""
HAZE = 0.35
BRIGHTEST = 0.985
"""Picture value of a background at most: a light that is shown as white would be endless."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """Light and colour of the pictures; depth and segmentation depend on `endless_planes` only."""

    sun: tuple[float, float, float] = (-0.35, -0.55, 1.0)  # direction towards the sun, world frame
    sun_rgb: tuple[float, float, float] = (2.7, 2.45, 2.05)
    horizon_rgb: tuple[float, float, float] = (0.40, 0.64, 1.0)
    zenith_rgb: tuple[float, float, float] = (0.03, 0.12, 0.50)
    ground_rgb: tuple[float, float, float] = (0.26, 0.26, 0.28)
    exposure: float = 0.62
    occlusion: float = 0.8  # how strongly nearby bodies darken the sky's light, 0 to 1
    fade: float = 8.0  # the floor fades into the sky over this many model extents, or camera distances if that is more
    checker_contrast: float = 0.24  # of a textured plane's two colours: 1 as in the file
    floor_rgb: tuple[float, float, float] = (0.17, 0.21, 0.28)  # colour that floors are moved towards, as displayed
    floor_tint: float = 0.75  # share by which they are: 0 as in the file
    floor_lines: float = 0.018  # width of the lines between a floor's checkers, in cells; 0: as in the file
    plain_floor: tuple[float, float] = (1.1, 0.9)  # tints of the checker given to a plane without texture
    plain_reflectance: float = 0.3  # of a plane without material
    floor_mirror: float | None = None  # reflectance of all planes, 0 to 1; None: that of their materials
    endless_planes: bool = False  # draw planes without end (as physics sees them), not as the rectangle in the file
    lights: str = "sun"  # "file": its headlight and lights, in place of the sun and the light of the sky
    skybox: bool = False  # show the file's skybox, if it has one, in place of the sky
    soft_shadows: int = 0  # rays to a light; 0: one, and shadows with sharp edges
    shadows: bool = True  # False: lights shine through all that is in their way
    background_rgb: tuple[float, ...] | None = None  # behind all, as shown, 0 to 1, in place of the sky that is seen
    ambient_rgb: tuple[float, ...] | None = None  # light from all sides, in place of that of the sky and the ground
    sun_radius: float = 1.5  # degrees, for soft shadows; lights of the file have `bulbradius`

    @classmethod
    def of_file(cls, **changes: Any) -> "Look":
        """The look that the file asks for: its lights, skybox and floor colours; fields by name change it."""
        own: dict[str, Any] = {
            "lights": "file",
            "skybox": True,
            "checker_contrast": 1.0,
            "floor_tint": 0.0,
            "floor_lines": 0.0,
            "occlusion": 0.0,
            "fade": np.inf,
        }
        own |= {"plain_floor": (1.0, 1.0), "plain_reflectance": 0.0, "exposure": 1.0}
        return cls(**(own | changes))

    def __post_init__(self) -> None:
        """Validate lights and ray counts."""
        if self.lights not in LIGHTS:
            raise ValueError(f"Look.lights={self.lights!r}: there are {' and '.join(map(repr, LIGHTS))}")
        as_count("Look.soft_shadows", self.soft_shadows, least=0, most=256)
        for name in ("background_rgb", "ambient_rgb"):
            given = getattr(self, name)
            if given is not None and not (np.shape(given) == (3,) and np.isfinite(given).all() and min(given) >= 0):
                raise ValueError(f"Look.{name}={given!r}: expected red, green and blue from 0 on")

    def to_linear(self, rgb: np.ndarray) -> np.ndarray:
        """Displayed colour in [0, 1] -> linear light (gamma 2)."""
        return np.clip(rgb, 0.0, 1.0) ** 2

    def cell(self, extent: float) -> float:
        """Checker cell (m) of an untextured plane: the power of two nearest a tenth of the model's extent."""
        return float(2.0 ** np.round(np.log2(max(extent, 1e-6) / 10)))

    def table(
        self,
        extent: float,
        distance: float,
        near: float = 0.0,
        reach: float = 0.0,
        haze: tuple[Any, float, float] = (np.zeros(3), 0.0, 0.0),
    ) -> np.ndarray:
        """The kernel's view of this record, (12, 3) float32.

        Args:
            extent: of the model, m.
            distance: of the camera from the looked-at point, m.
            near: distance from which on surfaces are seen, m.
            reach: distance up to which solids dim the sky's light, m.
            haze: before the file's skybox: colour as displayed, width as a share, distance of its upper edge (m).
        """
        sun = np.asarray(self.sun, dtype=np.float64)
        length = np.linalg.norm(sun)
        if not length > 0:
            raise ValueError(f"Look.sun must be a direction towards the sun, not {self.sun}")
        settings = (self.fade * max(extent, distance), self.occlusion, self.exposure)
        shadows = (np.radians(self.sun_radius), max(1, self.soft_shadows) if self.shadows else 0, 0.0)
        below, ground = HAZE, None
        seen: tuple[Any, Any] = (self.horizon_rgb, self.zenith_rgb)
        lit: tuple[Any, Any] = seen
        if self.background_rgb is not None:
            light = tuple(self._light_of(np.asarray(self.background_rgb, float)))
            below, seen = 0.0, (light, light)
        if self.ambient_rgb is not None:
            lit, ground = (self.ambient_rgb, self.ambient_rgb), self.ambient_rgb
        colours = self.sun_rgb, *seen, ground or self.ground_rgb
        rows: tuple[Any, ...] = (sun / length, *colours, settings, shadows, (near, reach, below), *lit)
        rows += (self.to_linear(haze[0]), (*haze[1:], 0.0))
        return np.array(rows, dtype=np.float32)

    def _light_of(self, value: np.ndarray) -> np.ndarray:
        """Return the linear light that is shown as picture values (3,): the inverse of `shading.shown`."""
        a, b, c = CURVE
        g = np.clip(value, 0.0, BRIGHTEST) ** 2
        half = (a - b * g) / (2 * (1 - g))
        return (np.sqrt(half**2 + c * g / (1 - g)) - half) / self.exposure
