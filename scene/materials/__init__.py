"""Materials of entities: `Rigid`, and the materials of matter in `MPM`."""

from typing import Any

from ..compat.absent import absent_material
from . import mpm as MPM
from .rigid import Rigid

__all__ = ["MPM", "Rigid"]


def __getattr__(name: str) -> Any:
    """Refuse a material of Genesis that is not here, with the nearest that is.

    Raises:
        AttributeError: always; of a group of materials such as `SPH` when one of them is asked for.
    """
    return absent_material(name)
