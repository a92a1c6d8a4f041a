"""The results of several seeds of one configuration: scores with mean and spread, and one learning curve."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..physics.process.disk import replacing
from .best import EVALUATIONS
from .callbacks import read_curve
from .checkpoint import write_text_atomically
from .errors import TumbleUserError
from .runs import Run
from .seeds import SeedBatch
from .tasks import short_name

SCORES, CURVE = "seeds.json", "curve.png"
POINTS = 200  # of the mean curve
TRAINING, EVALUATION = "rollout/ep_rew_mean", "mean"  # columns of progress.jsonl and evaluations.jsonl


def score(seed: int, run: Run) -> dict[str, Any]:
    """Return steps, seconds, the mean return of the last 100 episodes of training, and the best evaluation, if any."""
    curve = read_curve(run.folder / "progress.jsonl")
    evaluations = [row[EVALUATION] for row in read_curve(run.folder / EVALUATIONS) if EVALUATION in row]
    returns = [row[TRAINING] for row in curve if TRAINING in row]
    last = curve[-1] if curve else {"step": 0, "seconds": 0.0}
    figures = {"seed": seed, "steps": last["step"], "seconds": last["seconds"]}
    return figures | {
        "training_return": returns[-1] if returns else None,
        "best_evaluation": max(evaluations) if evaluations else None,
    }


def summarize(batch: SeedBatch) -> dict[str, Any]:
    """Return the scores of each seed, and mean and standard deviation over the seeds."""
    rows = [score(seed, batch.run(seed)) for seed in batch.seeds]
    summary: dict[str, Any] = {"task": batch.config.task, "algo": batch.config.algo, "seeds": rows}
    for name in ("training_return", "best_evaluation"):
        values = [row[name] for row in rows if row[name] is not None]
        if values:
            spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
            summary[name] = {"mean": float(np.mean(values)), "standard_deviation": spread, "seeds": len(values)}
    return summary


def write_summary(batch: SeedBatch) -> list[Path]:
    """Write `seeds.json` and `curve.png` into the batch's folder; returns their paths.

    Raises:
        TumbleUserError: matplotlib is missing; the scores are written then.
    """
    paths = [batch.folder / SCORES, batch.folder / CURVE]
    write_text_atomically(paths[0], json.dumps(summarize(batch), indent=2) + "\n")
    draw(batch, paths[1])
    return paths


def mean_curve(curves: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return steps (n,), and mean and standard deviation (n,) of several curves, each of which is (steps, values).

    Between its points a curve is taken to be straight; the mean is over the steps that all curves have.
    """
    first, last = max(steps[0] for steps, _ in curves), min(steps[-1] for steps, _ in curves)
    grid = np.linspace(first, max(first, last), POINTS)
    values = np.stack([np.interp(grid, steps, value) for steps, value in curves])
    return grid, values.mean(axis=0), values.std(axis=0, ddof=min(1, len(curves) - 1))


def draw(batch: SeedBatch, path: Path) -> None:
    """Draw the return of training, and of evaluations if there were any: each seed, their mean, and a band around it.

    Raises:
        TumbleUserError: matplotlib is missing.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise TumbleUserError(
            "the learning curve needs matplotlib: pip install -c constraints.txt matplotlib; then "
            f"tumble train --resume {batch.folder}"
        ) from None
    files = [("progress.jsonl", TRAINING, "training"), (EVALUATIONS, EVALUATION, "evaluation")]
    panels = [(title, _curves(batch, name, column)) for name, column, title in files]
    panels = [panel for panel in panels if panel[1]] or panels[:1]
    figure = Figure(figsize=(5.2 * len(panels), 3.6), layout="constrained")
    for number, (title, curves) in enumerate(panels, start=1):
        axes = figure.add_subplot(1, len(panels), number)
        for seed, (steps, values) in curves.items():
            axes.plot(steps, values, linewidth=0.7, alpha=0.5, label=f"seed {seed}")
        if curves:
            grid, mean, spread = mean_curve(list(curves.values()))
            axes.fill_between(grid, mean - spread, mean + spread, color="black", alpha=0.15, linewidth=0)
            axes.plot(grid, mean, color="black", linewidth=2, label="mean ± standard deviation")
            axes.legend(fontsize="small")
        axes.set(title=f"{short_name(batch.config.task)}, {batch.config.algo}: {title}", xlabel="environment steps")
        axes.set_ylabel("return of an episode")
        axes.grid(alpha=0.3)
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=120)


def _curves(batch: SeedBatch, name: str, column: str) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Read steps and values of a column from a file of each run, by seed; runs without any are left out."""
    curves = {}
    for seed in batch.seeds:
        rows = [row for row in read_curve(batch.run(seed).folder / name) if column in row]
        if rows:
            curves[seed] = (np.array([row["step"] for row in rows]), np.array([row[column] for row in rows]))
    return curves
