"""Materials of matter: `gs.materials.MPM.Liquid` and others, as Genesis names them. `tumble.soft` has their laws."""

from typing import Any, ClassVar

from ...physics.machine.scalars import as_flag
from ..compat.absent import AbsentGroup
from ..records import nearest, put, put_numbers, record

SAMPLERS = ("pbs", "regular", "random")


@record
class Base:
    """Numbers that all materials of matter have.

    Attributes:
        E: Young's modulus, Pa.
        nu: Poisson's ratio, above -1 and below 0.5.
        rho: density, kg/m3.
        lam, mu: Lame's parameters, Pa, instead of those that follow from E and nu.
        sampler: where the particles of a shape begin: "regular", in the middles of the cells of a grid; "random", at a
            random place in each cell. "pbs", which relaxes particles elsewhere, means "regular" here, and so does
            "pbs-64".
    """

    E: float = 1e6
    nu: float = 0.2
    rho: float = 1000.0
    lam: float | None = None
    mu: float | None = None
    sampler: str = "pbs"
    KIND: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Refuse numbers that no material has.

        Raises:
            ValueError: the message has the argument.
        """
        if not self.KIND:
            raise TypeError(f"{type(self).__name__} is the base of materials: use MPM.Elastic or another of them")
        put_numbers(self, "E", "nu", "rho", "lam", "mu")
        name, _, cells = str(self.sampler).partition("-")
        if name not in SAMPLERS or (cells and not (name == "pbs" and cells.isdigit())):
            raise ValueError(f"{self.KIND}: sampler={self.sampler!r}{nearest(self.sampler, SAMPLERS)}")
        self._check()
        self.matter()

    def _check(self) -> None:
        """Refuse what a kind of material does not have."""

    def _own(self) -> dict[str, Any]:
        """Return the numbers that only this kind has, by their names in `tumble.soft`."""
        return {}

    @property
    def is_random(self) -> bool:
        """True if particles begin at random places."""
        return self.sampler == "random"

    def matter(self) -> Any:
        """Return the material of `tumble.soft`."""
        from ... import soft

        E, nu = self.E, self.nu
        if self.lam is not None or self.mu is not None:
            E, nu = self._young()
        return getattr(soft, self.KIND)(E=E, nu=nu, rho=self.rho, **self._own())

    def _young(self) -> tuple[float, float]:
        """Return Young's modulus and Poisson's ratio of Lame's parameters, of which one may follow from E and nu."""
        usual = type(self)(E=self.E, nu=self.nu, rho=self.rho).matter()
        lam = usual.lam if self.lam is None else self.lam
        mu = usual.mu if self.mu is None else self.mu
        if mu <= 0 or 3 * lam + 2 * mu <= 0:
            raise ValueError(f"{self.KIND}: lam={lam:g}, mu={mu:g}: expected mu and 3 lam + 2 mu above 0")
        return mu * (3 * lam + 2 * mu) / (lam + mu), lam / (2 * (lam + mu))


@record
class Elastic(Base):
    """An elastic solid.

    Attributes:
        model: "corotation" or "neohooken".
    """

    E: float = 3e5
    model: str = "corotation"
    KIND: ClassVar[str] = "Elastic"

    def _own(self) -> dict[str, Any]:
        return {"model": self.model}


@record
class ElastoPlastic(Base):
    """A solid that keeps a change of shape beyond its yield: dough, clay, metal.

    Attributes:
        yield_lower, yield_higher: the largest compression and extension that spring back, without `use_von_mises`.
        use_von_mises: whether it yields at a stress.
        von_mises_yield_stress: that stress, Pa.
    """

    yield_lower: float = 2.5e-2
    yield_higher: float = 4.5e-3
    use_von_mises: bool = True
    von_mises_yield_stress: float = 10_000.0
    KIND: ClassVar[str] = "ElastoPlastic"

    def _check(self) -> None:
        put_numbers(self, "yield_lower", "yield_higher", "von_mises_yield_stress")
        put(self, use_von_mises=as_flag("ElastoPlastic: use_von_mises", self.use_von_mises))

    def _own(self) -> dict[str, Any]:
        names = ("yield_lower", "yield_higher", "use_von_mises", "von_mises_yield_stress")
        return {name: getattr(self, name) for name in names}


@record
class Liquid(Base):
    """A liquid, such as water.

    Attributes:
        viscous: whether shear is resisted for the length of a time step, by the shear modulus of E and nu.
        viscosity: dynamic viscosity, Pa s, in addition: 1e-3 of water, 1 to 10 of honey.
    """

    viscous: bool = False
    viscosity: float = 0.0
    KIND: ClassVar[str] = "Liquid"

    def _check(self) -> None:
        put_numbers(self, "viscosity")
        put(self, viscous=as_flag("Liquid: viscous", self.viscous))

    def _own(self) -> dict[str, Any]:
        return {"viscous": self.viscous, "viscosity": self.viscosity}


@record
class Sand(Base):
    """Grains without cohesion.

    Attributes:
        friction_angle: degrees; a slope that is steeper slides.
    """

    sampler: str = "random"
    friction_angle: float = 45.0
    KIND: ClassVar[str] = "Sand"

    def _check(self) -> None:
        put_numbers(self, "friction_angle")

    def _own(self) -> dict[str, Any]:
        return {"friction_angle": self.friction_angle}


@record
class Snow(Base):
    """Snow, which breaks when it is stretched and hardens when it is pressed.

    Attributes:
        yield_lower, yield_higher: the largest compression and extension that spring back.
        use_von_mises: False: snow does not yield at a stress.
        von_mises_yield_stress: kept.
    """

    sampler: str = "random"
    yield_lower: float = 2.5e-2
    yield_higher: float = 4.5e-3
    use_von_mises: bool = False
    von_mises_yield_stress: float = 10_000.0
    KIND: ClassVar[str] = "Snow"

    def _check(self) -> None:
        put_numbers(self, "yield_lower", "yield_higher", "von_mises_yield_stress")
        if as_flag("Snow: use_von_mises", self.use_von_mises):
            raise ValueError("Snow: use_von_mises=True: snow does not yield at a stress; use MPM.ElastoPlastic")

    def _own(self) -> dict[str, Any]:
        return {"yield_lower": self.yield_lower, "yield_higher": self.yield_higher}


def __getattr__(name: str) -> Any:
    """Refuse a material of Genesis that is not here; raises AttributeError."""
    return getattr(AbsentGroup("MPM"), name)
