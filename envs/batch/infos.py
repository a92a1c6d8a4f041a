"""Gymnasium's convention for the infos of a batch: every key has a mask `_key` of the environments that it speaks of.

Values are dense arrays (num_envs, ...) with zeros where the mask is False; a key with a value in no environment is left
out. Keys with values in the same environments share one mask.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..arrays import Array, any_true, indices, namespace, zeros_like_rows

Values = Mapping[str, Array]  # each (n, ...)
Info = dict[str, Any]  # as users get it: tensors or arrays, or further infos


class InfoBuilder:
    """The infos of a step or a reset, while they are being put together.

    Values of the same type and shape lie side by side in one block (keys, num_envs, ...): a task has six or ten of
    them, and an operation on a block costs hardly more than one on a single value.

    Args:
        values: of all environments, each (num_envs, ...); they are copied.
        mask: the environments that they speak of, (num_envs,) bool: all, unless there are no values.
    """

    def __init__(self, values: Values, mask: Array) -> None:
        self._mask = mask
        self._blocks: list[tuple[Sequence[str], Array]] = []
        self._masks: dict[str, Array] = {}  # (num_envs,) bool by key; keys without a value are left out
        alike: dict[Any, list[str]] = {}
        for key, value in values.items():
            alike.setdefault((value.dtype, value.shape[1:]), []).append(key)
        for keys in alike.values():
            rows = [values[key][None] for key in keys]
            self._add(keys, namespace(rows[0]).concat(rows), mask)

    def _add(self, keys: Sequence[str], block: Array, mask: Array) -> None:
        """Add a block (keys, num_envs, ...) about the environments in `mask`."""
        self._blocks.append((keys, block))
        self._masks.update(dict.fromkeys(keys, mask))

    def _row(self, key: str) -> Array | None:
        """The values of a key, (num_envs, ...) in its block; None where the key is new."""
        return next((block[keys.index(key)] for keys, block in self._blocks if key in keys), None)

    def split(self, rows: Array, mask: Array) -> "InfoBuilder":
        """Move the values of the environments `rows` (k,), which `mask` (num_envs,) marks too, into a new builder."""
        those = InfoBuilder({}, mask)
        for keys, block in self._blocks:
            part = zeros_like_rows(block, len(block))
            part[:, rows] = block[:, rows]
            block[:, rows] = 0
            those._add(keys, part, mask)
        self._mask = ~mask
        self._masks = dict.fromkeys(self._masks, self._mask) if len(rows) < len(mask) else {}
        return those

    def put(self, values: Values, rows: Array, mask: Array) -> None:
        """Set values (k, ...) of the environments `rows` (k,), which `mask` (num_envs,) marks too."""
        both = self._mask | mask
        for key, value in values.items():
            row = self._row(key)
            if row is None:
                row = zeros_like_rows(value, len(mask))
                self._add([key], row[None], mask)
            else:
                self._masks[key] = both
            row[rows] = value

    def put_faults(self, faults: Array | None, among: Array | None = None) -> None:
        """Set "fault" where the bit masks `faults` (num_envs,) are not zero and, if given, `among` is True."""
        if faults is None:
            return
        mask = faults != 0 if among is None else (faults != 0) & among
        if any_true(mask):
            rows = indices(mask)
            self.put({"fault": faults[rows]}, rows, mask)

    def info(self, export: Callable[[Array], Any]) -> Info:
        """Return the infos as the user gets them; `export` turns an array of the batch into the user's kind."""
        info: Info = {}
        masks: dict[int, Any] = {}  # as the user gets them, by the id of ours
        for keys, block in self._blocks:
            for key, row in zip(keys, block, strict=True):
                if (mask := self._masks.get(key)) is None:
                    continue
                if id(mask) not in masks:
                    masks[id(mask)] = export(mask)
                info[key], info[f"_{key}"] = export(row), masks[id(mask)]
        return info
