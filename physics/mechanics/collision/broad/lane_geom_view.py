"""View of a model in which geom g is a different static geom in each lane.

Collision routines read numbers of geoms from the model. With a grid, lanes of one pair have different static geoms
(`static_contacts`); the numbers of these were copied into the workspace, side by side.
"""

from typing import Any

import taichi as ti

from ....base.fields import FieldView
from ....base.math.lanes import let, traced

OWN = {
    "geom_pos": "static_pos",
    "geom_quat": "static_quat",
    "geom_size": "static_size",
    "geom_half": "static_half",
    "geom_rbound": "static_rbound",
    "geom_detect": "static_detect",
}
"""Fields of the model, and the fields of the workspace that have the numbers of the lanes' own geoms."""


class LaneGeomView:
    """A model in which geom `g` is another one in every lane.

    Args:
        model: the model, or the view of one lane.
        work: the workspace, or the view of that lane.
        g: the geom, an integer of the kernel.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, model: Any, work: Any, g: Any) -> None:
        self._model, self._work, self._g = model, work, g

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._model, name)
        return _Own(found, getattr(self._work, OWN[name]), self._g) if name in OWN else found

    @traced
    def lane(self, lane: Any) -> "LaneGeomView":
        """Return the view of one lane."""
        return LaneGeomView(self._model.lane(lane), self._work.lane(lane), self._g)


class _Own:
    """A field of geoms in which the numbers of geom g are replaced, per lane."""

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, field: FieldView, own: FieldView, g: Any) -> None:
        self._field, self._own, self._g = field, own, g

    @traced
    def __getitem__(self, g: Any) -> Any:
        mine, theirs = self._own[0], self._field[g]
        if self._own.width == 1:
            return let(ti.select(g == self._g, mine, theirs))
        numbers = zip(mine.numbers(), theirs.numbers(), strict=True)
        return type(mine)(*(ti.select(g == self._g, a, b) for a, b in numbers))

    @traced
    def at(self, g: Any, column: Any) -> Any:
        """Return one plain number of an item."""
        mine = self._own.at(0, column)
        return let(ti.select(g == self._g, mine, self._field.at(g, column)))
