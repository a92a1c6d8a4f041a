"""The debug objects of a scene as capsules and boxes, which rendering draws as overlays beside those of options."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
import torch

from ...physics.base.shapes import BOX, CAPSULE
from ...physics.rendering.shown.overlays import OverlayPart, Overlays, Placed, Show, along
from .debug import DebugObject

_SLICES = 8
"""A capsule that tapers is drawn as so many that do not."""
_SHORT = 1e-6
"""Length of the axis of a sphere, m, which is drawn as a capsule."""


class DebugOverlay:
    """The debug objects of a scene as an overlay.

    Two are equal if they have the same kinds of parts in the same colours: one renderer shows both.

    Args:
        objects: returns the present objects.
        origin: returns the place of the first environment, (3,) m, in a picture of all side by side, in which objects
            are drawn once; None if each environment has its own picture.
    """

    def __init__(self, objects: Callable[[], Sequence[DebugObject]], origin: Callable[[], torch.Tensor | None]) -> None:
        self._objects, self._origin = objects, origin
        kinds, colors = [np.zeros(0, np.int64)], [np.zeros((0, 4))]
        for each in objects():
            of = _slices(each)[0]
            kinds += [np.full(len(of), CAPSULE), np.full(len(each.boxes), BOX)]
            colors += [each.rgba[of], each.box_rgba]
        self.part = OverlayPart(np.concatenate(kinds), np.concatenate(colors), (), self._place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DebugOverlay) and all(
            np.array_equal(getattr(self.part, name), getattr(other.part, name)) for name in ("kind", "rgba")
        )

    __hash__ = None  # type: ignore[assignment]

    def _place(self, fields: Mapping[str, Any]) -> Placed:
        like, origin = fields["like"], self._origin()
        each = [part for one in self._objects() for part in _placed(one, like)]
        position, rotation, size = (
            torch.cat(parts, 1).repeat_interleave(len(like), 0) for parts in zip(*each, strict=True)
        )
        if origin is not None:
            position, size[1:] = position - origin.to(like), -1.0
        return position, rotation, size


@dataclass(frozen=True, kw_only=True)
class ShowDrawn(Show):
    """A choice of what is drawn of a scene's model, and its debug objects."""

    drawn: DebugOverlay

    def overlays(self, mj: mujoco.MjModel) -> Overlays:
        """Return the overlays of a model, and the debug objects."""
        return Overlays((*super().overlays(mj).parts, self.drawn.part))


def _slices(one: DebugObject) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of the capsule of each slice, and the shares of its axis where the slice begins and ends."""
    count = np.where(one.radius[:, 0] == one.radius[:, 1], 1, _SLICES)
    of = np.repeat(np.arange(len(count)), count)
    low = (np.arange(len(of)) - (np.cumsum(count) - count)[of]) / count[of]
    return of, low, low + 1.0 / count[of]


def _placed(one: DebugObject, like: torch.Tensor) -> list[Placed]:
    """Return the places of the capsules of an object, and of its boxes."""
    of, low, high = _slices(one)
    turn, shift = like.new_tensor(one.pose[:3, :3]), like.new_tensor(one.pose[:3, 3])
    way, (first, last) = (one.end - one.start)[of], one.radius[of].T
    way[~way.any(-1), 2] = _SHORT
    first_end, last_end = (
        like.new_tensor(one.start[of] + share[:, None] * way)[None] @ turn.T + shift for share in (low, high)
    )
    rods = along(first_end, last_end, like.new_tensor(first + (last - first) * (low + high) / 2)[None])
    middles, halves = (
        like.new_tensor(part)[None] for part in (one.boxes.mean(1), np.diff(one.boxes, axis=1)[:, 0] / 2)
    )
    return [rods, (middles @ turn.T + shift, turn.expand(1, len(one.boxes), 3, 3), halves)]
