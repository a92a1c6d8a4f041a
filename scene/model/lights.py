"""Lights of a scene, which become lights of the model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from ..checks import Numbers, number, numbers


@dataclass(frozen=True)
class Light:
    """A lamp, or a sun.

    Attributes:
        pos: where it stands, (3,) m.
        direction: in which it shines, (3,), of length 1.
        color: red, green and blue, from 0 on.
        directional: whether its rays are parallel.
        castshadow: whether it casts shadows.
        cutoff: degrees from its direction up to which it shines.
        attenuation: share by which it is weaker for each metre.
    """

    pos: tuple[float, ...]
    direction: tuple[float, ...]
    color: tuple[float, ...]
    directional: bool
    castshadow: bool
    cutoff: float
    attenuation: float

    @classmethod
    def of(
        cls,
        pos: Numbers,
        direction: Numbers,
        color: Numbers,
        intensity: float,
        directional: bool,
        castshadow: bool,
        cutoff: float,
        attenuation: float,
    ) -> "Light":
        """Return a light from a user's arguments.

        Raises:
            ValueError: an argument is impossible, with its name.
        """
        owner = "add_light"
        along = np.array(numbers(owner, "dir", direction, 3))
        if not along.any():
            raise ValueError(f"{owner}: dir={direction!r}: it must have a length")
        factor = number(owner, "intensity", intensity, least=0.0)
        return cls(
            numbers(owner, "pos", pos, 3),
            tuple((along / np.linalg.norm(along)).tolist()),
            tuple(factor * part for part in numbers(owner, "color", color, 3)),
            bool(directional),
            bool(castshadow),
            number(owner, "cutoff", cutoff, above=0.0, most=180.0),
            number(owner, "attenuation", attenuation, least=0.0),
        )

    @classmethod
    def described(cls, described: Mapping[str, Any]) -> "Light":
        """Return a light by its description, with the length of its direction to the bit; errors as in `of`."""
        numbers: dict[str, Any] = {name: tuple(x) if isinstance(x, list) else x for name, x in described.items()}
        cls.of(**described, intensity=1.0)
        return cls(**numbers)

    def add_to(self, spec: mujoco.MjSpec, name: str) -> None:
        """Add it to the world of a model."""
        kinds = mujoco.mjtLightType
        light = spec.worldbody.add_light(name=name, pos=self.pos, dir=self.direction)
        light.type = kinds.mjLIGHT_DIRECTIONAL if self.directional else kinds.mjLIGHT_SPOT
        light.diffuse = [min(part, 1.0) for part in self.color]
        light.castshadow, light.cutoff = self.castshadow, self.cutoff
        light.attenuation = [1.0, self.attenuation, 0.0]
