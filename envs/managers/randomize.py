"""Terms of randomization: per-environment parameters.

`Randomize` draws any of them by MuJoCo's name; the functions are named after what people randomize, and return one:

    from tumble.envs.managers import randomize as dr

    terms = (dr.mass(0.9, 1.1), dr.friction(0.4, 1.0, geoms=".*_foot"), dr.kp(0.8, 1.2), dr.com(-0.05, 0.05, "trunk"))

| function | it draws |
|---|---|
| `mass`, `com`, `inertia` | masses, with inertias in proportion; centres of mass; all of it, as a body could have it |
| `friction` | sliding, spinning or rolling friction of geoms |
| `kp`, `kv` | gains of actuators that hold positions or velocities |
| `motor_strength`, `effort_limit` | all of an actuator's force, its limits included; only the limits |
| `damping`, `armature`, `friction_loss`, `stiffness` | of joints |
| `reference` | positions that joints' coordinates are counted from |
| `gravity` | of the world, or of everything in it |
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import mujoco
import numpy as np

from ..arrays import Array, exp, namespace
from ..task.noise import Noise
from .items import Names
from .ranges import require_bounds, require_ranges, require_times
from .targets import DrawTarget, target_of

When = str | tuple[float, float]
Numbers = float | Sequence[float]


@dataclass(frozen=True)
class Randomize:
    """One draw of numbers of the model: when to draw, and how to combine the draw with the model's numbers.

    Args:
        parameter: MuJoCo's name, a parameter of `solver.set_parameters` (docs/reference/fields.md), or one of the
            targets that several of them belong to: mass, pseudo_inertia, kp, kv, motor_strength, effort_limit.
        low: lowest number, or one for each of `axes`; of a normal distribution the mean.
        high: highest number; of a normal distribution the standard deviation.
        operation: "scale" multiplies the model's numbers, "add" adds to them, "abs" replaces them.
        distribution: "uniform"; "log_uniform", even in the logarithm; "normal".
        when: "start": once for each environment, kept over its episodes until it is seeded again; "reset": at the start
            of each episode; (min, max): at the start of each episode and again every so many seconds, each environment
            at its times.
        bodies: names, or regular expressions that match whole names, of bodies to draw for, or of bodies whose geoms
            are meant; None: all but the world.
        geoms: names of geoms; None: all.
        joints: names of joints; None: all but free ones.
        actuators: names of actuators; None: all, for a gain all that have it.
        tendons: names of tendons; None: all.
        axes: which numbers of a row, such as 0 for sliding friction; None: all.
        shared: draw once for all rows, not for each.
        clip: (low, high); the resulting numbers of the model are clipped to it.
        name: of the memory that keeps the drawn numbers, (n, k), as for a critic to see; None: kept only where needed.
    """

    parameter: str
    low: Numbers
    high: Numbers
    _: KW_ONLY
    operation: str = "scale"
    distribution: str = "uniform"
    when: When = "reset"
    bodies: Names = None
    geoms: Names = None
    joints: Names = None
    actuators: Names = None
    tendons: Names = None
    axes: int | Sequence[int] | None = None
    shared: bool = False
    clip: tuple[float, float] | None = None
    name: str | None = None

    def __str__(self) -> str:
        """Name it, for messages."""
        return f"Randomize({self.parameter!r})"

    def bound(self, model: mujoco.MjModel) -> "BoundTerm":
        """Return the term for a model.

        Raises:
            ValueError: it does not fit the model, or has no such distribution; the message says what to do.
            KeyError: no parameter has such a name.
        """
        if self.operation not in ("scale", "add", "abs"):
            raise ValueError(f"{self}: operation={self.operation!r}: there are scale, add, abs")
        if isinstance(self.when, str) and self.when not in ("start", "reset"):
            raise ValueError(f'{self}: when={self.when!r}: it is "start", "reset", or a pair of seconds (min, max)')
        if not isinstance(self.when, str):
            require_times(str(self), {"when": self.when})
        if self.clip is not None:
            require_bounds(str(self), "clip", self.clip)
        names = {kind: getattr(self, kind) for kind in ("bodies", "geoms", "joints", "actuators", "tendons")}
        target = target_of(str(self), model, self.parameter, self.operation, names, self.axes, self.clip)
        return BoundTerm(self, target)


class BoundTerm:
    """A term whose rows in a model are known.

    Attributes:
        term: as the user gave it.
        parameters: MuJoCo's names of the numbers that it changes.
        width: how many numbers are drawn for an environment.
    """

    def __init__(self, term: Randomize, target: DrawTarget) -> None:
        self.term, self._target = term, target
        rows = 1 if term.shared else target.rows
        try:
            self._low, self._high = (
                np.broadcast_to(np.asarray(bound, np.float64), (rows, target.axes)).flatten()
                for bound in (term.low, term.high)
            )
        except ValueError:
            raise ValueError(
                f"{term}: low={term.low!r}, high={term.high!r}: needed is a number, or one for each of "
                f"{target.axes} axes"
            ) from None
        require_distribution(str(term), term.distribution, self._low, self._high)
        self.parameters, self.width = target.parameters, rows * target.axes

    def draw(self, noise: Noise) -> Array:
        """Draw numbers (n, width) float64."""
        return draw(noise, self.term.distribution, self._low, self._high)

    def extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest and the highest numbers that can be drawn, (1, width) each."""
        lowest, highest = extremes(self.term.distribution, self._low, self._high)
        return lowest[None], highest[None]

    def mixed_extremes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers (1, width) of which every other axis is the lowest that can be drawn, and the reverse."""
        lowest, highest = self.extremes()
        even = np.arange(self.width)[None] % self._target.axes % 2 == 0
        return np.where(even, lowest, highest), np.where(even, highest, lowest)

    def apply(self, values: dict[str, np.ndarray], drawn: np.ndarray) -> None:
        """Change numbers of n environments, by MuJoCo's name (n, ...) each, by drawn ones (n, width)."""
        self._target.apply(values, drawn.reshape(len(drawn), -1, self._target.axes))


# -- by name ----------------------------------------------------------------------------------------------------------


def mass(low: Numbers, high: Numbers, bodies: Names = None, **options: Any) -> Randomize:
    """Masses of bodies, scaled unless said otherwise; inertias change in proportion."""
    return Randomize("mass", low, high, bodies=bodies, **options)


def com(low: Numbers, high: Numbers, bodies: Names = None, **options: Any) -> Randomize:
    """Centres of mass, m in the body's frame, added unless said otherwise."""
    return Randomize("body_ipos", low, high, bodies=bodies, **{"operation": "add"} | options)


def inertia(
    bodies: Names = None,
    *,
    alpha: tuple[float, float] = (0.0, 0.0),
    d: tuple[float, float] = (0.0, 0.0),
    s: tuple[float, float] = (0.0, 0.0),
    t: tuple[float, float] = (0.0, 0.0),
    **options: Any,
) -> Randomize:
    """Masses, centres of mass and inertias together, such as some body could have (`inertia.py`).

    Args:
        bodies: of which.
        alpha: density is multiplied by exp(2 alpha).
        d: each axis of the body's frame is stretched by exp(d).
        s: shears.
        t: m, by which the centre of mass moves along each axis.
        options: of `Randomize`.

    Raises:
        ValueError: a range is invalid.
    """
    require_ranges("inertia", {"alpha": alpha, "d": d, "s": s, "t": t})
    ranges = (alpha, *(d,) * 3, *(s,) * 3, *(t,) * 3)
    low, high = zip(*ranges, strict=True)
    return Randomize("pseudo_inertia", low, high, bodies=bodies, **{"operation": "add"} | options)


def friction(low: Numbers, high: Numbers, geoms: Names = None, kind: str = "slide", **options: Any) -> Randomize:
    """Friction of geoms: "slide" (1), "spin" (m) or "roll" (m); replaced unless said otherwise.

    The friction of a contact is the larger one of its two geoms', unless one has a higher priority.
    """
    axis = {"slide": 0, "spin": 1, "roll": 2}
    if kind not in axis:
        raise ValueError(f"friction: kind={kind!r}: there are slide, spin, roll")
    return Randomize("geom_friction", low, high, geoms=geoms, axes=axis[kind], **{"operation": "abs"} | options)


def kp(low: Numbers, high: Numbers, actuators: Names = None, **options: Any) -> Randomize:
    """Position gains of actuators, N/m or N m/rad; scaled unless said otherwise."""
    return Randomize("kp", low, high, actuators=actuators, **options)


def kv(low: Numbers, high: Numbers, actuators: Names = None, **options: Any) -> Randomize:
    """Velocity gains of actuators, N s/m or N m s/rad; scaled unless said otherwise."""
    return Randomize("kv", low, high, actuators=actuators, **options)


def motor_strength(low: Numbers, high: Numbers, actuators: Names = None, **options: Any) -> Randomize:
    """The whole force of actuators, its limits included, as of a weaker motor: scaled."""
    return Randomize("motor_strength", low, high, actuators=actuators, **options)


def effort_limit(low: Numbers, high: Numbers, actuators: Names = None, **options: Any) -> Randomize:
    """Limits of the actuators' forces, both by the same factor."""
    return Randomize("effort_limit", low, high, actuators=actuators, **options)


def damping(low: Numbers, high: Numbers, joints: Names = None, **options: Any) -> Randomize:
    """Damping of joints, N s/m or N m s/rad; scaled unless said otherwise."""
    return Randomize("dof_damping", low, high, joints=joints, **options)


def armature(low: Numbers, high: Numbers, joints: Names = None, **options: Any) -> Randomize:
    """Inertia of rotors, kg or kg m^2; scaled unless said otherwise."""
    return Randomize("dof_armature", low, high, joints=joints, **options)


def friction_loss(low: Numbers, high: Numbers, joints: Names = None, **options: Any) -> Randomize:
    """Dry friction in joints, N or N m; scaled unless said otherwise. Joints need some in the file."""
    return Randomize("dof_frictionloss", low, high, joints=joints, **options)


def stiffness(low: Numbers, high: Numbers, joints: Names = None, **options: Any) -> Randomize:
    """Springs of joints, N/m or N m/rad; scaled unless said otherwise."""
    return Randomize("jnt_stiffness", low, high, joints=joints, **options)


def reference(low: Numbers, high: Numbers, joints: Names = None, **options: Any) -> Randomize:
    """Zero positions of joints, m or rad, added unless said otherwise: errors of assembly.

    A joint at the same coordinate then stands elsewhere.
    """
    return Randomize("qpos0", low, high, joints=joints, **{"operation": "add"} | options)


def gravity(low: Numbers, high: Numbers, axes: int | Sequence[int] | None = None, **options: Any) -> Randomize:
    """Gravity of each environment, m/s^2, along x, y and z or `axes`; added unless said otherwise."""
    return Randomize("gravity", low, high, axes=axes, **{"operation": "add"} | options)


DISTRIBUTIONS = ("uniform", "log_uniform", "normal")
_FARTHEST = 8.6  # standard deviations: a normal draw of `Noise` comes of 53 bits, sqrt(2 * 53 * log(2))


def draw(noise: Noise, distribution: str, low: np.ndarray, high: np.ndarray) -> Array:
    """Draw numbers (num_envs, k) float64.

    Args:
        noise: of the environments.
        distribution: "uniform" from `low` to `high`; "log_uniform" between them, evenly in the logarithm; "normal" with
            the mean `low` and the standard deviation `high`.
        low: (k,).
        high: (k,).
    """
    shape = noise.normal(len(low)) if distribution == "normal" else noise.uniform(0, 1, len(low))
    logarithmic = distribution == "log_uniform"
    if logarithmic:
        low, high = np.log(low), np.log(high)
    width = high if distribution == "normal" else high - low
    xp = namespace(shape)
    low, width = (xp.asarray(numbers, dtype=xp.float64, device=shape.device) for numbers in (low, width))
    numbers = low + width * shape
    return exp(numbers) if logarithmic else numbers


def extremes(distribution: str, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest numbers that `draw` can give, (k,) each."""
    return (low - _FARTHEST * high, low + _FARTHEST * high) if distribution == "normal" else (low, high)


def require_distribution(owner: str, distribution: Any, low: np.ndarray, high: np.ndarray) -> None:
    """Raise unless `distribution` is known and its parameters are valid for the range.

    Raises:
        ValueError: the message has the value, and the requirement.
    """
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"{owner}: distribution={distribution!r}: there are {', '.join(DISTRIBUTIONS)}")
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise ValueError(f"{owner}: low={low.tolist()}, high={high.tolist()}: they must be finite")
    if distribution == "normal":
        if (high < 0).any():
            raise ValueError(
                f"{owner}: high={high.tolist()} is the standard deviation of a normal distribution: above 0"
            )
        return
    if (low > high).any():
        raise ValueError(f"{owner}: low={low.tolist()} is above high={high.tolist()}: exchange them")
    if distribution == "log_uniform" and (low <= 0).any():
        raise ValueError(f"{owner}: low={low.tolist()}: log_uniform needs numbers above 0; take uniform, or raise low")
