"""Where the entries of a tree-sparse matrix are (see `dynamics/tree_matrix.py`)."""

from typing import Any

from ..fields import ROW_BITS, SMALL_BITS, FieldView, below
from ..math.lanes import let, traced


class Pattern:
    """Where the entries of a tree-sparse matrix are: fields in a kernel.

    Attributes:
        count: entries of a row.
        order: all rows, those of one depth side by side: sums over their ancestors do not wait for each other.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, count: FieldView, start: FieldView, column: FieldView, order: FieldView) -> None:
        self.count, self._start, self._column, self.order = count, start, column, order

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
    def column(self, start: Any, p: Any) -> Any:
        """Column of the p-th entry of the row that starts there: the row itself, its parent, ..."""
        return self._column[start + below(SMALL_BITS, p)]

    @traced
    def set_column(self, start: Any, p: Any, value: Any) -> None:
        """Let the p-th entry of the row that starts there be of another column."""
        self._column.put(start + p, value)

    @traced
    def address(self, end: Any, j: Any) -> Any:
        """Of the entry at the ancestor j, in the row that ends there."""
        return below(ROW_BITS - 1, end - self.count[j])
