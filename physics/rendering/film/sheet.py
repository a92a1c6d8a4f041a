"""Pictures of many environments laid out as one."""

from typing import Any

import numpy as np
import torch

from ...machine.scalars import as_count


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
