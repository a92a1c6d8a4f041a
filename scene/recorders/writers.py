"""Writers of files, row by row."""

import csv
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import torch

from ...physics.machine.disk import open_own, replacing
from ...physics.rendering.film.video import write_video
from .options import CSVFile, FileOptions, VideoFile


class Writer(ABC):
    """Takes results, and makes a file of them.

    Args:
        options: the user's options.
        rate: how many results are kept per simulated second.
        more: arrays that a trajectory has besides.
    """

    def __init__(self, options: FileOptions, rate: float, more: Callable[[], Mapping[str, Any]] | None = None) -> None:
        self.options, self.rate, self.more = options, rate, more
        self.path = Path(options.filename)

    @abstractmethod
    def write(self, time: float, data: Any) -> None:
        """Take the result of a time, s.

        Raises:
            TypeError: the file cannot hold it.
            ValueError: it is of another shape than before.
        """

    @abstractmethod
    def finish(self) -> None:
        """Write the file; nothing if nothing was taken. The next `write` begins another."""


class CSVWriter(Writer):
    """Writes a table as it comes."""

    options: CSVFile
    _file: TextIO | None = None

    def write(self, time: float, data: Any) -> None:
        """Write a row; errors as in `Writer.write`."""
        named = data if isinstance(data, Mapping) else {"data": data}
        columns = {name: _numbers(value, f"{self.path}: {name}") for name, value in named.items()}
        row = [number for numbers in columns.values() for number in numbers]
        if self._file is None:
            header = self._header(columns)
            if len(header) != len(row):
                raise ValueError(f"{self.path}: header has {len(header)} names, and there are {len(row)} numbers")
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.fdopen(open_own(self.path, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8", newline="")
            self._width = len(row)
            csv.writer(self._file).writerow(["timestamp", *header])
        if len(row) != self._width:
            raise ValueError(f"{self.path}: {len(row)} numbers, and the rows before have {self._width}")
        csv.writer(self._file).writerow([time, *row])
        if self.options.save_every_write:
            self._file.flush()

    def _header(self, columns: Mapping[str, list]) -> list[str]:
        if self.options.header is not None:
            return [str(name) for name in self.options.header]
        return [
            f"{name}_{number}" if len(numbers) > 1 else name
            for name, numbers in columns.items()
            for number in range(len(numbers))
        ]

    def finish(self) -> None:
        """End the table."""
        if self._file is not None:
            self._file.close()
        self._file = None


class NPZWriter(Writer):
    """Keeps arrays until the end."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._kept: dict[str, list[Any]] = {}

    def write(self, time: float, data: Any) -> None:
        """Keep a row; errors as in `Writer.write`."""
        named = {"timestamp": time} | dict(data if isinstance(data, Mapping) else {"data": data})
        if self._kept and named.keys() != self._kept.keys():
            raise ValueError(f"{self.path}: {', '.join(named)}; the rows before have {', '.join(self._kept)}")
        for name, value in named.items():
            array, rows = _array(value), self._kept.setdefault(name, [])
            if rows and rows[0].shape != array.shape:
                raise ValueError(f"{self.path}: {name} is {array.shape}, and the rows before are {rows[0].shape}")
            rows.append(array)

    def finish(self) -> None:
        """Write all rows."""
        if self._kept:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            arrays = {name: np.stack(rows) for name, rows in self._kept.items()}
            with replacing(self.path) as unfinished, unfinished.open("wb") as file:
                np.savez_compressed(file, **arrays | dict(self.more() if self.more else {}))
        self._kept = {}


class VideoWriter(Writer):
    """Keeps pictures until the end."""

    options: VideoFile

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._frames: list[np.ndarray] = []

    def write(self, time: float, data: Any) -> None:
        """Keep a picture; errors as in `Writer.write`."""
        picture = _array(data)
        if picture.ndim not in (2, 3) or picture.dtype != np.uint8 or (picture.ndim == 3 and picture.shape[2] != 3):
            what = f"{picture.dtype} {picture.shape}" if picture.ndim else f"a {type(data).__name__}"
            raise TypeError(
                f"{self.path}: expected a picture (h, w, 3) or (h, w) uint8, such as camera.render()[0], got {what}"
            )
        self._frames.append(np.repeat(picture[..., None], 3, axis=2) if picture.ndim == 2 else picture.copy())

    def finish(self) -> None:
        """Write the film."""
        if self._frames:
            write_video(self.path, self._frames, self.options.fps or self.rate)
        self._frames = []


def _array(value: object) -> np.ndarray:
    return value.detach().cpu().numpy().copy() if isinstance(value, torch.Tensor) else np.array(value)


def _numbers(value: object, what: str) -> list:
    array = _array(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{what}: expected numbers, got {type(value).__name__}")
    return array.reshape(-1).tolist()
