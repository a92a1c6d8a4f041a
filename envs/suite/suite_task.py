"""The base class of the control suite's tasks: models of dm_control's package, observations as numbers or pictures."""

from collections.abc import Mapping

import mujoco

from ...assets.packages import is_of_source
from ..arrays import Array, row_sum
from ..task.task import CameraView, Task, TaskState
from .rewards import tolerance


class SuiteTask(Task):
    """A task of the control suite. A subclass has `features` or `parts`, and a reward.

    All have the option `pixels`: if it is above 0, the observation is a picture of so many pixels along each edge,
    uint8, by the model's first camera. `xml_file` is Tumble's own model, or the suite's, as in "dm_control:walker.xml".
    """

    xml_file: str = ""
    pixels: int = 0

    def __post_init__(self) -> None:
        """Check options.

        Raises:
            ValueError: `pixels` is no number of pixels.
        """
        given = self.pixels
        super().__post_init__()
        if isinstance(given, bool) or self.pixels < 0:
            raise ValueError(f"{type(self).__name__}: pixels={given!r}: it is a number, such as 84, or 0")

    @property
    def cameras(self) -> Mapping[str, CameraView]:  # type: ignore[override]
        """The picture, if it is the observation."""
        return {"pixels": CameraView(self.pixels, self.pixels, 0, self.shows_sites)} if self.pixels else {}

    @property
    def shows_sites(self) -> bool:  # type: ignore[override]
        """True for the suite's models: some of their targets are sites."""
        return is_of_source(self.xml_file)

    # -- observations -------------------------------------------------------------------------------------------------

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return the observation's parts by dm_control's names, each (n,) or (n, k)."""
        raise NotImplementedError(f"{type(self).__name__} defines neither parts(state) nor features(state)")

    def features(self, state: TaskState) -> Array:
        """Return the observation as numbers, (n, k): the parts side by side."""
        parts = [part if part.ndim == 2 else part[:, None] for part in self.parts(state).values()]
        return self.xp.concat(parts, axis=1)

    def seen(self, state: TaskState, features: Array) -> Array:
        """Return the observation: the features, or the picture."""
        return state.images["pixels"] if self.pixels else features

    def observation(self, state: TaskState) -> Array:
        """Return the features, or the picture."""
        return self.seen(state, self.features(state))

    # -- parts of the model -------------------------------------------------------------------------------------------

    def body(self, name: str) -> int:
        """Return the id of a body."""
        return int(self.model.body(name).id)

    def site(self, name: str) -> int:
        """Return the id of a site."""
        return int(self.model.site(name).id)

    def sensors(self, *names: str) -> Array:
        """Return the columns of sensors in `sensordata`, (k,), one sensor after the other."""
        columns: list[int] = []
        for name in names:
            sensor = self.model.sensor(name)
            columns += range(int(sensor.adr[0]), int(sensor.adr[0] + sensor.dim[0]))
        return self.indices(columns)

    def read(self, state: TaskState, columns: Array) -> Array:
        """Return readings (n, k) of the columns of `sensors`, after the step."""
        return self.xp.take(state.present["sensordata"], columns, axis=1)


def small_control(action: Array) -> Array:
    """Return the factor of small actions, (n,): 1 if all of (n, k) are zero, 4/5 if all have size 1."""
    share = row_sum(tolerance(action, margin=1, value_at_margin=0, sigmoid="quadratic")) / action.shape[1]
    return (4 + share) / 5


def to_mocap(spec: mujoco.MjSpec, name: str, kind: str = "geom") -> None:
    """Move a geom or site of the world onto a new mocap body of the same name and position, for episodes to place."""
    part = getattr(spec, kind)(name)
    body = spec.worldbody.add_body(name=name, pos=part.pos, mocap=True)
    shape = {"name": name, "type": part.type, "size": part.size, "rgba": part.rgba, "material": part.material}
    if kind == "geom":
        shape |= {"contype": part.contype, "conaffinity": part.conaffinity}
    spec.delete(part)
    getattr(body, f"add_{kind}")(**shape)
