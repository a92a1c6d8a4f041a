"""Textures of surfaces: images and colours."""

import os
from typing import Any

from .records import put, record


@record
class ImageTexture:
    """An image that is laid over a surface.

    Attributes:
        image_path: of the file.
    """

    image_path: Any

    def __post_init__(self) -> None:
        """Raise if the path is invalid.

        Raises:
            ValueError: with the path.
        """
        if not isinstance(self.image_path, str | os.PathLike) or not os.path.isfile(self.image_path):
            raise ValueError(f"ImageTexture: image_path={self.image_path!r}: this file does not exist")
        put(self, image_path=os.path.abspath(self.image_path))


@record
class ColorTexture:
    """One colour all over: the same as a surface's `color`.

    Attributes:
        color: red, green, blue and, if four, opacity, from 0 to 1.
    """

    color: Any = (1.0, 1.0, 1.0)
