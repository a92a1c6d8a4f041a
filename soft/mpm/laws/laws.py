"""Laws of materials: how strain returns to where stress is possible, and the stress.

The elastic strain is e = b - 1, of the left Cauchy-Green tensor b = F F'. All materials here are isotropic, so b says
all that F does. Small strains keep their digits, as nothing is subtracted from 1. A symmetric tensor is a list of its
entries xx, yy, zz, xy, xz, yz. The stress is Kirchhoff's, J sigma (Pa).

The arithmetic `m` has the functions that are not operators: of compiled code, of Taichi, or of numpy. So a law is
written once, and compared with SciPy in tests.

Source: Bonet and Wood, "Nonlinear continuum mechanics for finite element analysis", 2nd edition, chapter 6.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .tensors import determinant_change, eigen, from_eigen, sym_scale_add

Law = Callable[[Any, list, Any, Sequence[Any], Any], tuple[list, Any, list]]
"""(m, strain, volume, numbers, rate): strain after an elastic step, the material's own change of volume, its numbers,
and the symmetric rate of strain times dt; returns strain, volume and stress."""
_LEAST = 0.05
"""The least stretch that logarithms are taken of."""
MOST_PRESSED = -0.5
"""The least change of a liquid's volume in a step, of the volume."""
PACKED, LOOSE, HARDEST = -2.0, 0.5, 50.0
"""Bounds of the logarithm of snow's plastic volume, and of the growth of its stiffness."""


def advanced_volume(m: Any, volume: Any, trace: Any) -> Any:
    """Return J - 1 after a step whose strain has a trace; a splash may press by half in it, but turns nothing over."""
    return volume + (volume + 1.0) * m.maximum(trace, MOST_PRESSED)


def _pressure(lam: Any, change: Any, stretch: Any) -> Any:
    """Return lambda J (J - 1), where J = `stretch` and J - 1 = `change`."""
    return lam * stretch * change


def _corotated_from(m: Any, squares: Sequence[Any], vectors: Any, mu: Any, lam: Any) -> list:
    """Return 2 mu (b - V) + lam J (J - 1), where V^2 = b has the eigenvalues 1 + `squares`."""
    stretches = [m.sqrt(x + 1.0) for x in squares]
    changes = [x / (s + 1.0) for x, s in zip(squares, stretches, strict=True)]
    J = stretches[0] * stretches[1] * stretches[2]
    c0, c1, c2 = changes
    change = c0 + c1 + c2 + c0 * c1 + c0 * c2 + c1 * c2 + c0 * c1 * c2
    p = _pressure(lam, change, J)
    return from_eigen([mu * 2.0 * s * c + p for s, c in zip(stretches, changes, strict=True)], vectors)


def corotated(m: Any, strain: list, volume: Any, numbers: Sequence[Any], rate: Any) -> tuple:
    """Fixed corotated elasticity (Stomakhin et al., "Energetically consistent invertible elasticity", 2012)."""
    mu, lam = numbers[:2]
    squares, vectors = eigen(m, strain)
    return strain, volume, _corotated_from(m, squares, vectors, mu, lam)


def neo_hookean(m: Any, strain: list, volume: Any, numbers: Sequence[Any], rate: Any) -> tuple:
    """Compressible neo-Hookean elasticity: mu (b - 1) + lambda ln J."""
    mu, lam = numbers[:2]
    p = lam * 0.5 * m.log1p(determinant_change(strain))
    return strain, volume, sym_scale_add(strain, mu, p)


def clipped(m: Any, strain: list, volume: Any, numbers: Sequence[Any], rate: Any) -> tuple:
    """Corotated elasticity whose stretches stay between 1 - lower and 1 + higher; more is plastic."""
    mu, lam, lower, higher = numbers[:4]
    squares, vectors = eigen(m, strain)
    squares = [m.minimum(m.maximum(x, lower * (lower - 2.0)), higher * (higher + 2.0)) for x in squares]
    return from_eigen(squares, vectors), volume, _corotated_from(m, squares, vectors, mu, lam)


def _hencky(m: Any, strain: list) -> tuple[list, Any]:
    """Return the principal logarithmic strains, and their directions."""
    squares, vectors = eigen(m, strain)
    least = _LEAST * _LEAST - 1.0
    return [m.log1p(m.maximum(x, least)) * 0.5 for x in squares], vectors


def _from_hencky(m: Any, logs: list, vectors: Any, mu: Any, lam: Any) -> tuple[list, list]:
    """Return strain and stress of principal logarithmic strains."""
    trace = lam * (logs[0] + logs[1] + logs[2])
    return (
        from_eigen([m.expm1(h * 2.0) for h in logs], vectors),
        from_eigen([mu * 2.0 * h + trace for h in logs], vectors),
    )


def von_mises(m: Any, strain: list, volume: Any, numbers: Sequence[Any], rate: Any) -> tuple:
    """Hencky's elasticity that flows at von Mises' yield stress.

    Source: Simo and Hughes, "Computational inelasticity", section 9.3.
    """
    mu, lam, yield_stress = numbers[:3]
    logs, vectors = _hencky(m, strain)
    mean = (logs[0] + logs[1] + logs[2]) * (1 / 3)
    dev = [h - mean for h in logs]
    size = m.sqrt(dev[0] * dev[0] + dev[1] * dev[1] + dev[2] * dev[2])
    limit = yield_stress * math.sqrt(2 / 3) / (mu * 2.0)  # the norm of the deviatoric stress is sqrt(2/3) of it
    left = m.select(size > limit, limit / m.maximum(size, limit), 1.0 + size * 0.0)
    return (*_with_volume(_from_hencky(m, [mean + d * left for d in dev], vectors, mu, lam), volume),)


def _with_volume(found: tuple[list, list], volume: Any) -> tuple:
    strain, stress = found
    return strain, volume, stress


def liquid(m: Any, strain: list, volume: Any, numbers: Sequence[Any], rate: Any) -> tuple:
    """A liquid of bulk modulus lambda and viscosity; `volume` is J - 1, which the step has advanced."""
    lam, viscosity = numbers[:2]  # viscosity over dt: `rate` is the strain of a step
    p = lam * (volume + 1.0) * volume
    mean = (rate[0] + rate[1] + rate[2]) * (1 / 3)
    twice = viscosity * 2.0
    return strain, volume, [p + twice * (r - mean) for r in rate[:3]] + [twice * r for r in rate[3:]]


def sand(m: Any, strain: list, volume: Any, numbers: Sequence[Any], rate: Any) -> tuple:
    """Hencky's elasticity with Drucker and Prager's cone; `volume` is the logarithm of the volume that was gained.

    Source: Klar et al., "Drucker-Prager elastoplasticity for sand animation", 2016, section 7.3; the correction of the
    volume: Tampubolon et al., "Multi-species simulation of porous sand and water mixtures", 2017, section 4.3.4.
    """
    mu, lam, slope = numbers[:3]
    logs, vectors = _hencky(m, strain)
    logs = [h + volume * (1 / 3) for h in logs]
    trace = logs[0] + logs[1] + logs[2]
    mean = trace * (1 / 3)
    dev = [h - mean for h in logs]
    size = m.sqrt(dev[0] * dev[0] + dev[1] * dev[1] + dev[2] * dev[2])
    zero = trace * 0.0
    limit = m.maximum((lam * 3.0 + mu * 2.0) / (mu * 2.0) * (zero - trace) * slope, zero)
    left = m.select(size > limit, limit / m.maximum(size, 1e-30), zero + 1.0)
    apart = trace >= 0.0
    kept = [m.select(apart, zero, mean + d * left) for d in dev]
    gained = m.select(apart, trace, zero)
    return (*_with_volume(_from_hencky(m, kept, vectors, mu, lam), gained),)


def snow(m: Any, strain: list, volume: Any, numbers: Sequence[Any], rate: Any) -> tuple:
    """Clipped corotated elasticity that hardens as it is pressed; `volume` is the logarithm of the plastic volume.

    Source: Stomakhin et al., "A material point method for snow simulation", 2013, section 5.
    """
    mu, lam, lower, higher, hardening = numbers[:5]
    before, vectors = eigen(m, strain)
    squares = [m.minimum(m.maximum(x, lower * (lower - 2.0)), higher * (higher + 2.0)) for x in before]
    for x, y in zip(before, squares, strict=True):
        volume = volume + (m.log1p(m.maximum(x, _LEAST * _LEAST - 1.0)) - m.log1p(y)) * 0.5
    volume = m.minimum(m.maximum(volume, PACKED), LOOSE)
    harder = m.minimum(m.exp(hardening * (volume * 0.0 - m.expm1(volume))), HARDEST)
    return from_eigen(squares, vectors), volume, _corotated_from(m, squares, vectors, mu * harder, lam * harder)


@dataclass(frozen=True)
class LawKind:
    """A law and what its code needs.

    Attributes:
        law: the function.
        strains: whether it has an elastic strain; else `volume` is J - 1.
    """

    law: Law
    strains: bool = True


LAWS = {
    "corotated": LawKind(corotated),
    "neo_hookean": LawKind(neo_hookean),
    "clipped": LawKind(clipped),
    "von_mises": LawKind(von_mises),
    "liquid": LawKind(liquid, strains=False),
    "sand": LawKind(sand),
    "snow": LawKind(snow),
}
"""The laws by name; the place of one is its number in `ENTITY`."""
