"""The sparsity pattern of a tree-sparse matrix (see `mechanics/dynamics/tree_matrix.py`)."""

from typing import Any

from ...base.fields import ROW_BITS, SMALL_BITS, FieldView, below
from ...base.math.lanes import let, traced


class Pattern:
    """The sparsity pattern of a tree-sparse matrix, made of integer fields in a kernel.

    Row i has the columns i, the parent of i, and so on to the root.

    Attributes:
        count: number of entries of each row.
        order: all rows sorted by depth; rows of one depth are next to each other, since sums over their ancestors
            are
            independent of each other.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, count: FieldView, start: FieldView, column: FieldView, order: FieldView) -> None:
        self.count, self._start, self._column, self.order = count, start, column, order

    @traced
    def start(self, i: Any) -> Any:
        """Return the address of the first entry of row i."""
        return below(ROW_BITS - 1, self._start[i])

    @traced
    def set_start(self, i: Any, value: Any) -> None:
        """Set the address of the first entry of row i."""
        self._start.put(i, value)

    @traced
    def end(self, i: Any) -> Any:
        """Return the address behind the last entry of row i."""
        return let(self._start[i] + self.count[i])

    @traced
    def column(self, start: Any, p: Any) -> Any:
        """Return the column of the p-th entry of the row that starts at `start`: the row itself, its parent, ..."""
        return self._column[start + below(SMALL_BITS, p)]

    @traced
    def set_column(self, start: Any, p: Any, value: Any) -> None:
        """Set the column of the p-th entry of the row that starts at `start`."""
        self._column.put(start + p, value)

    @traced
    def address(self, end: Any, j: Any) -> Any:
        """Return the address of the entry in column j, an ancestor, of the row that ends at `end`."""
        return below(ROW_BITS - 1, end - self.count[j])
