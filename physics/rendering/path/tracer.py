"""PathTracer: the renderer of path tracing, with the calls of `BatchRenderer`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ...base.arguments import as_real
from ...machine.runtime import ensure_runtime
from ...machine.scalars import as_count, as_whole
from ..cameras.camera import Camera, PosedCamera
from ..cameras.mounted import MountedCamera
from ..cast.casting import DRESS_NAMES, Tables
from ..drawn_model import DrawnModel
from ..look import Look
from ..outputs import DrawnPoses, outputs_named
from ..particles.placed import ParticleScene
from ..particles.tables import joined
from ..reading import PoseSource
from ..renderer import BatchRenderer
from ..shading import CURVE
from ..shown.lights import AMBIENT, DIFFUSE
from ..shown.overlays import Show
from ..shown.render_model import RenderModel
from . import settings as at
from .denoise import Guides, clean, require_denoiser
from .emitters import Emitters, emitters
from .kernel import ALBEDO, BRIGHTNESS, DEPTH, FILM_COLUMNS, GLOW, HIT, NORMAL, RGB, SQUARE
from .launch import shared_path_kernel
from .packets_of_eight import GeomPackets, packets_of_eight
from .surroundings import EVEN, LAMPLIT, MAP, MAP_COLUMNS, SKY, as_map, map_table

MOST_SAMPLES = 2**20
MOST_BOUNCES = 1024
MOST_PIXELS = 2**24
"""Pixels of a picture: a film of as many takes 1.6 gigabytes."""
_LEAST_SUN = 0.05  # degrees: its light has to come from somewhere


PATHS_AT_ONCE = 2**20
"""Paths of one launch, between which a bar moves and an interrupt is heard."""


class Film:
    """Pictures of one moment; each call of `add` makes them less noisy, half as much for four times the samples.

    Attributes:
        samples: samples of each pixel so far.
        exposure: factor of the light that is shown.
    """

    def __init__(
        self,
        size: tuple[int, int, int],
        device: torch.device,
        exposure: float,
        launch: Callable[[torch.Tensor, int, int], None],
    ) -> None:
        """Begin a film of pictures (n, height, width); `launch` adds samples to sums, from a first one on."""
        self._sums = torch.zeros((*size, FILM_COLUMNS), dtype=torch.float64, device=device)
        self._launch, self.samples, self.exposure = launch, 0, exposure

    def add(self, samples: int, progress: bool | None = None) -> "Film":
        """Add samples to each pixel; 64 and then 64 give the bits of 128.

        Args:
            samples: how many.
            progress: show a bar; None: in a terminal, if it takes more than two seconds.
        """
        from tqdm import tqdm

        pixels = self._sums[..., 0].numel()
        portion = max(1, PATHS_AT_ONCE // max(1, pixels))
        with tqdm(
            total=samples,
            desc="path tracing",
            unit="spp",
            delay=2.0,
            disable=None if progress is None else not progress,
        ) as bar:
            for first in range(0, samples, portion):
                count = min(portion, samples - first)
                if pixels:
                    self._launch(self._sums, self.samples, count)
                self.samples += count
                bar.update(count)
        return self

    def _mean(self, first: int, count: int) -> torch.Tensor:
        return self._sums[..., first : first + count] / max(1, self.samples)

    @property
    def light(self) -> torch.Tensor:
        """Radiance (n, height, width, 3) float32, linear, as it was added up."""
        return self._mean(RGB, 3).to(torch.float32)

    @property
    def guides(self) -> Guides:
        """The guides of a denoiser: of each pixel's first surface, and the certainty of its light."""
        glow, hit = self._mean(GLOW, 3), self._mean(HIT, 1)[..., 0]
        bright = ((self._mean(RGB, 3) - glow) * self._sums.new_tensor(BRIGHTNESS)).sum(dim=-1)
        variance = (self._mean(SQUARE, 1)[..., 0] - bright.square()).clamp(min=0.0) / max(1, self.samples - 1)
        depth = self._mean(DEPTH, 1)[..., 0] / hit.clamp(min=1e-6)
        parts = glow, self._mean(ALBEDO, 3), self._mean(NORMAL, 3), depth, hit, variance
        return Guides(*(part.to(torch.float32) for part in parts))

    @property
    def noise(self) -> torch.Tensor:
        """Standard deviation (n, height, width) float32 of the brightness of `light` without the glow."""
        return self.guides.variance.sqrt()

    def clean_light(self, denoise: bool | str = True) -> torch.Tensor:
        """Radiance (n, height, width, 3) float32, cleaned of noise; `denoise` as in `denoise.clean`."""
        return clean(self.light, self.guides, denoise)

    def rgb(self, denoise: bool | str = True) -> torch.Tensor:
        """Colours (n, height, width, 3) uint8, as the ray caster shows light."""
        return (255.0 * displayed(self.clean_light(denoise) * self.exposure) + 0.5).to(torch.uint8)


def displayed(light: torch.Tensor) -> torch.Tensor:
    """Linear light, exposed -> picture value in [0, 1): the curve of `shading.shown`."""
    x, (a, b, c) = light.clamp(min=0.0), CURVE
    return (x * (x + a) / (x * x + b * x + c)).sqrt()


class PathTracer(BatchRenderer):
    """A renderer that follows light from surface to surface; it has the calls of `BatchRenderer`.

    Colours are path traced; depth, segmentation and the other outputs come from the ray caster, whose rays go
    through the middles of the pixels. A picture depends only on its environment's state and the seed, to the bit.

    All light of the scene is there: the look's sky and sun, or the lamps of the file, with soft shadows by
    `Look.sun_radius` and `bulbradius`; geoms whose material has emission; a map of the surroundings. Materials are
    as in MJCF: roughness, metallic, specular, opacity, textures, and reflectance of planes. A material called m is
    glass if the file has the custom number `m:ior`, its index of refraction.

    Args:
        model: as for `BatchRenderer`, like the next three and `look` to `near`.
        width: of pictures, pixels.
        height: of pictures, pixels.
        camera: the view.
        samples: paths of each pixel.
        look: light, sky and floor.
        show: the overlays to draw.
        entities: of every geom, for the output "entity".
        near: how near things may be, m.
        bounces: how often a path may be scattered; 1: only direct light.
        aperture: radius of the lens, m; 0: a pinhole, which is sharp everywhere.
        focus: distance along the optical axis that is sharp, m; None: the distance of the looked-at point.
        environment: the surroundings instead of the sky and its sun, in linear light: a colour (3,), or a map
            (height, width, 3) whose rows go from the zenith down and whose columns from +x over +y around.
        denoise: "oidn" (Open Image Denoise, an extra), "filter" (our own), False, or True: the best that is installed.
        clamp: most that a path may add to a channel after two scatterings, which keeps single pixels from sparkling,
            and takes a little light away; 0: anything.
        seed: of the random numbers.
        progress: show a bar; None: in a terminal, if it takes more than two seconds.

    Raises:
        ValueError, TypeError: as in `BatchRenderer`, and for invalid arguments.
        ImportError: a denoiser is not installed; the message says what to install.
    """

    def __init__(
        self,
        model: Any,
        width: int = 480,
        height: int = 480,
        camera: int | str | Camera | MountedCamera | PosedCamera | Mapping | None = None,
        samples: int = 64,
        look: Look | None = None,
        show: Show | None = None,
        entities: Sequence[int] | np.ndarray | None = None,
        near: float | None = None,
        *,
        bounces: int = 8,
        aperture: float = 0.0,
        focus: float | None = None,
        environment: Any = None,
        denoise: bool | str = True,
        clamp: float = 10.0,
        seed: int = 0,
        progress: bool | None = None,
    ) -> None:
        super().__init__(model, width, height, camera, look=look, show=show, entities=entities, near=near)
        self.samples = as_count("samples", samples, most=MOST_SAMPLES)
        self.bounces = as_count("bounces", bounces, least=0, most=MOST_BOUNCES)
        self.aperture = _at_least_zero("aperture", aperture)
        self._focus = None if focus is None else _at_least_zero("focus", focus)
        self.clamp = _at_least_zero("clamp", clamp)
        self.seed = as_whole("seed", seed)
        if not 0 <= self.seed < 2**31:
            raise ValueError(f"seed={seed}: it must be from 0 to {2**31 - 1}")
        if self.aperture > 0 and focus is not None and focus <= 0:
            raise ValueError(f"focus={focus}: a lens must be sharp at a distance above 0 m")
        if self.width * self.height > MOST_PIXELS:
            raise ValueError(
                f"width={width}, height={height}: a picture of path tracing can have {MOST_PIXELS:,} pixels at most"
            )
        require_denoiser(denoise)
        self.denoise, self.progress = denoise, progress
        self._areas = emitters(self._scene.drawn).areas
        self._made: dict[RenderModel, tuple[Emitters, GeomPackets]] = {}
        self._around = (
            None
            if environment is None
            else as_map(np.broadcast_to(environment, (1, 1, 3)) if np.ndim(environment) == 1 else environment)
        )
        self._path_tables: dict[torch.device, Tables] = {}

    def draw(
        self,
        solver: PoseSource,
        outputs: Sequence[str] = ("rgb",),
        envs_idx: Any = None,
        *,
        before: DrawnPoses | None = None,
    ) -> dict[str, torch.Tensor]:
        """Several pictures: colour by paths, all else as `BatchRenderer.draw` finds it."""
        wanted = outputs_named(outputs)
        others = [name for name, output in wanted.items() if not output.colour]
        found = super().draw(solver, others, envs_idx, before=before) if others else {}
        if len(others) < len(wanted):
            found["rgb"] = self._colours(solver, envs_idx)
        return {name: found[name] for name in wanted}

    @property
    def focus(self) -> float:
        """Distance along the optical axis that is sharp, m."""
        return self._scene.view.typical_distance if self._focus is None else self._focus

    def together(
        self,
        solver: PoseSource,
        outputs: Sequence[str] = ("rgb",),
        envs_idx: Any = None,
        *,
        spacing: Sequence[float] = (2.0, 2.0),
        per_row: int | None = None,
        center: bool = True,
        offsets: Any = None,
    ) -> dict[str, torch.Tensor]:
        """Several environments side by side in one picture: colour by paths, all else as `BatchRenderer.together`.

        The arguments as in `BatchRenderer.together`, and so are the errors.
        """
        wanted = outputs_named(outputs)
        others, found = [name for name, output in wanted.items() if not output.colour], {}
        place: dict[str, Any] = {"spacing": spacing, "per_row": per_row, "center": center, "offsets": offsets}
        if others:
            found = super().together(solver, others, envs_idx, **place)
        if len(others) < len(wanted):
            scene, poses, tables, _, crowd = self._side_by_side(solver, envs_idx, **place)
            lit, placed = self._for_paths(scene)
            made = lit.copied(crowd.of_model), placed.copied(crowd.of_model)
            film = self._film(scene, poses, tables, *made).add(self.samples, self.progress)
            found["rgb"] = film.rgb(self.denoise)[0]
        return {name: found[name] for name in wanted}

    def _colours(self, solver: PoseSource, envs_idx: Any) -> torch.Tensor:
        """Finished pictures, one environment's film at a time."""
        scene, _, poses, tables, more = self._place(solver, envs_idx)
        made = self._for_paths(scene)
        pictures = []
        for i in range(len(poses.eye)):
            own = {name: table[i : i + 1] for name, table in more.items()}
            film = self._film(scene, DrawnPoses(*(part[i : i + 1] for part in poses)), tables | own, *made)
            pictures.append(film.add(self.samples, self.progress).rgb(self.denoise))
        empty = torch.zeros((0, self.height, self.width, 3), dtype=torch.uint8, device=poses.eye.device)
        return torch.cat([empty, *pictures])

    def expose(self, solver: PoseSource, envs_idx: Any = None, samples: int | None = None) -> Film:
        """Begin a film of the present moment, to which samples may be added.

        Args:
            solver: a solver of this model.
            envs_idx: environments; None: all.
            samples: paths of each pixel; None: the renderer's, 0: none yet.
        """
        count = self.samples if samples is None else as_count("samples", samples, least=0, most=MOST_SAMPLES)
        scene, _, poses, tables, more = self._place(solver, envs_idx)
        return self._film(scene, poses, tables | more, *self._for_paths(scene)).add(count, self.progress)

    def _for_paths(self, scene: DrawnModel | ParticleScene) -> tuple[Emitters, GeomPackets]:
        """Return the geoms of a scene that shine, and its geoms in eights."""
        if scene.drawn not in self._made:
            self._made = {scene.drawn: (emitters(scene.drawn), packets_of_eight(scene.drawn))}
        return self._made[scene.drawn]

    def _film(
        self, scene: DrawnModel | ParticleScene, poses: DrawnPoses, tables: Tables, lit: Emitters, placed: GeomPackets
    ) -> Film:
        """Begin a film of a scene at some poses, with the tables of it that `_place` and `_for_paths` return."""
        runtime, device = ensure_runtime(), torch.device(poses.eye.device)
        own = {"settings": self._settings(lit, placed), "emitters": lit.table}
        tables = {name: table.contiguous() for name, table in joined(tables).items()} | self._tables_for_paths(device)
        tables |= {name: torch.as_tensor(array, device=device) for name, array in own.items()}
        offset = (poses.centre - poses.eye[:, None]).to(torch.float32)
        pose = torch.cat([offset, poses.turn.to(torch.float32)], dim=-1).contiguous()
        count = len(poses.eye)
        axes = poses.view.reshape(count, 9).to(torch.float32)
        around = axes.new_zeros(count, 4)
        views = torch.cat([around, axes, tables["frustum"].expand(count, 5)], dim=-1).contiguous()
        geoms = tables["kind"], tables["shape"], tables["paint"], pose, placed.table(pose, tables["shape"]), views
        light = (tables[name] for name in ("settings", "look", "lights", "emitters", "areas", "around"))
        before, after = (*geoms, *light), [tables[name] for name in DRESS_NAMES]
        trace = shared_path_kernel(runtime, scene.has._replace(lights=True))  # their code is small

        def launch(sums: torch.Tensor, first: int, count: int) -> None:
            trace((*before, first, count, self.seed, sums, *after))

        return Film((len(pose), self.height, self.width), device, self.look.exposure, launch)

    def _tables_for_paths(self, device: torch.device) -> Tables:
        """The additional tables of this renderer."""
        if device not in self._path_tables:
            around = np.zeros((1, MAP_COLUMNS), np.float32)
            if self._around is not None and self._around[..., 0].size > 1:
                around = map_table(self._around)
            found = {"areas": self._areas, "around": around}
            self._path_tables[device] = {name: torch.as_tensor(array, device=device) for name, array in found.items()}
        return self._path_tables[device]

    def _settings(self, lit: Emitters, placed: GeomPackets) -> np.ndarray:
        """The kernel's numbers, see `settings.py`."""
        found = np.zeros(at.SETTINGS, np.float32)
        found[at.NEAR], found[at.APERTURE], found[at.FOCUS] = self.near, self.aperture, self.focus
        found[at.BOUNCES], found[at.CLAMP] = self.bounces, self.clamp
        found[at.ENDS : at.ENDS + 4] = placed.ends
        lamps, has_lamps = self._scene.lights.table, self._scene.has.lights
        found[at.LAMPS] = len(lamps) if has_lamps and lamps[:, DIFFUSE : DIFFUSE + 3].any() else 0
        found[at.EMITTERS] = lit.count
        if self._around is not None:
            height, width = self._around.shape[:2]
            found[at.KIND] = MAP if height * width > 1 else EVEN
            found[at.COLOUR : at.COLOUR + 3] = self._around[0, 0]
            found[at.MAP_WIDTH], found[at.MAP_HEIGHT] = width, height
        elif has_lamps:
            found[at.KIND] = LAMPLIT
            found[at.AMBIENT : at.AMBIENT + 3] = lamps[:, AMBIENT : AMBIENT + 3].sum(axis=0)
        else:
            found[at.KIND] = SKY
            radius = np.radians(np.clip(self.look.sun_radius, _LEAST_SUN, 90.0))
            found[at.SUN_SPREAD] = 2 * np.sin(radius / 2) ** 2 if np.any(self.look.sun_rgb) else 0.0
        return found


def _at_least_zero(name: str, value: Any) -> float:
    """Return a finite number from 0 on.

    Raises:
        ValueError: the message has the argument.
    """
    number = as_real(name, value)
    if not np.isfinite(number) or number < 0:
        raise ValueError(f"{name}={value}: it must be a number from 0 on")
    return float(number)
