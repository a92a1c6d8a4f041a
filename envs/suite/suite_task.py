"""The base class of the control suite's tasks: models of dm_control's package, observations as numbers or pictures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mujoco

from ... import assets
from ..arrays import Array
from ..task.task import CameraView, Task, TaskState

if TYPE_CHECKING:
    from ...physics import Model

SIZE = 64  # pixels, the edges of a picture


class SuiteTask(Task):
    """A task of the control suite.

    Options that all have: `pixels` True makes a picture (64, 64, 3) uint8 by the model's first camera the observation;
    `xml_file` may be Tumble's own model where there is one, or the suite's, as in "dm_control:walker.xml".
    """

    targets: tuple[str, ...] = ()  # geoms, sites and bodies of the world that an episode places: mocap bodies here
    pixels: bool = False

    @property
    def cameras(self) -> Mapping[str, CameraView]:  # type: ignore[override]
        """The picture, if it is the observation."""
        return {"pixels": CameraView(SIZE, SIZE, 0)} if self.pixels else {}

    def load_model(self, **options: Any) -> "Model":
        """Load the file, changed by `edit`."""
        from ...physics import Model

        spec = mujoco.MjSpec.from_file(str(assets.find(self.xml_file, self._folders())))
        self.edit(spec)
        return Model.from_mjspec(spec, **options)

    def edit(self, spec: mujoco.MjSpec) -> None:
        """Change the model before it is compiled."""

    def features(self, state: TaskState) -> Array:
        """Return the observation as numbers, (n, k)."""
        parts = self.parts(state)
        return self.xp.concat([part if part.ndim == 2 else part[:, None] for part in parts.values()], axis=1)

    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return the observation's parts by dm_control's names, each (n,) or (n, k)."""
        raise NotImplementedError

    def observation(self, state: TaskState) -> Array:
        """Return the features, or the picture."""
        return state.images["pixels"] if self.pixels else self.features(state)
