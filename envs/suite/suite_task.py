"""The base class of the control suite's tasks: models of dm_control's package, observations as numbers or pictures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mujoco

from ... import assets
from ..arrays import Array, row_sum
from ..task.task import CameraView, Task, TaskState
from .rewards import tolerance

if TYPE_CHECKING:
    from ...physics import Model


class SuiteTask(Task):
    """A task of the control suite. A subclass has `features` or `parts`, and a reward.

    All have the option `pixels`: if it is above 0, the observation is a picture of so many pixels along each edge,
    uint8, by the model's first camera. `xml_file` is Tumble's own model, or the suite's, as in "dm_control:walker.xml".
    """

    xml_file: str = ""
    pixels: int = 0

    @property
    def cameras(self) -> Mapping[str, CameraView]:  # type: ignore[override]
        """The picture, if it is the observation."""
        return {"pixels": CameraView(self.pixels, self.pixels, 0)} if self.pixels > 0 else {}

    def load_model(self, **options: Any) -> "Model":
        """Load the file, changed by `edit`."""
        from ...physics import Model

        spec = mujoco.MjSpec.from_file(str(assets.find(self.xml_file, self._folders())))
        self.edit(spec)
        return Model.from_mjspec(spec, **options)

    def edit(self, spec: mujoco.MjSpec) -> None:
        """Change the model before it is compiled."""

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
        return state.images["pixels"] if self.pixels > 0 else features

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
        return self.xp.asarray(columns, device=self._kind.device)

    def read(self, state: TaskState, columns: Array) -> Array:
        """Return readings (n, k) of the columns of `sensors`, after the step."""
        return self.xp.take(state.present["sensordata"], columns, axis=1)


def small_control(action: Array) -> Array:
    """Return how small actions (n, k) are, from 4/5 for any action of size 1 to 1 for none, (n,)."""
    share = row_sum(tolerance(action, margin=1, value_at_margin=0, sigmoid="quadratic")) / action.shape[1]
    return (4 + share) / 5


def to_mocap(spec: mujoco.MjSpec, name: str, kind: str = "geom") -> None:
    """Put a geom or site of the world, which episodes place, into a mocap body of its name at its place."""
    part = getattr(spec, kind)(name)
    body = spec.worldbody.add_body(name=name, pos=part.pos, mocap=True)
    shape = {"name": name, "type": part.type, "size": part.size, "rgba": part.rgba, "material": part.material}
    if kind == "geom":
        shape |= {"contype": part.contype, "conaffinity": part.conaffinity}
    spec.delete(part)
    getattr(body, f"add_{kind}")(**shape)
