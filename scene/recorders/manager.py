"""All recorders of a scene."""

import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..records import nearest
from .options import CSVFile, FileOptions, NPZFile, RecorderOptions, TrajectoryFile, VideoFile
from .writers import CSVWriter, NPZWriter, VideoWriter, Writer

WRITERS: dict[type[RecorderOptions], type[Writer]] = {
    CSVFile: CSVWriter,
    NPZFile: NPZWriter,
    TrajectoryFile: NPZWriter,
    VideoFile: VideoWriter,
}
"""The class of a writer by that of its options."""


@dataclass
class FunctionRecorder:
    """A function, and the file that has its results; `Scene.add_recorder` makes one.

    Attributes:
        options: the options it was made with.
        function: its results are kept.
        writer: its file.
        every: after how many steps.
        count: files that resets have ended.
    """

    options: FileOptions
    function: Callable[[], Any]
    writer: Writer
    every: int = 1
    count: int = 0

    def begin(self) -> None:
        """Name the next file."""
        if self.options.save_on_reset:
            whole = Path(self.options.filename)
            self.writer.path = whole.with_name(f"{whole.stem}_{self.count}{whole.suffix}")


@dataclass
class RecorderManager:
    """The recorders of a scene, which keep something after steps.

    Args:
        dt: seconds of a step.
    """

    dt: float
    recorders: list[FunctionRecorder] = field(default_factory=list)

    def add(
        self, function: Callable[[], Any], options: RecorderOptions, more: Callable[[], Mapping[str, Any]] | None = None
    ) -> FunctionRecorder:
        """Return a new recorder.

        Raises:
            TypeError: `function` cannot be called, or `options` are not a recorder's.
        """
        kind = WRITERS.get(type(options))
        if kind is None or not isinstance(options, FileOptions):
            known = [option.__name__ for option in WRITERS]
            hint = ": make one, with parentheses" if options in list(WRITERS) else ""
            raise TypeError(
                f"rec_options={options!r:.60}{hint or nearest(type(options).__name__, known)} (gs.recorders)"
            )
        if not callable(function):
            raise TypeError(f"data_func={function!r:.60}: expected a function without arguments")
        steps = 1.0 if options.hz is None else 1.0 / (options.hz * self.dt)
        every = max(1, round(steps))
        if abs(steps - every) > 1e-6 * steps:
            rate = 1.0 / (every * self.dt)
            warnings.warn(f"hz={options.hz:g}: steps of {self.dt:g} s allow {rate:g}, which it is", stacklevel=3)
        recorder = FunctionRecorder(options, function, kind(options, 1.0 / (every * self.dt), more), every)
        recorder.begin()
        self.recorders.append(recorder)
        return recorder

    def after_step(self, steps: int, time: float) -> None:
        """Keep the results that are due after so many steps."""
        for recorder in self.recorders:
            if steps % recorder.every == 0:
                recorder.writer.write(time, recorder.function())

    def after_reset(self) -> None:
        """Begin other files where a reset asks for that."""
        for recorder in self.recorders:
            if recorder.options.save_on_reset:
                recorder.writer.finish()
                recorder.count += 1
                recorder.begin()

    def stop(self) -> None:
        """Write all files."""
        ended, self.recorders = self.recorders, []
        with ExitStack() as finishing:  # one that fails does not keep the others from being written
            for recorder in ended:
                finishing.callback(recorder.writer.finish)
