"""Recording: what is kept of a scene while it runs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .life import Life
from .recorders.manager import Recorder
from .recorders.options import TrajectoryFile


class Recording(Life):
    """The calls of a scene that keep something after steps."""

    def describe(self) -> str:
        """Return the scene as text."""
        raise NotImplementedError

    def add_recorder(self, data_func: Callable[[], Any], rec_options: Any) -> Recorder:
        """Keep what a function returns, after steps from now on, until `stop_recording` or `close`.

        Args:
            data_func: a function without arguments: numbers, an array, a tensor, or a dictionary of such.
            rec_options: one of `gs.recorders`: which file, how often.

        Raises:
            TypeError: an argument is of another class.
        """
        return self._recorders.add(data_func, rec_options)

    def start_recording(self, data_func: Any, rec_options: Any = None) -> Recorder:
        """Keep all positions in a `gs.recorders.TrajectoryFile`: `start_recording(TrajectoryFile(filename="a.npz"))`.

        With a function and options it is `add_recorder`, as scripts have it.

        Raises:
            TypeError: an argument is of another class.
        """
        if rec_options is not None:
            return self.add_recorder(data_func, rec_options)
        if not isinstance(data_func, TrajectoryFile):
            raise TypeError(
                f"start_recording({data_func!r:.60}): expected a gs.recorders.TrajectoryFile, or a function and options"
            )
        return self._recorders.add(self._positions, data_func, lambda: {"scene": np.array(self.describe())})

    def stop_recording(self) -> None:
        """Write all files of recorders, and end them."""
        self._recorders.stop()

    def _positions(self) -> dict[str, Any]:
        """Return all that poses depend on, (n, ...) each."""
        solver = self.rigid_solver
        found = {"qpos": solver.qpos}
        if solver.model.mj.nmocap:
            found |= {name: getattr(solver.inputs, name) for name in ("mocap_pos", "mocap_quat")}
        return found
