"""Films and pictures to files: mp4 and gif by imageio-ffmpeg, png by hand. A file appears whole or not at all.

It is written under a temporary name beside its place; errors name the place that the user gave. A film that is
interrupted ends with the frames that were made.
"""

import errno
import os
import struct
import subprocess
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch

from ...machine.disk import UNFINISHED, replacing
from ...machine.scalars import as_count
from ...machine.waiting import Waiting

FILMS = (".mp4", ".gif")
"""Endings of the names of films."""
# the best 256 colours of all frames, and a regular pattern in place of shades, which keeps still parts still
_PALETTE = "split[a][b];[a]palettegen[p];[b][p]paletteuse=dither=bayer:bayer_scale=4"
_GIF = ("-vcodec", "gif", "-pix_fmt", "pal8", "-loop", "0", "-filter_complex", _PALETTE)
_MP4 = ("-vcodec", "libx264", "-pix_fmt", "yuv420p", "-preset", "veryfast")  # a quarter of the usual preset's time
_WORST = 51  # quality of H.264, of which 0 is the best


def write_video(path: str | os.PathLike, frames: Iterable[Any], fps: float, quality: int = 8) -> Path:
    """Encode frames as a film that players and browsers show: an H.264 mp4, or a gif that plays again and again.

    Args:
        path: ends in .mp4 or .gif; its folder is made if it is missing, an older file is replaced.
        frames: (height, width, 3) uint8, numpy or torch, all of one size; may be a generator, one frame is held.
        fps: frames a second; browsers show 50 of a gif at most.
        quality: of an mp4, 0 (smallest file) to 10 (best).

    Returns:
        The path.

    Raises:
        ValueError: no frames, a frame of another shape or dtype (with its number), fps not positive, another ending.
        OSError: the file cannot be written, or the encoder failed.
        KeyboardInterrupt, SystemExit: as they came, after a film of the frames until then has been written.
    """
    path = Path(path)
    if path.suffix.lower() not in FILMS:
        raise ValueError(f"a film's name must end in {' or '.join(FILMS)}, not {path.name!r}")
    if not fps > 0:
        raise ValueError(f"fps must be positive, not {fps}")
    checked = _checked(frames)
    first = next(checked, None)
    if first is None:
        raise ValueError(f"no frames to write to {path}")
    height, width = first.shape[:2]
    # an mp4's 4:2:0 colour, the only kind that every player shows, needs an even size: repeat the last row or column
    odd = 1 if path.suffix.lower() == ".gif" else 2
    pad = ((0, height % odd), (0, width % odd), (0, 0))
    size = (width + width % odd, height + height % odd)
    written, stop = [0], None
    with _appearing(path) as unfinished, Waiting(f"filming into {path}", lambda: f" ({written[0]} frames)"):
        encoder = _Encoder(path, unfinished, size, fps, quality)
        try:
            for frame in chain([first], checked):
                encoder.write(np.ascontiguousarray(np.pad(frame, pad, mode="edge")))
                written[0] += 1
        except (KeyboardInterrupt, SystemExit) as raised:
            stop = raised
        finally:
            encoder.close()
        if not _is_whole(unfinished):
            raise stop or encoder.error()
    if stop is not None:
        stop.add_note(f"{path}: the first {written[0]} frames")
        raise stop
    return path


def require_writable(path: Path) -> None:
    """Check, before any work, that a file can be written; its folder is made if it is missing.

    Raises:
        OSError: the folder cannot be made, or no file can be made there; it names the path.
    """
    with suppress(_Tried), _appearing(path):
        raise _Tried


class _Tried(Exception):
    """Ends a try, which leaves the file as it was."""


class _Encoder:
    """The encoder's process, which writes a film under a temporary name."""

    def __init__(self, path: Path, unfinished: Path, size: tuple[int, int], fps: float, quality: int) -> None:
        import imageio_ffmpeg

        self._path, self._unfinished, self._program = path, unfinished, imageio_ffmpeg.get_ffmpeg_exe()
        raw = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "{}x{}".format(*size), "-r", f"{fps:.6f}", "-i", "-")
        mp4 = (*_MP4, "-crf", str(int(_WORST * (1 - quality / 10))))
        options = _GIF if unfinished.suffix.lower() == ".gif" else mp4
        command = (self._program, "-y", "-v", "quiet", *raw, "-an", *options, str(unfinished))  # it names another file
        # in a new session, where no Ctrl-C reaches it
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)

    @property
    def _pipe(self) -> IO[bytes]:
        """The end of the pipe from which the process reads frames."""
        assert self._process.stdin is not None
        return self._process.stdin

    def write(self, frame: np.ndarray) -> None:
        """Hand a frame over; OSError if the process has ended."""
        try:
            self._pipe.write(frame.data)
        except OSError:
            raise self.error() from None

    def close(self) -> None:
        """Wait for the process to finish the film and end; it is killed if that is interrupted."""
        try:
            with suppress(OSError):
                self._pipe.close()
            self._process.wait()
        finally:
            self._process.kill()

    def error(self) -> OSError:
        """Return why the encoder failed: the system's error on a further write, such as a full disk."""
        try:
            with self._unfinished.open("ab") as file:
                file.write(bytes(1 << 20))
        except OSError as error:
            return OSError(error.errno, error.strerror, str(self._path))
        return OSError(errno.EIO, f"the encoder {self._program} failed", str(self._path))


def _is_whole(film: Path) -> bool:
    """Say whether a film has all its parts: an mp4 is a list of boxes with their lengths, of which "moov" comes last.

    Source: ISO/IEC 14496-12, section 4.2. A gif begins with its version and ends with a semicolon.
    """
    if film.suffix.lower() == ".gif":
        content = film.read_bytes()
        return content.startswith(b"GIF8") and content.endswith(b";")
    end, place, kinds = film.stat().st_size, 0, set()
    with film.open("rb") as file:
        while place + 8 <= end:
            file.seek(place)
            head = file.read(16)
            size, kind = struct.unpack(">I4s", head[:8])
            if size == 1 and len(head) == 16:  # a length of 64 bits follows
                (size,) = struct.unpack(">Q", head[8:])
            if size < 8:
                return False
            kinds.add(kind)
            place += size
    return place == end and {b"mdat", b"moov"} <= kinds


def save_png(path: str | os.PathLike, image: Any) -> Path:
    """Write one (height, width, 3) uint8 picture, numpy or torch, as png; returns the path.

    Raises:
        ValueError: the name or the picture is not of this kind.
        OSError: the file cannot be written.
    """
    path = Path(path)
    if path.suffix.lower() != ".png":
        raise ValueError(f"a picture's name must end in .png, not {path.name!r}")
    pixels = _frame(image, 0)
    height, width = pixels.shape[:2]
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)  # 0: no row filter
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits, RGB
    body = zlib.compress(lines.tobytes(), 9)
    with _appearing(path) as unfinished:
        parts = [_chunk(b"IHDR", header), _chunk(b"IDAT", body), _chunk(b"IEND", b"")]
        try:
            unfinished.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))
        except OSError as error:  # without a name where the disk is full
            raise OSError(error.errno, error.strerror, str(path)) from None
    return path


def _chunk(kind: bytes, data: bytes) -> bytes:
    """A png chunk: length, kind, data, checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _checked(frames: Iterable[Any]) -> Iterator[np.ndarray]:
    """The frames as numpy, each of the first one's shape."""
    shape = None
    for number, frame in enumerate(frames):
        pixels = _frame(frame, number)
        shape = shape or pixels.shape
        if pixels.shape != shape:
            raise ValueError(f"frame {number} has shape {pixels.shape}, frame 0 had {shape}")
        yield pixels


def _frame(frame: Any, number: int) -> np.ndarray:
    """One frame as numpy (height, width, 3) uint8."""
    pixels = np.asarray(frame.cpu() if hasattr(frame, "cpu") else frame)
    if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 3 or not pixels.size:
        raise ValueError(f"frame {number} must be (height, width, 3) uint8, not {pixels.shape} {pixels.dtype}")
    return pixels


@contextmanager
def _appearing(path: Path) -> Iterator[Path]:
    """A file with a temporary name beside `path`, which takes its place when the block succeeds, else is removed.

    Raises:
        OSError: it cannot be made, written or moved there; it names `path`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = "a file has its name" if isinstance(error, FileExistsError) else error.strerror
        raise OSError(error.errno, f"its folder cannot be made: {reason}", str(path)) from None
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "there is a folder of this name", str(path))
    try:
        with replacing(path) as unfinished:
            yield unfinished
    except OSError as error:
        if not any(UNFINISHED in str(name) for name in (error.filename, error.filename2)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def grid(frames: Any, columns: int | None = None, gap: int = 0, color: tuple[int, int, int] = (0, 0, 0)) -> Any:
    """Lay pictures of one size out in rows, from the upper left on.

    Args:
        frames: (n, height, width, 3) uint8, a tensor, an array, or a sequence of arrays.
        columns: pictures in a row; None: about as many as there are rows.
        gap: pixels between pictures.
        color: of gaps and of places that are left over, 0 to 255.

    Returns:
        One picture (height, width, 3) uint8: a tensor where the frames are, or an array.

    Raises:
        ValueError: there are no pictures, or they are of another shape.
    """
    on_device = isinstance(frames, torch.Tensor)
    pictures = frames if on_device else torch.from_numpy(np.ascontiguousarray(frames))
    if pictures.ndim != 4 or pictures.shape[-1] != 3 or not len(pictures):
        raise ValueError(f"a grid is of pictures (n, height, width, 3), n at least 1, not {tuple(pictures.shape)}")
    count, height, width = pictures.shape[:3]
    across = int(np.ceil(np.sqrt(count))) if columns is None else min(as_count("columns", columns), count)
    down, gap = -(-count // across), as_count("gap", gap, least=0)
    sheet = torch.tensor(color, dtype=pictures.dtype, device=pictures.device)
    sheet = sheet.expand(down * across, height + gap, width + gap, 3).clone()
    sheet[:count, :height, :width] = pictures
    whole = sheet.reshape(down, across, height + gap, width + gap, 3).transpose(1, 2)
    whole = whole.reshape(down * (height + gap), across * (width + gap), 3)
    whole = whole[: down * (height + gap) - gap, : across * (width + gap) - gap].contiguous()
    return whole if on_device else whole.numpy()
