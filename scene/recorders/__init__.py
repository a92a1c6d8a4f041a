"""Recorders: numbers, pictures and movements of a running simulation, kept in files.

`scene.add_recorder(function, options)` keeps a function's results after steps; options say in which file and how
often. `sensor.start_recording(options)` keeps a sensor's readings, `scene.start_recording(TrajectoryFile(...))` all
positions. `scene.stop_recording()` and `scene.close()` end them and write the files.
"""

from typing import Any

from . import plotters
from .options import CSVFile, FileOptions, NPZFile, RecorderOptions, TrajectoryFile, VideoFile

__all__ = ["CSVFile", "FileOptions", "NPZFile", "RecorderOptions", "TrajectoryFile", "VideoFile", "plotters"]
_WINDOWS = ("MPLLinePlot", "MPLImagePlot", "MPLVectorFieldPlot", "PyQtLinePlot")


def __getattr__(name: str) -> Any:
    """Say what to use instead of windows with curves."""
    hint = ": it draws into a window; record a CSVFile or a VideoFile, and draw that" if name in _WINDOWS else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
