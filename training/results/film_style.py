"""The style of films: overlays and text, the layout of environments, the pace of time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import TumbleUserError

WRITTEN = ("time", "reward", "terms", "names")
"""Overlays that are text: simulated time, reward and return, terms of the reward, names of bodies."""
DRAWN = ("contacts", "forces", "frames", "sites", "tendons", "collision")
"""Overlays that are in the picture, see `tumble.physics.rendering.Show`."""
LOOKS = ("sun", "file")
_MOST_TERMS = 12
_COLLISION_GROUP = 3


@dataclass(frozen=True, kw_only=True)
class FilmStyle:
    """The style of pictures and films.

    Attributes:
        overlays: of `WRITTEN` and `DRAWN`.
        look: "sun", or "file" for the lights and the sky of the model's file.
        soft: whether shadows are soft.
        columns: environments in a row; None: about as many as there are rows.
        gap: pixels between environments.
        spacing: m between environments, which then stand side by side in one picture; None: separate pictures.
        slow: seconds of film for one of simulated time.

    Raises:
        TumbleUserError: an unknown overlay or look, or numbers that no film has.
    """

    overlays: tuple[str, ...] = ()
    look: str = "sun"
    soft: bool = False
    columns: int | None = None
    gap: int = 0
    spacing: float | None = None
    slow: float = 1.0

    def __post_init__(self) -> None:
        """Raise if a value is impossible for a film."""
        from ...physics.rendering.names import nearest

        for name in self.overlays:
            if name not in WRITTEN + DRAWN:
                raise TumbleUserError(f"there is no overlay {name!r}{nearest(name, set(WRITTEN + DRAWN))}")
        if self.look not in LOOKS:
            raise TumbleUserError(f"there is no look {self.look!r}: there are {' and '.join(LOOKS)}")
        if not 0.01 <= self.slow <= 1000:
            raise TumbleUserError(f"slow={self.slow}: a film lasts 0.01 to 1000 times the simulated time")
        if self.spacing is not None and not np.isfinite(self.spacing):
            raise TumbleUserError(f"spacing={self.spacing}: expected a distance in metres")
        if self.spacing is not None and "names" in self.overlays:
            raise TumbleUserError("names of bodies are written into pictures of single environments, without spacing")

    @property
    def rendering(self) -> dict[str, Any]:
        """The arguments `look` and `show` of a renderer; empty if they are the usual ones."""
        from ...physics.rendering import Look, Show

        options: dict[str, Any] = {}
        if self.look == "file" or self.soft:
            light: dict[str, Any] = {"soft_shadows": 16} if self.soft else {}
            options["look"] = Look.of_file(**light) if self.look == "file" else Look(**light)
        if set(self.overlays) & set(DRAWN):
            shown: dict[str, Any] = {name: name in self.overlays for name in ("contacts", "sites", "tendons")}
            shown |= {"geom_groups": (_COLLISION_GROUP,)} if "collision" in self.overlays else {}
            frames = "body" if "frames" in self.overlays else None
            options["show"] = Show(contact_forces="forces" in self.overlays, frames=frames, **shown)
        return options

    def fps(self, real: float) -> float:
        """Return the frames a second of a film that shows `real` of them in a second of simulated time."""
        return real / self.slow


class Scoreboard:
    """The text that is written into the pictures of some environments.

    Args:
        style: which text.
        count: environments.
    """

    def __init__(self, style: FilmStyle, count: int) -> None:
        self._style, self._time = style, 0.0
        self._reward, self._return = np.zeros(count), np.zeros(count)
        self._terms: dict[str, np.ndarray] = {}

    def add(self, dt: float, rewards: Any = None, infos: Mapping[str, Any] | None = None, ended: Any = None) -> None:
        """Count a step.

        Args:
            dt: its time, s.
            rewards: (count,).
            infos: of the step; terms of the reward are its keys that begin with "reward_".
            ended: (count,) bool: the environments whose episode ended before this step, whose return restarts.
        """
        self._time += dt
        if ended is not None:
            self._return[np.asarray(ended, bool)] = 0.0
        if rewards is not None:
            self._reward = np.asarray(rewards, float)
            self._return += self._reward
        terms = {key: value for key, value in (infos or {}).items() if key.startswith("reward_")}
        self._terms = {key.removeprefix("reward_"): np.asarray(value, float) for key, value in terms.items()}

    def lines(self, env: int) -> list[str]:
        """Return the text of an environment."""
        asked, lines = self._style.overlays, []
        if "time" in asked:
            lines.append(f"{self._time:.2f} s")
        if "reward" in asked:
            lines.append(f"reward {self._reward[env]:+.3f}   return {self._return[env]:.2f}")
        if "terms" in asked:
            largest = sorted(self._terms, key=lambda name: -abs(self._terms[name][env]))[:_MOST_TERMS]
            lines += [f"{name} {self._terms[name][env]:+.3f}" for name in self._terms if name in largest]
        return lines

    def write(self, frames: np.ndarray, pixels: np.ndarray | None = None, names: Any = ()) -> np.ndarray:
        """Return pictures (n, height, width, 3) with their text.

        Args:
            frames: the pictures.
            pixels: where bodies are seen, (n, k, 2); None: their names are not written.
            names: of the bodies, k.
        """
        from ...physics.rendering import caption, label

        texts = []
        for env, frame in enumerate(np.asarray(frames)):
            named = frame if pixels is None else label(frame, pixels[env], names)
            texts.append(caption(named, self.lines(env)))
        return np.stack(texts)
