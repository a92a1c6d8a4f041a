"""Cleaning pictures of noise: by Open Image Denoise where it is installed, or by a filter of our own.

The filter is one of wavelets with holes, guided by the first surface of each pixel: H. Dammertz et al., "Edge-avoiding
à-trous wavelet transform for fast global illumination filtering", HPG 2010. Light is divided by albedo first, so that
textures stay sharp, and how different two pixels may be follows from how sure their light is: C. Schied et al.,
"Spatiotemporal variance-guided filtering", HPG 2017.
"""

import importlib.util
from typing import NamedTuple

import torch

from ...machine.libraries import pip_install
from ...machine.runtime import ensure_runtime
from .launch import shared_filter_kernels
from .wavelets import MEASURED

METHODS = ("oidn", "filter")
"""Denoisers by name."""
_LEVELS = 5  # of the filter: pixels up to 2^5 away, twice
_WEIGHTS = (0.3, 0.5, 0.2)  # of red, green and blue in brightness
_SPARK = 2.0
_DARKEST = 0.02  # of albedo by which light is divided


class Guides(NamedTuple):
    """The things that a denoiser knows of n pictures besides their light, (n, height, width, ...) float32.

    Attributes:
        glow: (3) light seen directly from its source, which is exact except at edges.
        albedo: (3) of the first surface; 0 for the sky, 1 for glass.
        normal: (3) mean of the normals.
        depth: m along the optical axis.
        hit: share of the samples that do not see the sky.
        variance: of the mean brightness of light without the glow.
    """

    glow: torch.Tensor
    albedo: torch.Tensor
    normal: torch.Tensor
    depth: torch.Tensor
    hit: torch.Tensor
    variance: torch.Tensor


def has_oidn() -> bool:
    """Return True if Open Image Denoise is installed."""
    return importlib.util.find_spec("pyoidn") is not None


def require_denoiser(denoise: bool | str) -> None:
    """Refuse a denoiser that is unknown or not installed.

    Raises:
        ValueError: no such denoiser.
        ImportError: the message says what to install.
    """
    if not isinstance(denoise, bool) and denoise not in METHODS:
        raise ValueError(f"denoise={denoise!r}: it is True, False, {' or '.join(map(repr, METHODS))}")
    if denoise == "oidn" and not has_oidn():
        raise ImportError(
            f"denoise='oidn': Open Image Denoise is not installed; {pip_install('denoise')}, or use denoise='filter'"
        )


def clean(light: torch.Tensor, guides: Guides, denoise: bool | str = True) -> torch.Tensor:
    """Clean light (n, height, width, 3) of noise.

    Args:
        light: linear.
        guides: of the same pictures.
        denoise: "oidn", "filter", False for nothing, or True for the first of these that is installed.

    Raises:
        ValueError, ImportError: as in `require_denoiser`.
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
    white_sky = guides.albedo + (1.0 - guides.hit)[..., None]
    for picture, albedo, normal in zip(light, white_sky, guides.normal, strict=True):
        arrays = [part.cpu().contiguous().numpy() for part in (picture, albedo.clamp(0.0, 1.0), normal)]
        found.append(torch.as_tensor(pyoidn.denoise(arrays[0], albedo=arrays[1], normal=arrays[2], hdr=True)))
    return torch.stack(found).to(light)


def by_wavelets(light: torch.Tensor, guides: Guides) -> torch.Tensor:
    """Clean light by the filter."""
    albedo = guides.albedo.clamp(min=_DARKEST)
    colour, variance = _without_sparks((light - guides.glow) / albedo, guides.variance / _brightness(albedo).square())
    now = torch.cat([colour, variance[..., None]], dim=-1).contiguous()
    parts = guides.normal, guides.albedo, guides.depth[..., None], guides.hit[..., None]
    seen, (measure, smooth) = torch.cat(parts, dim=-1).contiguous(), shared_filter_kernels(ensure_runtime())
    measured = now.new_empty((*now.shape[:3], MEASURED))
    for level in range(_LEVELS):
        found = torch.empty_like(now)
        measure((now, seen, int(level == 0), measured))
        smooth((now, seen, measured, 2**level, found))
        now = found
    return now[..., :3] * albedo + guides.glow


def _brightness(colour: torch.Tensor) -> torch.Tensor:
    return (colour * colour.new_tensor(_WEIGHTS)).sum(dim=-1)


def _without_sparks(colour: torch.Tensor, variance: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Dim pixels that are brighter than all eight around them, to the brightest of these."""
    bright = _brightness(colour)
    height, width = bright.shape[1:]
    bordered = torch.nn.functional.pad(bright[:, None], (1, 1, 1, 1), mode="replicate")[:, 0]
    steps = [(j, i) for j in range(3) for i in range(3) if (j, i) != (1, 1)]
    brightest = torch.stack([bordered[:, j : j + height, i : i + width] for j, i in steps]).amax(dim=0)
    scale = (_SPARK * brightest / bright.clamp(min=1e-12)).clamp(max=1.0)
    return colour * scale[..., None], variance * scale.square()
