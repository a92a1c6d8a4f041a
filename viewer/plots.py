"""Curves of a session's numbers over the last seconds, for the chosen environment."""

from collections import deque
from typing import Any

import numpy as np

KEPT = 400
"""Steps that the curves go back."""
MOST_CURVES = 6
INKS = ("#1f6f78", "#d1603d", "#5b6abf", "#c29b1b", "#8a4f9e", "#3f8f4f")


class Plots:
    """A chart in the panel: the reward and its terms first, else what there is."""

    def __init__(self, gui: Any, place: Any) -> None:
        self._gui, self._place = gui, place
        self._names: list[str] = []
        self._rows: deque[tuple[float, list[float]]] = deque(maxlen=KEPT)
        self._chart: Any = None

    def note(self, time: float, info: dict[str, np.ndarray], env: int) -> None:
        """Add the numbers of a step."""
        if not info:
            return
        if not self._names:
            rewards = [name for name in info if "reward" in name]
            self._names = (rewards or list(info))[:MOST_CURVES]
        if self._rows and time <= self._rows[-1][0]:
            self._rows.clear()  # it began anew
        before = self._rows[-1][1] if self._rows else [0.0] * len(self._names)
        now = [float(info[name][env]) if name in info else np.nan for name in self._names]
        kept = [new if np.isfinite(new) else old for new, old in zip(now, before, strict=True)]  # gaps break the chart
        self._rows.append((time, kept))

    def clear(self) -> None:
        """Forget all steps."""
        self._rows.clear()

    def update(self) -> None:
        """Draw the curves."""
        if len(self._rows) < 2:
            return
        data = (np.array([row[0] for row in self._rows]), *np.array([row[1] for row in self._rows]).T.copy())
        if self._chart is not None:
            self._chart.data = data
            return
        series: list[dict[str, object]] = [{}] + [
            {"label": name.replace("_", " "), "stroke": INKS[i % len(INKS)], "width": 2}
            for i, name in enumerate(self._names)
        ]
        scales = {"x": {"time": False}, "y": {"auto": True}}
        axes = ({"label": "s"}, {"size": 44})
        with self._place:
            self._chart = self._gui.add_uplot(data, tuple(series), scales=scales, axes=axes, height=230)
