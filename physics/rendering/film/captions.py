"""Text in pictures: captions in a corner, and labels at points."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...machine.scalars import as_count

CORNERS = ("upper left", "upper right", "lower left", "lower right")
_PAD, _SHADE = 0.5, 0.45
"""Around a text, in its size; share of a picture's light that is left behind it."""


@lru_cache(maxsize=16)
def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def caption(
    frame: np.ndarray,
    lines: Sequence[str],
    corner: str = "upper left",
    size: int | None = None,
    color: tuple[int, int, int] = (255, 255, 255),
) -> np.ndarray:
    """Return a picture with lines of text on a darker ground.

    Args:
        frame: (height, width, 3) uint8.
        lines: the text; none: the picture is as it was.
        corner: one of `CORNERS`.
        size: of letters, pixels; None: about a thirtieth of the height, 10 at least.
        color: of letters, 0 to 255.

    Raises:
        ValueError: there is no such corner, or this is no picture.
    """
    if corner not in CORNERS:
        raise ValueError(f"corner={corner!r}: there are {', '.join(CORNERS)}")
    _require_picture(frame)
    if not lines:
        return frame
    from PIL import Image, ImageDraw

    height, width = frame.shape[:2]
    size = max(10, height // 30) if size is None else as_count("size", size)
    font, text = _font(size), "\n".join(lines)
    spacing = max(1, size // 4)
    left, top, right, bottom = ImageDraw.Draw(Image.new("RGB", (1, 1))).multiline_textbbox(
        (0, 0), text, font=font, spacing=spacing
    )
    pad = round(_PAD * size)
    wide, high = min(width, round(right - left) + 2 * pad), min(height, round(bottom - top) + 2 * pad)
    x = 0 if corner.endswith("left") else width - wide
    y = 0 if corner.startswith("upper") else height - high
    found = np.array(frame)
    ground = Image.fromarray((_SHADE * found[y : y + high, x : x + wide]).astype(np.uint8))
    ImageDraw.Draw(ground).multiline_text((pad - left, pad - top), text, fill=color, font=font, spacing=spacing)
    found[y : y + high, x : x + wide] = np.asarray(ground)
    return found


def label(
    frame: np.ndarray,
    points: np.ndarray,
    names: Sequence[str],
    size: int | None = None,
    color: tuple[int, int, int] = (255, 255, 255),
) -> np.ndarray:
    """Return a picture with a text beside each point; points outside of the picture get no text.

    Args:
        frame: (height, width, 3) uint8.
        points: (k, 2) pixels to the right and down; nan: not seen.
        names: k texts.
        size: of letters, pixels; None: about a fortieth of the height, 9 at least.
        color: of letters, 0 to 255.

    Raises:
        ValueError: the frame is not a picture, or the number of names is not that of the points.
    """
    _require_picture(frame)
    if np.shape(points) != (len(names), 2):
        raise ValueError(f"points: expected ({len(names)}, 2), one for each name, got {np.shape(points)}")
    from PIL import Image, ImageDraw

    height, width = frame.shape[:2]
    size = max(9, height // 40) if size is None else as_count("size", size)
    picture = Image.fromarray(np.ascontiguousarray(frame))
    draw = ImageDraw.Draw(picture)
    for (x, y), name in zip(np.asarray(points, float), names, strict=True):
        if 0 <= x < width and 0 <= y < height:
            draw.ellipse((x - 1.5, y - 1.5, x + 1.5, y + 1.5), fill=color)
            draw.text((x + 4, y - size), name, fill=color, font=_font(size), stroke_width=1, stroke_fill=(30, 30, 30))
    return np.asarray(picture).copy()


def _require_picture(frame: Any) -> None:
    if getattr(frame, "dtype", None) != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3:
        raise ValueError(f"frame: expected an array (height, width, 3) uint8, not {type(frame).__name__}")
