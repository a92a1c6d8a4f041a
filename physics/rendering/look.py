"""The light and colours of a picture: one small record, handed to the kernel as a table.

By default the lights of the file are not used: one sun and the sky light every model the same, so that pictures are
comparable and robots look good from any side. `Look.of_file()` lights a model as its author did. Light is added up
linearly and shown with gamma 2.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..scalars import as_count

# rows of `Look.table`, three columns each
SUN_DIRECTION = 0  # unit vector towards the sun
SUN_RGB = 1
HORIZON_RGB = 2
ZENITH_RGB = 3
GROUND_RGB = 4  # light that comes up from below
SETTINGS = 5  # distance at which the floor fades into the sky (m), strength of ambient occlusion, exposure
SHADOWS = 6  # radius of the sun as seen from here (rad), rays to a light, 1 + the skybox's row of textures
LIMITS = 7  # nearest distance that is seen (m), reach of occlusion (m)
LIGHTS = ("sun", "file")


@dataclass(frozen=True, kw_only=True)
class Look:
    """Light and colour of the pictures; depth and segmentation depend on `endless_planes` only."""

    sun: tuple[float, float, float] = (-0.35, -0.55, 1.0)  # direction towards the sun, world frame
    sun_rgb: tuple[float, float, float] = (1.75, 1.62, 1.42)
    horizon_rgb: tuple[float, float, float] = (0.84, 0.92, 1.0)
    zenith_rgb: tuple[float, float, float] = (0.20, 0.42, 0.85)
    ground_rgb: tuple[float, float, float] = (0.36, 0.35, 0.34)
    exposure: float = 0.62
    occlusion: float = 0.8  # how strongly nearby bodies darken the sky's light, 0 to 1
    fade: float = 3.0  # the floor fades into the sky over this many model extents, or camera distances if that is more
    checker_contrast: float = 0.24  # of a textured plane's two colours: 1 as in the file
    floor_paleness: float = 0.3  # share by which those colours are moved towards light grey: 0 as in the file
    plain_floor: tuple[float, float] = (0.84, 0.74)  # tints of the checker given to a plane without texture
    plain_reflectance: float = 0.3  # of a plane without material
    endless_planes: bool = False  # draw planes without end (as physics sees them), not as the rectangle in the file
    lights: str = "sun"  # "file": its headlight and lights, in place of the sun and the light of the sky
    skybox: bool = False  # show the file's skybox, if it has one, in place of the sky
    soft_shadows: int = 0  # rays to a light; 0: one, and shadows with sharp edges
    sun_radius: float = 1.5  # degrees, for soft shadows; lights of the file have `bulbradius`

    @classmethod
    def of_file(cls, **changes: Any) -> "Look":
        """The look that the file asks for: its lights, skybox and floor colours; fields by name change it."""
        own: dict[str, Any] = {
            "lights": "file",
            "skybox": True,
            "checker_contrast": 1.0,
            "floor_paleness": 0.0,
            "occlusion": 0.0,
        }
        own |= {"plain_floor": (1.0, 1.0), "plain_reflectance": 0.0, "exposure": 1.0}
        return cls(**(own | changes))

    def __post_init__(self) -> None:
        """Refuse lights that there are not, and numbers of rays that are none."""
        if self.lights not in LIGHTS:
            raise ValueError(f"Look.lights={self.lights!r}: there are {' and '.join(map(repr, LIGHTS))}")
        as_count("Look.soft_shadows", self.soft_shadows, least=0, most=256)

    def to_linear(self, rgb: np.ndarray) -> np.ndarray:
        """Displayed colour in [0, 1] -> linear light (gamma 2)."""
        return np.clip(rgb, 0.0, 1.0) ** 2

    def cell(self, extent: float) -> float:
        """Checker cell (m) of an untextured plane: the power of two nearest a tenth of the model's extent."""
        return float(2.0 ** np.round(np.log2(max(extent, 1e-6) / 10)))

    def table(self, extent: float, distance: float, near: float = 0.0, reach: float = 0.0) -> np.ndarray:
        """The kernel's view of this record, (8, 3) float32.

        Args:
            extent: of the model, m.
            distance: of the camera from what it looks at, m.
            near: distance from which on something is seen, m.
            reach: distance up to which solids dim the sky's light, m.
        """
        sun = np.asarray(self.sun, dtype=np.float64)
        length = np.linalg.norm(sun)
        if not length > 0:
            raise ValueError(f"Look.sun must be a direction towards the sun, not {self.sun}")
        settings = (self.fade * max(extent, distance), self.occlusion, self.exposure)
        shadows = (np.radians(self.sun_radius), max(1, self.soft_shadows), 0.0)
        colours = self.sun_rgb, self.horizon_rgb, self.zenith_rgb, self.ground_rgb
        rows = (sun / length, *colours, settings, shadows, (near, reach, 0.0))
        return np.array(rows, dtype=np.float32)
