"""Cleaning pictures of noise: by Open Image Denoise where it is installed, or by a filter of our own.

The filter is one of wavelets with holes, guided by what each pixel sees first: H. Dammertz et al., "Edge-avoiding
à-trous wavelet transform for fast global illumination filtering", HPG 2010. Light is divided by albedo first, so that
textures stay sharp; how different two pixels may be follows from how sure their light is, as in C. Schied et al.,
"Spatiotemporal variance-guided filtering", HPG 2017.
"""

import importlib.util
from typing import NamedTuple

import torch

METHODS = ("oidn", "filter")
"""Denoisers by name."""
_LEVELS = 5  # of the filter: pixels up to 2^5 away, twice
_KERNEL = (0.375, 0.25, 0.0625)  # weights of a cubic B-spline at 0, 1 and 2 steps
_BRIGHT, _NORMAL, _DEPTH, _ALBEDO = 4.0, 64.0, 0.02, 0.08
"""How alike two pixels are: standard deviations of brightness, power of the cosine of normals, share of the depth by
which they may be off the plane of the other, and difference of albedo."""
_DARKEST = 0.02  # of albedo by which light is divided


class Guides(NamedTuple):
    """What a denoiser knows of n pictures besides their light, (n, height, width, ...) float32.

    Attributes:
        albedo: (3) of what is seen first; 1 for the sky and for glass.
        normal: (3) mean of the normals.
        depth: m along the optical axis.
        hit: share of the samples that do not see the sky.
        variance: of the mean brightness.
    """

    albedo: torch.Tensor
    normal: torch.Tensor
    depth: torch.Tensor
    hit: torch.Tensor
    variance: torch.Tensor


def has_oidn() -> bool:
    """Return True if Open Image Denoise is installed."""
    return importlib.util.find_spec("pyoidn") is not None


def require_denoiser(denoise: bool | str) -> None:
    """Refuse a denoiser that there is not, or that is not installed.

    Raises:
        ValueError: no such denoiser.
        ImportError: it says what to install.
    """
    if not isinstance(denoise, bool) and denoise not in METHODS:
        raise ValueError(f"denoise={denoise!r}: it is True, False, {' or '.join(map(repr, METHODS))}")
    if denoise == "oidn" and not has_oidn():
        raise ImportError(
            "denoise='oidn': Open Image Denoise is not installed; pip install 'tumble[denoise]', or use "
            "denoise='filter'"
        )


def clean(light: torch.Tensor, guides: Guides, denoise: bool | str = True) -> torch.Tensor:
    """Clean light (n, height, width, 3) of noise.

    Args:
        light: linear.
        guides: of the same pictures.
        denoise: "oidn", "filter", False for nothing, or True for the first of these that is installed.

    Raises:
        ValueError, ImportError: those of `require_denoiser`.
    """
    require_denoiser(denoise)
    if denoise is False or not len(light):
        return light
    if denoise == "oidn" or (denoise is True and has_oidn()):
        return by_oidn(light, guides)
    return by_wavelets(light, guides)


def by_oidn(light: torch.Tensor, guides: Guides) -> torch.Tensor:
    """Clean light by Open Image Denoise, one picture after the other on the processor."""
    import pyoidn

    found = []
    for picture, albedo, normal in zip(light, guides.albedo, guides.normal, strict=True):
        arrays = [part.cpu().contiguous().numpy() for part in (picture, albedo.clamp(0.0, 1.0), normal)]
        found.append(torch.as_tensor(pyoidn.denoise(arrays[0], albedo=arrays[1], normal=arrays[2], hdr=True)))
    return torch.stack(found).to(light)


def by_wavelets(light: torch.Tensor, guides: Guides) -> torch.Tensor:
    """Clean light by the filter."""
    albedo = guides.albedo.clamp(min=_DARKEST)
    per_albedo = (albedo * albedo.new_tensor([0.3, 0.5, 0.2])).sum(dim=-1)
    variance = guides.variance / per_albedo.square()
    colour, variance = _without_sparks(light / albedo, variance)
    for level in range(_LEVELS):
        colour, variance = _smoothed(colour, variance, guides, 2**level)
    return colour * albedo


def _brightness(colour: torch.Tensor) -> torch.Tensor:
    return (colour * colour.new_tensor([0.3, 0.5, 0.2])).sum(dim=-1)


def _moved(picture: torch.Tensor, down: int, right: int) -> torch.Tensor:
    """Each pixel's neighbour; beyond the border it is the last pixel before it."""
    height, width = picture.shape[1:3]
    rows = (torch.arange(height, device=picture.device) + down).clamp(0, height - 1)
    columns = (torch.arange(width, device=picture.device) + right).clamp(0, width - 1)
    return picture[:, rows][:, :, columns]


def _without_sparks(colour: torch.Tensor, variance: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Dim pixels that are brighter than all around them, to the brightest of these."""
    around = [(j, i) for j in (-1, 0, 1) for i in (-1, 0, 1) if (j, i) != (0, 0)]
    bright = _brightness(colour)
    brightest = torch.stack([_moved(bright, *step) for step in around]).amax(dim=0)
    scale = (brightest / bright.clamp(min=1e-12)).clamp(max=1.0)
    return colour * scale[..., None], variance * scale.square()


def _smoothed(
    colour: torch.Tensor, variance: torch.Tensor, guides: Guides, step: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """One level of wavelets: means over 5 x 5 pixels, `step` apart, of those that are alike; and their variance."""
    bright = _brightness(colour)
    blurred = sum(
        weight * _moved(variance, j, i)
        for j, i, weight in [(j, i, 0.25 * 0.5 ** (abs(j) + abs(i))) for j in (-1, 0, 1) for i in (-1, 0, 1)]
    )
    spread = _BRIGHT * blurred.clamp(min=0.0).sqrt() + 1e-4
    slope_y = 0.5 * (_moved(guides.depth, 1, 0) - _moved(guides.depth, -1, 0))
    slope_x = 0.5 * (_moved(guides.depth, 0, 1) - _moved(guides.depth, 0, -1))
    sums, weights, variances = torch.zeros_like(colour), torch.zeros_like(bright), torch.zeros_like(bright)
    for j in range(-2, 3):
        for i in range(-2, 3):
            down, right = j * step, i * step
            there = {n: _moved(getattr(guides, n), down, right) for n in ("normal", "depth", "albedo", "hit")}
            cosine = (there["normal"] * guides.normal).sum(dim=-1)
            both_sky = (guides.hit < 0.5) & (there["hit"] < 0.5)
            alike = torch.where(both_sky, 1.0, cosine.clamp(0.0, 1.0) ** _NORMAL)
            off = (there["depth"] - guides.depth - down * slope_y - right * slope_x).abs()
            reach = _DEPTH * guides.depth + 1e-6
            closeness = off / reach + (there["albedo"] - guides.albedo).abs().sum(dim=-1) / _ALBEDO
            other = _moved(bright, down, right)
            closeness = closeness + (other - bright).abs() / spread
            weight = _KERNEL[abs(j)] * _KERNEL[abs(i)] * alike * torch.exp(-closeness)
            if (j, i) == (0, 0):
                weight = torch.full_like(weight, _KERNEL[0] ** 2)
            sums += weight[..., None] * _moved(colour, down, right)
            variances += weight.square() * _moved(variance, down, right)
            weights += weight
    return sums / weights[..., None], variances / weights.square()


