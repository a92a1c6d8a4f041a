"""Materials of matter: what a person says about them, and the numbers of their laws.

Young's modulus E (Pa) and Poisson's ratio nu give Lame's parameters mu = E / 2 (1 + nu) and
lambda = E nu / (1 + nu) (1 - 2 nu). Densities are in kg/m3.
"""

import math
from dataclasses import dataclass, fields
from typing import ClassVar

from .laws.laws import LAWS


@dataclass(frozen=True, kw_only=True)
class MatterMaterial:
    """Numbers that all materials have.

    Attributes:
        E: Young's modulus, Pa.
        nu: Poisson's ratio, above -1 and below 0.5.
        rho: density, kg/m3.
    """

    E: float = 1e6
    nu: float = 0.2
    rho: float = 1000.0
    LEAST: ClassVar[dict[str, float]] = {}
    """The least value of further numbers, by name; 0 where none is named."""

    def __post_init__(self) -> None:
        """Refuse numbers that no material has.

        Raises:
            ValueError: with the material, the number and its bounds.
        """
        for name in (each.name for each in fields(self)):
            value = getattr(self, name)
            if isinstance(value, float | int) and not isinstance(value, bool):
                self._require(name, float(value))
        self._require_more()

    def _require(self, name: str, value: float) -> None:
        where = f"{type(self).__name__}: {name}={value:g}"
        if not math.isfinite(value):
            raise ValueError(f"{where}: expected a finite number")
        if name in ("E", "rho") and value <= 0:
            raise ValueError(f"{where}: expected a number above 0")
        if name == "nu" and not -1 < value < 0.5:
            raise ValueError(f"{where}: expected a number above -1 and below 0.5")
        if name not in ("E", "rho", "nu") and value < 0:
            raise ValueError(f"{where}: expected at least 0")

    def _require_more(self) -> None:
        """Refuse what depends on the kind of material."""

    @property
    def mu(self) -> float:
        """The shear modulus, Pa."""
        return self.E / (2 * (1 + self.nu))

    @property
    def lam(self) -> float:
        """Lame's first parameter, Pa."""
        return self.E * self.nu / ((1 + self.nu) * (1 - 2 * self.nu))

    @property
    def law(self) -> str:
        """The name of its law in `laws.LAWS`."""
        raise NotImplementedError

    def numbers(self, dt: float) -> tuple[float, ...]:
        """Return the numbers of its law, for a time step (s)."""
        return self.mu, self.lam

    @property
    def stiffness(self) -> float:
        """The largest modulus that waves of pressure see, Pa: their speed is its root over the density's."""
        return self.lam + 2 * self.mu

    @property
    def number_of_law(self) -> int:
        """The place of its law."""
        return list(LAWS).index(self.law)


@dataclass(frozen=True, kw_only=True)
class Elastic(MatterMaterial):
    """An elastic solid.

    Attributes:
        model: "corotation" or "neohooken".
    """

    E: float = 3e5
    model: str = "corotation"

    def _require_more(self) -> None:
        if self.model not in ("corotation", "neohooken", "neohookean"):
            raise ValueError(f"Elastic: model={self.model!r}: expected 'corotation' or 'neohooken'")

    @property
    def law(self) -> str:
        """See `MatterMaterial.law`."""
        return "corotated" if self.model == "corotation" else "neo_hookean"


@dataclass(frozen=True, kw_only=True)
class ElastoPlastic(MatterMaterial):
    """A solid that keeps a change of shape beyond its yield: dough, clay, metal.

    Attributes:
        use_von_mises: whether it yields at a stress; else where a stretch leaves 1 - yield_lower ... 1 + yield_higher.
        von_mises_yield_stress: the tension at which it yields, Pa.
        yield_lower, yield_higher: the largest compression and extension that spring back.
    """

    use_von_mises: bool = True
    von_mises_yield_stress: float = 10_000.0
    yield_lower: float = 2.5e-2
    yield_higher: float = 4.5e-3

    def _require_more(self) -> None:
        if self.yield_lower >= 1:
            raise ValueError(f"ElastoPlastic: yield_lower={self.yield_lower:g}: expected a share below 1")

    @property
    def law(self) -> str:
        """See `MatterMaterial.law`."""
        return "von_mises" if self.use_von_mises else "clipped"

    def numbers(self, dt: float) -> tuple[float, ...]:
        """See `MatterMaterial.numbers`."""
        limits = (self.von_mises_yield_stress,) if self.use_von_mises else (self.yield_lower, self.yield_higher)
        return self.mu, self.lam, *limits


@dataclass(frozen=True, kw_only=True)
class Liquid(MatterMaterial):
    """A liquid that is pressed together a little: its bulk modulus is Lame's first parameter of E and nu.

    Attributes:
        viscous: whether shear is resisted for the length of a time step, by the shear modulus of E and nu.
        viscosity: dynamic viscosity, Pa s, in addition.
    """

    viscous: bool = False
    viscosity: float = 0.0

    @property
    def law(self) -> str:
        """See `MatterMaterial.law`."""
        return "liquid"

    def numbers(self, dt: float) -> tuple[float, ...]:
        """See `MatterMaterial.numbers`."""
        return self.lam, (self.mu if self.viscous else 0.0) + self.viscosity / dt

    @property
    def stiffness(self) -> float:
        """See `MatterMaterial.stiffness`."""
        return self.lam + (2 * self.mu if self.viscous else 0.0)


@dataclass(frozen=True, kw_only=True)
class Sand(MatterMaterial):
    """Grains without cohesion.

    Attributes:
        friction_angle: degrees; a slope that is steeper slides.
    """

    friction_angle: float = 45.0

    def _require_more(self) -> None:
        if not 0 < self.friction_angle < 80:
            raise ValueError(f"Sand: friction_angle={self.friction_angle:g}: expected degrees above 0 and below 80")

    @property
    def law(self) -> str:
        """See `MatterMaterial.law`."""
        return "sand"

    def numbers(self, dt: float) -> tuple[float, ...]:
        """See `MatterMaterial.numbers`.

        On a slope that slides, shear stress over pressure is the tangent of the friction angle: the square root of J2
        (the norm of the deviatoric stress over root 2) is tan times the pressure. Klar et al. take the cone through
        the triaxial compression of Mohr and Coulomb, by which slopes of 39 degrees rest at an angle of 35.
        """
        return self.mu, self.lam, math.sqrt(2) / 3 * math.tan(math.radians(self.friction_angle))


@dataclass(frozen=True, kw_only=True)
class Snow(MatterMaterial):
    """Snow, which breaks when it is stretched and hardens when it is pressed.

    Attributes:
        yield_lower, yield_higher: the largest compression and extension that spring back.
        hardening: growth of the stiffness with the logarithm of the density.
    """

    yield_lower: float = 2.5e-2
    yield_higher: float = 4.5e-3
    hardening: float = 10.0

    def _require_more(self) -> None:
        if self.yield_lower >= 1:
            raise ValueError(f"Snow: yield_lower={self.yield_lower:g}: expected a share below 1")

    @property
    def law(self) -> str:
        """See `MatterMaterial.law`."""
        return "snow"

    def numbers(self, dt: float) -> tuple[float, ...]:
        """See `MatterMaterial.numbers`."""
        return self.mu, self.lam, self.yield_lower, self.yield_higher, self.hardening
