"""The meaning of numbers in a segmented picture: geoms, links or entities, and the particles of matter."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..entity.entity import RigidEntity
from ..entity.mpm_entity import MPMEntity
from ..options import LEVELS


class Segmentation:
    """Keys of a scene's parts; 0 is the sky.

    Attributes:
        idx_dict: by key its object: an entity's number; (entity, link), or (entity, link, geom), numbers in the
            scene; of matter the entity's number; -1 for the sky.
    """

    def __init__(self, entities: Sequence[RigidEntity | MPMEntity], level: str) -> None:
        self.idx_dict: dict[int, Any] = {0: -1}
        key_of: dict[Any, int] = {}
        keys = [0]  # of the sky, geom -1
        for entity in (each for each in entities if isinstance(each, RigidEntity)):
            for geom in entity.geoms:
                part = (entity.idx, geom.link.idx, geom.idx)[: LEVELS[::-1].index(level) + 1]
                meant = part[0] if level == "entity" else part
                key = key_of.setdefault(meant, len(key_of) + 1)
                self.idx_dict[key] = meant
                keys.append(key)
        for matter in (each for each in entities if isinstance(each, MPMEntity)):  # their numbers follow those of geoms
            key = key_of.setdefault(matter.idx, len(key_of) + 1)
            self.idx_dict[key] = matter.idx
            keys.append(key)
        self._keys = torch.tensor(keys, dtype=torch.int32)

    def keys(self, geoms: torch.Tensor) -> torch.Tensor:
        """Return the keys of geoms, int32, -1 being the sky."""
        return self._keys.to(geoms.device)[(geoms + 1).long()]

    def colors(self, geoms: torch.Tensor) -> torch.Tensor:
        """Return a colour for each key (..., 3) uint8; the sky is black."""
        palette = torch.as_tensor(_palette(len(self.idx_dict)), device=geoms.device)
        return palette[self.keys(geoms).long()]


def _palette(count: int) -> np.ndarray:
    """Return colours (count, 3) uint8 that are easily distinguished, the first black."""
    hue = np.arange(count) * 0.618034 % 1.0
    value = 0.6 + 0.4 * (np.arange(count) % 2)
    wheel = np.abs((hue[:, None] * 6.0 + np.array([0.0, 4.0, 2.0])) % 6.0 - 3.0) - 1.0
    colors = (255 * value[:, None] * np.clip(wheel, 0.15, 1.0)).astype(np.uint8)
    colors[0] = 0
    return colors
