"""The view of a model in which the geoms of a contact slot are those of each lane.

A slot stands for a class of static geoms that have the same contact numbers (`collision.static_contacts`). Where
environments have numbers of their own, the geoms of a class may differ, and those of each lane are gathered.
"""

from typing import Any

import taichi as ti
from taichi.lang.impl import expr_init

from ...base.fields import FieldView
from ...base.math import Lanes
from ...base.math.lanes import traced

GATHERED = ("geom_margin", "geom_friction", "geom_solmix", "geom_solref", "geom_solimp")


@traced
def of_lanes(model: Any, work: Any, k: Any) -> Any:
    """Return the model for the contact numbers of slot k: itself, unless the geoms of its lanes may differ in them."""
    return OwnGeoms(model, work, k) if model.has.grid and model.has.parameters else model


class OwnGeoms:
    """A model whose contact numbers are those of the geoms that each lane has in a slot.

    Args:
        model: the model, with own numbers of environments.
        work: the workspace.
        k: the slot.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, model: Any, work: Any, k: Any) -> None:
        self._model, self._lanes = model, work.lanes
        self._geoms = (
            expr_init(work.con_geom1[k]),
            *(expr_init(ti.cast(field[k], ti.i32)) for field in (work.con_own1, work.con_own2)),
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._model, name)
        return _Gathered(found, self._lanes, self._geoms) if name in GATHERED else found


class _Gathered:
    """A field of geoms, of which each lane has the item of its own geom."""

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, field: FieldView, lanes: Lanes, geoms: tuple) -> None:
        self._field, self._lanes, self._geoms = field, lanes, geoms

    @traced
    def __getitem__(self, g: Any) -> Any:
        return self.at(g, 0)

    @traced
    def at(self, g: Any, column: int) -> Any:
        """Return one plain number of an item; g is the slot's geom 1 or 2."""
        first, own1, own2 = self._geoms
        items = expr_init(ti.select(g == first, own1, own2))
        return self._field.gather(self._lanes, items, column, 1)[0]
