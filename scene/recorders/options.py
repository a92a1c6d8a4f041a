"""Options of recorders: contents, file and rate."""

import os
from typing import Any, ClassVar

from ...physics.machine.scalars import as_flag
from ..records import put, put_numbers, record


@record
class RecorderOptions:
    """The rate of a recorder.

    Attributes:
        hz: how many times in a simulated second, as near as steps allow; None: after every step.
    """

    hz: float | None = None

    def __post_init__(self) -> None:
        """Raise if the rate is invalid.

        Raises:
            ValueError: the message has the argument.
        """
        put_numbers(self, "hz", above=0.0)


@record
class FileOptions(RecorderOptions):
    """A file that is written.

    Attributes:
        filename: its path; its folder is made if it is missing, an older file is replaced.
        save_on_reset: whether a reset of all environments ends the file and begins another one, with a number after its
            name: `forces_0.csv`, `forces_1.csv`.
    """

    filename: Any = ""
    save_on_reset: bool = False
    SUFFIX: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Refuse a name of another kind; errors as in `RecorderOptions`."""
        super().__post_init__()
        owner = type(self).__name__
        if not isinstance(self.filename, str | os.PathLike) or not os.fspath(self.filename):
            raise ValueError(f"{owner}: filename={self.filename!r}: expected the path of a file")
        put(self, filename=os.fspath(self.filename), save_on_reset=as_flag("save_on_reset", self.save_on_reset))
        if not str(self.filename).lower().endswith(self.SUFFIX):
            raise ValueError(f"{owner}: filename={self.filename!r}: it must end in {self.SUFFIX}")


@record
class CSVFile(FileOptions):
    """A table: a row has the time and all numbers of a function's result, or of the values of its dictionary.

    Attributes:
        header: names of the columns after the time; None: the dictionary's, or numbers.
        save_every_write: whether each row is in the file at once.
    """

    header: Any = None
    save_every_write: bool = False
    SUFFIX: ClassVar[str] = ".csv"


@record
class NPZFile(FileOptions):
    """Arrays, times first: "timestamp", and "data" or a dictionary's by their names; `numpy.load` reads them."""

    SUFFIX: ClassVar[str] = ".npz"


@record
class VideoFile(FileOptions):
    """A film of pictures, (h, w, 3) or (h, w) uint8 each, such as `camera.render()[0]`.

    Attributes:
        fps: pictures a second; None: as many as are kept in a simulated second.
    """

    fps: float | None = None
    SUFFIX: ClassVar[str] = ".mp4"

    def __post_init__(self) -> None:
        """Raise if the rate is invalid; errors as in `FileOptions`."""
        super().__post_init__()
        put_numbers(self, "fps", above=0.0)


@record
class TrajectoryFile(FileOptions):
    """The positions of all entities in all environments, with the scene itself: `Scene.load_trajectory` shows them."""

    SUFFIX: ClassVar[str] = ".npz"
