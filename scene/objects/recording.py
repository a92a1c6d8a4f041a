"""Recording: results and movements of a scene while it runs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..recorders.manager import FunctionRecorder
from ..recorders.options import RecorderOptions, TrajectoryFile
from .contents import SceneContents
from .files import SceneFiles


class SceneRecording:
    """The calls of a scene that keep something after steps."""

    def __init__(self, contents: SceneContents, files: SceneFiles) -> None:
        self._contents, self._files = contents, files

    def add_recorder(self, data_func: Callable[[], Any], rec_options: RecorderOptions) -> FunctionRecorder:
        """Keep a function's results, after steps from now on, until `stop_recording` or `close`.

        Args:
            data_func: a function without arguments: numbers, an array, a tensor, or a dictionary of such.
            rec_options: one of `gs.recorders`: which file, how often.

        Raises:
            TypeError: an argument is of another class.
        """
        return self._contents.recorders.add(data_func, rec_options)

    def start_recording(
        self, data_func: TrajectoryFile | Callable[[], Any], rec_options: RecorderOptions | None = None
    ) -> FunctionRecorder:
        """Keep all positions in a `gs.recorders.TrajectoryFile`: `start_recording(TrajectoryFile(filename="a.npz"))`.

        With a function and options it is `add_recorder`, as scripts have it.

        Raises:
            TypeError: an argument is of another class.
        """
        if isinstance(data_func, TrajectoryFile) and rec_options is None:
            more = lambda: {"scene": np.array(self._files.describe())}  # noqa: E731
            return self._contents.recorders.add(self._positions, data_func, more)
        if rec_options is None or isinstance(data_func, TrajectoryFile):
            raise TypeError(
                f"start_recording({data_func!r:.60}): expected a gs.recorders.TrajectoryFile, or a function and options"
            )
        return self.add_recorder(data_func, rec_options)

    def stop_recording(self) -> None:
        """Write all files of recorders, and end them."""
        self._contents.recorders.stop()

    def _positions(self) -> dict[str, torch.Tensor]:
        """Return all that poses depend on, (n, ...) each."""
        solver = self._contents.rigid_solver
        moved = ("mocap_pos", "mocap_quat") if solver.model.mj.nmocap else ()
        return {"qpos": solver.qpos} | {name: getattr(solver.inputs, name) for name in moved}
