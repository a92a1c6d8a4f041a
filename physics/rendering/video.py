"""Films and pictures to files: mp4 by imageio-ffmpeg's own encoder, png by hand. A file appears whole or not at all."""

import os
import struct
import uuid
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np


def write_video(path: str | os.PathLike, frames: Iterable[Any], fps: float, quality: int = 8) -> Path:
    """Encode frames as an H.264 mp4 that players and browsers show.

    Args:
        path: ends in .mp4; its folder is made if it is missing, an older file is replaced.
        frames: (height, width, 3) uint8, numpy or torch, all of one size; may be a generator, one frame is held.
        fps: frames a second.
        quality: 0 (smallest file) to 10 (best).

    Returns:
        The path.

    Raises:
        ValueError: no frames, a frame of another shape or dtype (with its number), fps not positive, not an .mp4.
        OSError: the encoder or the file failed.
    """
    import imageio_ffmpeg

    path = Path(path)
    if path.suffix.lower() != ".mp4":
        raise ValueError(f"a film's name must end in .mp4, not {path.name!r}")
    if not fps > 0:
        raise ValueError(f"fps must be positive, not {fps}")
    checked = _checked(frames)
    first = next(checked, None)
    if first is None:
        raise ValueError(f"no frames to write to {path}")
    height, width = first.shape[:2]
    # 4:2:0 colour, the only kind that every player shows, needs an even size: repeat the last row or column
    pad = ((0, height % 2), (0, width % 2), (0, 0))
    size = (width + width % 2, height + height % 2)
    with _appearing(path) as unfinished:
        writer = imageio_ffmpeg.write_frames(
            str(unfinished), size, fps=fps, quality=quality, macro_block_size=1, ffmpeg_log_level="error"
        )
        try:
            writer.send(None)
            for frame in chain([first], checked):
                writer.send(np.ascontiguousarray(np.pad(frame, pad, mode="edge")))
        finally:
            writer.close()
        if not unfinished.stat().st_size:
            raise OSError(f"the encoder {imageio_ffmpeg.get_ffmpeg_exe()} wrote nothing for {path}")
    return path


def save_png(path: str | os.PathLike, image: Any) -> Path:
    """Write one (height, width, 3) uint8 picture, numpy or torch, as png; returns the path."""
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
        unfinished.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))
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
    """A temporary name beside `path` that takes its place when the block succeeds and is removed when it fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.stem}.{uuid.uuid4().hex}{path.suffix}")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
