"""A film: samples of pictures added up, for as long as one likes."""

from collections.abc import Callable

import torch

from ..shading import CURVE
from .denoise import Guides, clean
from .kernel import ALBEDO, BRIGHTNESS, DEPTH, FILM_COLUMNS, GLOW, HIT, NORMAL, RGB, SQUARE

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
        """The guides of a denoiser: of what each pixel sees first, and how sure its light is."""
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
        """Radiance (n, height, width, 3) float32, cleaned of noise; see `denoise.clean` for what may be asked."""
        return clean(self.light, self.guides, denoise)

    def rgb(self, denoise: bool | str = True) -> torch.Tensor:
        """Colours (n, height, width, 3) uint8, as the ray caster shows light."""
        return (255.0 * displayed(self.clean_light(denoise) * self.exposure) + 0.5).to(torch.uint8)


def displayed(light: torch.Tensor) -> torch.Tensor:
    """Linear light, exposed -> picture value in [0, 1): the curve of `shading.shown`."""
    x, (a, b, c) = light.clamp(min=0.0), CURVE
    return (x * (x + a) / (x * x + b * x + c)).sqrt()
