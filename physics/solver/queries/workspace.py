"""The numbers that GJK and EPA work with where no step runs: a few rows a worker, always in double precision."""

from copy import copy
from typing import Any

import numpy as np
import taichi as ti
from taichi.lang.impl import subscript

from ...base.fields import OFFSET_BITS, FieldView, below, flat_array, layout
from ...base.math import Lanes
from ...base.math.lanes import let, traced
from ...model.features import Features
from ...model.model import Model
from ...model.state.capacity import Capacity
from ...model.state.fields import CONVEX, CONVEX_INDICES
from ...model.state.sizes import all_sizes, polytope_sizes
from ...model.state.views import ModelView
from ...model.tables.fields import REALS

FIELDS = (*CONVEX, *CONVEX_INDICES)
CODE = Features(ball_joints=False, hulls=False, solids=False, convex=True, mixed_precision=False, cg=False)
"""Optional code of the kernel, the same for every model, so that one kernel serves all."""
_OWN = {field.name: field for field in REALS if field.name in ("geom_size", "geom_rbound")}


def query_sizes(model: Model) -> dict[str, int]:
    """Sizes of a model and of the workspace of a query, whether or not its steps need them."""
    return all_sizes(model, Capacity(1, 1)) | polytope_sizes(model, True)


def places(sizes: dict[str, int]) -> tuple[np.ndarray, int, int]:
    """Return the first of a worker's rows for each of `FIELDS`, and how many numbers and integers they are."""
    (numbers, rows), (integers, index_rows) = layout(CONVEX, sizes), layout(CONVEX_INDICES, sizes)
    return np.array([*numbers.values(), *integers.values()], np.int32), rows, index_rows


class PairWorkspace:
    """The workspace of one pair of geoms: the attributes of `state.views.Workspace` that GJK and EPA use.

    Args:
        numbers: the numbers of all workers, flat.
        indices: integers of all workers, flat.
        begins: where every field begins (`places`).
        worker: which of them.
        steps: from a row to the next, and from a worker to the next, in both arrays: (row, worker, worker's integers).
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, numbers: Any, indices: Any, begins: Any, worker: Any, steps: tuple[Any, Any, Any]) -> None:
        self.lanes = self.ccd_lanes = Lanes(1, ti.f64)
        row, first, first_index = steps[0], let(worker * steps[1]), let(worker * steps[2])

        def number(i: Any) -> Any:
            return subscript(None, numbers, first + i * row)

        def integer(i: Any) -> Any:
            return subscript(None, indices, first_index + i * row)

        for k, field in enumerate(FIELDS):
            base = let(below(OFFSET_BITS, subscript(None, begins, k)))
            setattr(self, field.name, FieldView(field, base, None, number if field in CONVEX else integer))


@traced
def with_own_sizes(model: ModelView, size: Any, rbound: Any, first: Any) -> ModelView:
    """The model with the sizes of an environment, whose first geom is the one of number `first` in both arrays."""
    own = copy(model)
    for name, array, width in (("geom_size", size, 3), ("geom_rbound", rbound, 1)):
        setattr(own, name, FieldView(_OWN[name], let(below(OFFSET_BITS, first * width)), None, flat_array(array)))
    return own
