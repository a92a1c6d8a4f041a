"""A row of the table of features that Tumble does not simulate."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from mujoco import MjModel

Drop = Callable[[object], None]
"""A function that takes a feature out of an element of an MjSpec."""


class Unsupported(NamedTuple):
    """One unsupported feature.

    Attributes:
        feature: the text of the message.
        kind: the kind of element, a key of ``element_locations.KINDS``, or "option".
        attribute: the attribute in an MJCF file that asks for it, if there is one.
        where: model -> ids of the elements that use it; for an option, non-empty if it is in use.
        drop: takes the feature out of one MjSpec element (for an option: out of ``spec.option``); None: delete it.
        without: disable flags under each of which the feature has no effect.
    """

    feature: str
    kind: str
    attribute: str
    where: Callable[[MjModel], np.ndarray]
    drop: Drop | None
    without: int = 0


def clears(flags: str, bit: Any) -> Drop:
    """Return a function that takes a bit out of flags of an option, such as `enableflags`."""

    def clear(option: object) -> None:
        setattr(option, flags, int(getattr(option, flags)) & ~int(bit))

    return clear
