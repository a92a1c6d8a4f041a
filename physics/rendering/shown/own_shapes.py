"""Shapes of geoms in environments that have sizes of their own."""

import numpy as np
import torch

from ...base.shapes import of_kinds
from ..look import Look
from .render_model import ALWAYS, BOUND, CORE, SIZE, RenderModel


def own_shapes(drawn: RenderModel, look: Look, sizes: torch.Tensor) -> np.ndarray:
    """Return `RenderModel.shape` for each environment, (n, rows, SHAPE_COLUMNS), by geom_size (n, ngeom, 3).

    Meshes and height fields keep the model's: their sizes say nothing about their triangles.
    """
    shape = np.repeat(drawn.shape[None], len(sizes), axis=0)
    given, reach, bulk = sizes.numpy(), of_kinds("reach"), of_kinds("bulk")
    for row, (geom, kind) in enumerate(zip(drawn.geom.tolist(), drawn.kind.tolist(), strict=True)):
        if geom < 0 or kind not in reach:
            continue
        if drawn.shape[row, BOUND] == np.float32(ALWAYS):  # a plane
            if not look.endless_planes:
                shape[:, row, SIZE : SIZE + 3] = given[:, geom]
            continue
        shape[:, row, SIZE : SIZE + 3] = given[:, geom]
        shape[:, row, BOUND] = reach[kind](given[:, geom])
        shape[:, row, CORE : CORE + 2] = np.stack(bulk[kind](given[:, geom]), axis=-1)
    return shape
