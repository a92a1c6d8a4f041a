"""Options of sensors: one record for each kind, for `Scene.add_sensor`.

All arguments are keywords. Numbers that may differ from axis to axis are one for all, or a sequence. Standard
deviations and biases are in the unit of the reading, delays in seconds. `docs/scenes.md` describes the readings.
"""

import math
from typing import Any, ClassVar

import numpy as np

from ...physics.base.arguments import real_array
from ...physics.machine.scalars import as_count, as_flag, as_whole
from ..checks import Numbers, numbers
from ..records import put, put_numbers, record
from .flaws import NAMES
from .patterns import DepthCameraPattern, RayPattern

NO_ENTITY = -1


@record
class SensorOptions:
    """The options that all sensors have.

    Attributes:
        entity_idx: number of the entity among the scene's, `entity.idx`; -1: the sensor stands still in the world.
        history_length: how many readings `read` returns, the newest first; 0: the present one, without that dimension.
        delay: time from the measurement to its reading, s.
        jitter: largest random delay that is added in each step, s, drawn evenly; at most `delay`.
        interpolate: whether a delay between two steps shows a mean of both; else one of them.
    """

    entity_idx: int | None = NO_ENTITY
    history_length: int = 0
    delay: float = 0.0
    jitter: float = 0.0
    interpolate: bool = False

    def __post_init__(self) -> None:
        """Raise if options are impossible for sensors.

        Raises:
            ValueError: with the argument.
        """
        owner = type(self).__name__
        entity = NO_ENTITY if self.entity_idx is None else as_whole(f"{owner}: entity_idx", self.entity_idx)
        if entity < NO_ENTITY:
            raise ValueError(f"{owner}: entity_idx={self.entity_idx}: give entity.idx, or -1 for none")
        put(self, entity_idx=entity)
        put(self, history_length=as_count(f"{owner}: history_length", self.history_length, least=0))
        put_numbers(self, "delay", "jitter", least=0.0)
        put(self, interpolate=as_flag(f"{owner}: interpolate", self.interpolate))
        if self.jitter > self.delay:
            raise ValueError(f"{owner}: jitter={self.jitter:g} must not be above delay={self.delay:g}")

    @property
    def entity(self) -> int:
        """Number of the entity, -1 for none."""
        return NO_ENTITY if self.entity_idx is None else self.entity_idx


@record
class LinkSensorOptions(SensorOptions):
    """The options of sensors on a link.

    Attributes:
        link_idx_local: number of the link within the entity, `link.idx_local`.
        pos_offset: the sensor's position in the link's frame, (3,) m.
        euler_offset: its angles there, (3,) degrees, about the link's x, then y, then z axis.
    """

    link_idx_local: int = 0
    pos_offset: Any = (0.0, 0.0, 0.0)
    euler_offset: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Raise if the place is invalid; errors as in `SensorOptions`."""
        super().__post_init__()
        owner = type(self).__name__
        link = as_whole(f"{owner}: link_idx_local", self.link_idx_local)
        if link < 0:
            raise ValueError(f"{owner}: link_idx_local={self.link_idx_local}: it must be at least 0")
        put(self, link_idx_local=link)
        put(self, pos_offset=numbers(owner, "pos_offset", self.pos_offset, 3))
        put(self, euler_offset=numbers(owner, "euler_offset", self.euler_offset, 3))


@record
class NoisyOptions(LinkSensorOptions):
    """The options of sensors whose readings are one kind of number.

    Attributes:
        resolution: readings are whole multiples of it; 0: any number.
        bias: added to every reading.
        noise: standard deviation of white noise.
        random_walk: standard deviation of the step that a drift takes with every reading; it begins at 0.
    """

    resolution: Any = 0.0
    bias: Any = 0.0
    noise: Any = 0.0
    random_walk: Any = 0.0

    def __post_init__(self) -> None:
        """Raise if flaws are invalid; errors as in `SensorOptions`."""
        super().__post_init__()
        for name in NAMES:
            put(self, **{name: flaw(type(self).__name__, name, getattr(self, name))})

    def flaws(self) -> dict[str, Any]:
        """Return its flaws by their names."""
        return {name: getattr(self, name) for name in NAMES}


@record
class IMU(LinkSensorOptions):
    """An accelerometer (m/s2, at rest it reads gravity upwards), a gyroscope (rad/s) and a magnetometer.

    Each of `acc_`, `gyro_` and `mag_` has the flaws of `NoisyOptions`, one number or three.

    Attributes:
        acc_cross_axis_coupling, gyro_cross_axis_coupling, mag_cross_axis_coupling: how much of an axis is seen by the
            others: a number for all, three by the axis that is seen, or the whole matrix (3, 3) from true to measured.
        magnetic_field: in the world, (3,); the magnetometer reads it in the sensor's axes, in its unit.
    """

    acc_resolution: Any = 0.0
    acc_cross_axis_coupling: Any = 0.0
    acc_noise: Any = 0.0
    acc_bias: Any = 0.0
    acc_random_walk: Any = 0.0
    gyro_resolution: Any = 0.0
    gyro_cross_axis_coupling: Any = 0.0
    gyro_noise: Any = 0.0
    gyro_bias: Any = 0.0
    gyro_random_walk: Any = 0.0
    mag_resolution: Any = 0.0
    mag_cross_axis_coupling: Any = 0.0
    mag_noise: Any = 0.0
    mag_bias: Any = 0.0
    mag_random_walk: Any = 0.0
    magnetic_field: Any = (0.0, 0.0, 0.5)
    PARTS: ClassVar[tuple[str, ...]] = ("acc", "gyro", "mag")

    def __post_init__(self) -> None:
        """Raise if flaws are invalid; errors as in `SensorOptions`."""
        super().__post_init__()
        for part in self.PARTS:
            for name in NAMES:
                full = f"{part}_{name}"
                put(self, **{full: flaw("IMU", full, getattr(self, full), 3)})
            full = f"{part}_cross_axis_coupling"
            put(self, **{full: coupling(full, getattr(self, full))})
        put(self, magnetic_field=numbers("IMU", "magnetic_field", self.magnetic_field, 3))

    def flaws(self) -> dict[str, Any]:
        """Return its flaws by their names, of all nine axes."""
        spread = {name: [getattr(self, f"{part}_{name}") for part in self.PARTS] for name in NAMES}
        return {name: np.concatenate([np.broadcast_to(v, 3) for v in values]) for name, values in spread.items()}


@record
class ContactFilter(NoisyOptions):
    """The options of contact sensors.

    Attributes:
        filter_link_idx: numbers of links in the scene, `link.idx`: contacts with them are not felt.
    """

    filter_link_idx: Any = ()

    def __post_init__(self) -> None:
        """Raise if links are invalid; errors as in `SensorOptions`."""
        super().__post_init__()
        owner = type(self).__name__
        if np.ndim(self.filter_link_idx) != 1:
            raise ValueError(f"{owner}: filter_link_idx={self.filter_link_idx!r}: expected numbers of links")
        links = tuple(as_whole(f"{owner}: filter_link_idx", link) for link in self.filter_link_idx)
        put(self, filter_link_idx=links)


@record
class Contact(ContactFilter):
    """A switch on a link: True if something presses on it.

    Attributes:
        threshold: N: it is on above this sum of normal forces, as measured.
    """

    threshold: float = 0.0

    def __post_init__(self) -> None:
        """Raise if the threshold is invalid; errors as in `SensorOptions`."""
        super().__post_init__()
        put_numbers(self, "threshold", least=0.0)


@record
class ContactForce(ContactFilter):
    """The sum of all contact forces on a link, (3,) N in the link's axes, turned by `euler_offset`.

    Attributes:
        min_force: N: an axis that measures less reads 0; one number or three.
        max_force: N: no axis reads more; one number or three.
    """

    min_force: Any = 0.0
    max_force: Any = math.inf

    def __post_init__(self) -> None:
        """Raise if the range is invalid; errors as in `SensorOptions`."""
        super().__post_init__()
        for name in ("min_force", "max_force"):
            put(self, **{name: flaw("ContactForce", name, getattr(self, name), 3, infinite=name == "max_force")})
        if np.any(np.asarray(self.min_force) >= np.asarray(self.max_force)):
            raise ValueError(f"ContactForce: min_force={self.min_force} must be below max_force={self.max_force}")


@record
class JointTorque(NoisyOptions):
    """The efforts that pass from drives to joints, N m or N: less than actuators give, by armature and friction.

    Attributes:
        dofs_idx_local: numbers of dofs within the entity; None: all.
    """

    dofs_idx_local: Any = None


@record
class Raycaster(NoisyOptions):
    """A range finder of many rays. Flaws apply to the distances, one number or one a ray.

    Attributes:
        pattern: `GridPattern`, `SphericalPattern` or `DepthCameraPattern`.
        min_range, max_range: m: nearer and farther surfaces are not found.
        no_hit_value: distance that is read where nothing is found; None: `max_range`.
        return_world_frame: whether points are in the world's frame; else in the sensor's.
        return_points: whether points are read beside the distances.
    """

    pattern: Any = None
    min_range: float = 0.0
    max_range: float = 20.0
    no_hit_value: float | None = None
    return_world_frame: bool = False
    return_points: bool = True
    PATTERN: ClassVar[type[RayPattern]] = RayPattern

    def __post_init__(self) -> None:
        """Raise if the range or the pattern is invalid; errors as in `SensorOptions`."""
        super().__post_init__()
        owner = type(self).__name__
        if not isinstance(self.pattern, self.PATTERN):
            known = "DepthCameraPattern" if self.PATTERN is DepthCameraPattern else "GridPattern or SphericalPattern"
            raise TypeError(f"{owner}: pattern={self.pattern!r}: give one of gs.sensors, such as {known}")
        put_numbers(self, "min_range", least=0.0)
        put_numbers(self, "max_range", above=self.min_range)
        if self.no_hit_value is not None:
            put(self, no_hit_value=float(self.no_hit_value))


@record
class DepthCamera(Raycaster):
    """A range finder of one ray a pixel, through the middle of each.

    Attributes:
        pattern: a `DepthCameraPattern`.
    """

    PATTERN: ClassVar[type[RayPattern]] = DepthCameraPattern


def flaw(owner: str, name: str, value: Numbers, count: int | None = None, infinite: bool = False) -> Any:
    """Return one number or several, not below zero but for a bias.

    Args:
        owner: class of the options, for messages.
        name: of the argument.
        value: as given.
        count: how many there may be; None: as many as the sensor has, which is checked when the scene is built.
        infinite: whether a number may be infinite.

    Raises:
        ValueError: with the argument.
    """
    numbers = real_array(f"{owner}: {name}", value).astype(float)
    if numbers.ndim > 1 or (numbers.ndim == 1 and count is not None and len(numbers) != count):
        raise ValueError(f"{owner}: {name}={value!r}: expected one number, or {count or 'as many as it reads'}")
    if np.isnan(numbers).any() or (np.isinf(numbers).any() and not infinite):
        raise ValueError(f"{owner}: {name}={value!r}: it must be finite")
    if not name.endswith("bias") and (numbers < 0.0).any():
        raise ValueError(f"{owner}: {name}={value!r}: it must not be below 0")
    return float(numbers) if numbers.ndim == 0 else tuple(numbers.tolist())


def coupling(name: str, value: Numbers) -> np.ndarray:
    """Return the matrix (3, 3) from true to measured axes.

    Args:
        name: of the argument, for messages.
        value: a number, which each axis sees of the others; three, by the axis that is seen; or the matrix.

    Raises:
        ValueError: for another shape, or numbers that are not finite.
    """
    found = real_array(f"IMU: {name}", value).astype(float)
    if found.shape not in ((), (3,), (3, 3)) or not np.isfinite(found).all():
        raise ValueError(f"IMU: {name}={value!r}: expected one finite number, three, or a matrix (3, 3)")
    if found.ndim == 2:
        return found
    matrix = np.array(np.broadcast_to(found, (3, 3)))
    np.fill_diagonal(matrix, 1.0)
    return matrix
