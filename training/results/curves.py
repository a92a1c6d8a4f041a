"""Learning curves of several runs: means with 95 % intervals, drawn over steps and over minutes, and as CSV.

A run's curve shows its evaluations if there are any: training counts only episodes that have ended, and long ones of a
good policy end last.
"""

import csv
import io
import json
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...physics.machine.disk import replacing
from ..best import EVALUATIONS, read_best
from ..checkpoint import write_text_atomically
from ..errors import TumbleUserError
from ..learning.loggers import CLOCKS, NO_ROW, read_curve
from ..runs import Run
from ..seeds import SeedBatch
from ..tasks import short_name
from .interquartile import CONFIDENCE, interquartile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SCORES, CURVE = "seeds.json", "curve.png"
POINTS = 200  # of the mean curve
TRAINING, EVALUATION = "training", "evaluation"
COLUMNS = {TRAINING: ("progress.jsonl", "rollout/ep_rew_mean"), EVALUATION: (EVALUATIONS, "mean")}
HEADLINES = {TRAINING: "training_return", EVALUATION: "last_evaluation"}  # of `score`
SCORED = ("last_evaluation", "best_evaluation", "training_return")


@dataclass(frozen=True)
class Curve:
    """The returns of a run."""

    steps: np.ndarray  # (n,) environment steps
    minutes: np.ndarray  # (n,) of one core; of a clock if the run is on a GPU
    returns: np.ndarray  # (n,) mean return of an episode


def read_returns(run: Run, kind: str) -> Curve | None:
    """Read a run's curve, "training" or "evaluation"; None if it has no point."""
    name, column = COLUMNS[kind]
    rows = [row for row in read_curve(run.folder / name) if _is_number(row.get(column))]
    if not rows:
        return None
    steps = np.array([row["step"] for row in rows], dtype=float)
    clock = "cpu_seconds" if run.config.device == "cpu" else "seconds"
    seconds = np.array([row[clock] for row in rows])
    if not seconds.all():  # evaluations of earlier versions say 0
        progress = read_curve(run.folder / "progress.jsonl") or rows
        seconds = np.interp(steps, [row["step"] for row in progress], [row[clock] for row in progress])
    return Curve(steps, seconds / 60, np.array([row[column] for row in rows], dtype=float))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


@dataclass(frozen=True)
class Group:
    """Runs that differ in their seeds only.

    Attributes:
        name: The difference from other groups, such as "PPO, learning_rate=0.001".
        runs: The runs that have begun.
    """

    name: str
    runs: Sequence[Run]

    @cached_property
    def kind(self) -> str:
        """The kind of the curves: "evaluation" if a run has been evaluated, else "training"."""
        return EVALUATION if any(read_returns(run, EVALUATION) for run in self.runs) else TRAINING

    @cached_property
    def curves(self) -> list[tuple[int, Curve]]:
        """The seed and the curve of each run that has a point."""
        returns = [(run.config.seed, read_returns(run, self.kind)) for run in self.runs]
        return [(seed, curve) for seed, curve in returns if curve is not None]

    def summary(self) -> dict[str, Any]:
        """Return `score` of each run, and mean, deviation and interval of each of its figures."""
        rows = [score(run) for run in self.runs]
        summary: dict[str, Any] = {"group": self.name, "curve": self.kind, "seeds": rows}
        for name in SCORED[:2] if self.kind == EVALUATION else SCORED[2:]:
            values = [row[name] for row in rows if row[name] is not None]
            if values:
                summary[name] = spread(values)
        summary["headline"] = summary.get(HEADLINES[self.kind])
        return summary


def score(run: Run) -> dict[str, Any]:
    """Return seed, steps, time and returns of a run; a return is None if it is missing.

    `last_evaluation` is that of the last policy, `best_evaluation` that of the best one on episodes that did not choose
    it, `training_return` the mean of the last episodes that ended in training.
    """
    progress = read_curve(run.folder / "progress.jsonl")
    last = progress[-1] if progress else NO_ROW
    figures = {"seed": run.config.seed, "steps": last["step"]} | {name: last[name] for name in CLOCKS}
    curves = {HEADLINES[kind]: read_returns(run, kind) for kind in COLUMNS}
    figures |= {name: None if curve is None else float(curve.returns[-1]) for name, curve in curves.items()}
    return figures | {"best_evaluation": read_best(run).get("mean")}


def half_width(deviation: Any, count: int) -> Any:
    """Return half the 95 % interval of a mean: Student's t, for the standard deviation of `count` samples, at least 2.

    With t = sqrt(n) tan(a) for n = count - 1 degrees of freedom, the density of the angle a is cos(a)^(n - 1).
    """
    freedom = count - 1
    angles = np.linspace(0.0, math.pi / 2, 100_001)
    density = np.cos(angles) ** (freedom - 1)
    below = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    quantile = math.sqrt(freedom) * math.tan(np.interp(CONFIDENCE * below[-1], below, angles))
    return quantile * deviation / math.sqrt(count)


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Return mean, standard deviation and 95 % interval of the mean (None for one value), and the number of values.

    Also the interquartile mean with its interval, see `interquartile.py`.
    """
    mean, count = float(np.mean(values)), len(values)
    figures: dict[str, Any] = {"mean": mean, "standard_deviation": None, "interval": None, "seeds": count}
    figures["interquartile"] = interquartile([values])
    if count > 1:
        deviation = float(np.std(values, ddof=1))
        half = float(half_width(deviation, count))
        figures |= {"standard_deviation": deviation, "interval": [mean - half, mean + half]}
    return figures


def mean_curve(curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return places (n,), mean (n,) and half its 95 % interval (n,) of curves, each of which is (places, values).

    Between its points a curve is taken to be straight; the mean is over the places that all curves have. The interval
    of a single curve is nan.
    """
    first, last = max(places[0] for places, _ in curves), min(places[-1] for places, _ in curves)
    grid = np.linspace(first, max(first, last), POINTS)
    values = np.stack([np.interp(grid, places, value) for places, value in curves])
    if len(curves) == 1:
        return grid, values[0], np.full(POINTS, np.nan)
    return grid, values.mean(axis=0), half_width(values.std(axis=0, ddof=1), len(curves))


def over(curves: list[tuple[int, Curve]], axis: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the curves of `Group.curves` as pairs of places and returns; `axis` is "steps" or "minutes"."""
    return [(getattr(curve, axis), curve.returns) for _, curve in curves]


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure of so many inches.

    Raises:
        TumbleUserError: matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise TumbleUserError("learning curves need matplotlib: pip install matplotlib") from None
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a figure as a PNG, whole or not at all."""
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=140)


def draw(panels: Sequence[tuple[str, Sequence[Group]]], path: Path) -> None:
    """Draw groups as a PNG: a row for each title, over steps and over minutes; seeds thin, means with their intervals.

    Raises:
        TumbleUserError: matplotlib is missing.
    """
    figure = new_figure(11.0, 3.8 * len(panels))
    from matplotlib.ticker import EngFormatter

    axes: Any = figure.subplots(len(panels), 2, squeeze=False, sharey="row")
    for (title, groups), (left, right) in zip(panels, axes, strict=True):
        kinds = {group.kind for group in groups}
        for number, group in enumerate(groups):
            curves, label = group.curves, textwrap.fill(group.name, 44)
            label += f" ({group.kind})" if len(kinds) > 1 else ""
            for place, axis in ((left, "steps"), (right, "minutes")):
                _draw_group(place, over(curves, axis), f"C{number % 10}", label)
        clock = "minutes of one core" if all(r.config.device == "cpu" for g in groups for r in g.runs) else "minutes"
        left.set(
            title=title, xlabel="environment steps", ylabel=f"return ({' and '.join(sorted(kinds))})", xlim=(0, None)
        )
        left.xaxis.set_major_formatter(EngFormatter(sep=""))
        right.set(title=title, xlabel=clock, xlim=(0, None))
        if any(group.curves for group in groups):
            left.legend(fontsize="small", frameon=False)
    save_figure(figure, path)


def _draw_group(axes: "Axes", curves: list[tuple[np.ndarray, np.ndarray]], color: str, label: str) -> None:
    for places, returns in curves:
        single = "." if len(returns) == 1 else ""
        axes.plot(places, returns, color=color, linewidth=0.8, alpha=0.4 if len(curves) > 1 else 1.0, marker=single)
    if curves:
        grid, mean, half = mean_curve(curves)
        axes.fill_between(grid, mean - half, mean + half, color=color, alpha=0.18, linewidth=0)
        count = f", {len(curves)} seeds" if len(curves) > 1 else ""
        axes.plot(grid, mean, color=color, linewidth=2.2, label=label + count)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def points_csv(task: str, group: Group) -> list[list[Any]]:
    """Return the points of a group's curves as rows: task, group, seed, kind, step, minutes, return."""
    head, kind = [task, group.name], group.kind
    return [
        [*head, seed, kind, int(step), round(minutes, 4), value]
        for seed, curve in group.curves
        for step, minutes, value in zip(curve.steps, curve.minutes, curve.returns, strict=True)
    ]


def means_csv(task: str, group: Group) -> list[list[Any]]:
    """Return a group's mean curves as rows: task, group, kind, seeds, axis, place, mean, low, high."""
    curves, rows = group.curves, []
    for axis in ("steps", "minutes") if curves else ():
        for place, mean, half in zip(*mean_curve(over(curves, axis)), strict=True):
            bounds = ["", ""] if np.isnan(half) else [mean - half, mean + half]
            rows.append([task, group.name, group.kind, len(curves), axis, place, mean, *bounds])
    return rows


def write_csv(path: Path, heading: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write rows under a heading."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heading, *rows])
    write_text_atomically(path, text.getvalue())


def summarize(batch: SeedBatch) -> dict[str, Any]:
    """Return the scores of each seed, and mean, standard deviation and 95 % interval over the seeds."""
    config = batch.config
    return {"task": config.task, "algo": config.algo} | Group(config.algo.upper(), batch.runs).summary()


def write_summary(batch: SeedBatch) -> list[Path]:
    """Write `seeds.json` and `curve.png` into the batch's folder; returns their paths.

    Raises:
        TumbleUserError: matplotlib is missing; the scores are written then.
    """
    paths = [batch.folder / SCORES, batch.folder / CURVE]
    write_text_atomically(paths[0], json.dumps(summarize(batch), indent=2) + "\n")
    draw([(short_name(batch.config.task), [Group(batch.config.algo.upper(), batch.runs)])], paths[1])
    return paths
