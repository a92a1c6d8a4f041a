"""Where the entries of a tree-sparse matrix are (see `dynamics/tree_matrix.py`)."""

from typing import Any

from ..fields import ROW_BITS, FieldView, below
from ..math.lanes import let, traced


class Pattern:
    """Where the entries of a tree-sparse matrix are: fields in a kernel.

    Attributes:
        count: entries of a row.
        index: (i, p): column of the p-th entry of row i; i itself, its parent, ...
        untouched: how many of row i's columns, from i upward, no larger row has: elimination comes there first.
        order: all rows, those of one depth side by side: sums over their ancestors do not wait for each other.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(
        self, count: FieldView, index: FieldView, start: FieldView, untouched: FieldView, order: FieldView
    ) -> None:
        self.count, self.index, self._start, self.untouched, self.order = count, index, start, untouched, order

    @traced
    def start(self, i: Any) -> Any:
        """Where row i starts."""
        return below(ROW_BITS - 1, self._start[i])

    @traced
    def set_start(self, i: Any, value: Any) -> None:
        """Let row i start elsewhere."""
        self._start.put(i, value)

    @traced
    def end(self, i: Any) -> Any:
        """Where row i ends."""
        return let(self._start[i] + self.count[i])

    @traced
    def address(self, end: Any, j: Any) -> Any:
        """Of the entry at the ancestor j, in the row that ends there."""
        return below(ROW_BITS - 1, end - self.count[j])
