"""The kernel's eyes: model and workspace as objects whose attributes are fields.

A header at the front of the model's integers holds every size and every offset (`sizes.HEADER` gives the order), so a
kernel never contains a number that belongs to one model.
"""

from typing import Any

from taichi.lang.impl import expr_init, subscript

from ..fields import FieldView, flat_array, worker_rows
from ..math import Lanes
from ..math.lanes import traced
from .sizes import FLAGS, GROUPS, HEADER, SIZES


class _View:
    """Attributes are header numbers or fields, read once where the view is made."""

    _data_oriented = True
    _is_wrapped_kernel = True

    def _fill(self, ints: Any, group: str, number: Any) -> None:
        def read(name: str) -> Any:
            return expr_init(subscript(None, ints, HEADER.index(name)))

        for field in GROUPS[group]:
            inner = read(field.dims[1]) if len(field.dims) == 2 else None
            setattr(self, field.name, FieldView(field, read(f"{group}.{field.name}"), inner, number))


class ModelView(_View):
    """The model inside a kernel: `model.nbody`, `model.body_mass[b]`, `model.jnt_axis[j]`, ...

    Args:
        ints: the model's flat integers, header first.
        reals: the model's flat real numbers.
    """

    def __init__(self, ints: Any, reals: Any) -> None:
        for name in (*SIZES, *FLAGS):
            setattr(self, name, expr_init(subscript(None, ints, HEADER.index(name))))
        self._fill(ints, "integers", flat_array(ints))
        self._fill(ints, "reals", flat_array(reals))


class Workspace(_View):
    """One worker's scratch inside a kernel: `work.xpos[b]`, `work.qacc[i]`, ... for the tile in hand.

    Args:
        lanes: width and precision; also reachable as `work.lanes`.
        ints: the model's flat integers, header first.
        numbers, indices: the scratch fields of all workers.
        worker: which of them.
    """

    def __init__(self, lanes: Lanes, ints: Any, numbers: Any, indices: Any, worker: Any) -> None:
        self.lanes = lanes
        self.row = worker_rows(numbers, worker)
        self._fill(ints, "quantities", worker_rows(numbers, worker))
        self._fill(ints, "indices", worker_rows(indices, worker))

    @traced
    def real(self, value: Any) -> Any:
        """The same number in every lane."""
        return self.lanes.real(value)
