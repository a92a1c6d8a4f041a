"""The control suite's tasks by their ids: each a class of this room and its options."""

from ..row import Row

ROWS: dict[str, Row] = {}
