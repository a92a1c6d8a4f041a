"""The table of a suite's scores, as papers print it: means over seeds beside published scores, and figures over tasks.

Scores are normalised to compare tasks: a return of the control suite is divided by 1000. Interquartile means with
stratified bootstrap intervals are those of R. Agarwal et al., Deep reinforcement learning at the edge of the
statistical precipice (NeurIPS 2021).
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..checkpoint import write_text_atomically
from ..config import CONFIG_FOLDER
from .interquartile import interquartile

PUBLISHED = CONFIG_FOLDER / "published.json"
FULL = {"dm_control": 1000.0}
"""The return that counts as 1, by suite."""
BY_SUCCESS = ("gymnasium_robotics", "metaworld", "myosuite")
"""The suites whose papers report shares of successful episodes; others report returns."""


class TaskScores(NamedTuple):
    """The scores of one task.

    Attributes:
        task: its id.
        returns: the mean return of each seed's evaluation.
        successes: the share of successful episodes of each seed; empty if the task reports none.
        steps: environment steps of training.
        minutes: of one core, of each seed.
        commits: of Tumble's sources, with which each seed was trained; None if they are no clone.
    """

    task: str
    returns: Sequence[float]
    successes: Sequence[float]
    steps: int
    minutes: Sequence[float]
    commits: Sequence[str | None] = ()

    @property
    def suite(self) -> str:
        """The name of the task's suite."""
        return self.task.partition("/")[0]

    def reported(self) -> list[float]:
        """Return what papers report of each seed: its share of success, or its return."""
        return list(self.successes if self.suite in BY_SUCCESS else self.returns)

    def shares(self) -> list[float]:
        """Return the normalised score of each seed; empty if the suite has no scale for returns."""
        if self.suite in FULL:
            return [score / FULL[self.suite] for score in self.returns]
        return list(self.successes) if self.suite in BY_SUCCESS else []


def published() -> dict[str, dict[str, list[float]]]:
    """Return published scores by task and algorithm: mean and number of seeds."""
    return json.loads(PUBLISHED.read_text("utf-8"))["scores"]


def write_suite(suite: str, scores: Sequence[TaskScores], folder: Path, command: str) -> list[Path]:
    """Write `README.md` (the table), `scores.json` and `scores.png` of a suite into a folder; return their paths.

    `command` is kept in `scores.json`.

    Raises:
        TumbleUserError: matplotlib is missing.
    """
    known, figures = published(), over_tasks(scores)
    paths = [folder / name for name in ("README.md", "scores.json", "scores.png")]
    folder.mkdir(parents=True, exist_ok=True)
    write_text_atomically(paths[0], page(suite, scores, known, figures))
    rows = [one._asdict() | {"published": known.get(one.task, {})} for one in scores]
    all_numbers = {"suite": suite, "command": command, "tasks": rows, "over_tasks": figures}
    write_text_atomically(paths[1], json.dumps(all_numbers, indent=1) + "\n")
    draw(scores, known, paths[2])
    return paths


def over_tasks(scores: Sequence[TaskScores]) -> dict[str, Any]:
    """Return mean, median and interquartile mean of normalised scores over tasks, each with its interval."""
    shares = [each for one in scores if (each := one.shares())]
    if not shares:
        return {}
    means = [float(np.mean(each)) for each in shares]
    return {"tasks": len(shares), "mean": float(np.mean(means)), "median": float(np.median(means))} | {
        "interquartile": interquartile(shares)
    }


def page(suite: str, scores: Sequence[TaskScores], known: dict[str, Any], figures: dict[str, Any]) -> str:
    """Return the tables as a Markdown page."""
    others = sorted({name for one in scores for name in known.get(one.task, {})})
    columns = ["task", "seeds", "steps", "minutes of a core", "return", "success", *(f"{name}, 1 M" for name in others)]
    rows = []
    for one in scores:
        theirs = known.get(one.task, {})
        cells = [one.task, str(len(one.returns)), f"{one.steps:,}", f"{np.mean(one.minutes):.1f}", _spread(one.returns)]
        cells.append(f"{100 * np.mean(one.successes):.0f} %" if one.successes else "")
        rows.append([*cells, *(f"{theirs[name][0]:g}" if name in theirs else "" for name in others)])
    lines = [f"# {suite}", "", "Written by `tumble suite`: means over seeds ± their standard deviation. Other columns"]
    lines += ["have published scores after 1 million environment steps (of MyoSuite: shares of success).", ""]
    lines += ["| " + " | ".join(cells) + " |" for cells in (columns, ["---"] * len(columns), *rows)]
    if figures:
        middle = figures["interquartile"]
        interval = "" if middle["interval"] is None else " ({:.3f} to {:.3f})".format(*middle["interval"])
        lines += ["", f"Over {figures['tasks']} tasks, normalised: mean {figures['mean']:.3f}, median"]
        lines += [f"{figures['median']:.3f}, interquartile mean {middle['mean']:.3f}{interval}."]
    return "\n".join([*lines, "", "![scores](scores.png)", ""])


def _spread(values: Sequence[float]) -> str:
    return f"{np.mean(values):.1f}" + (f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else "")


def draw(scores: Sequence[TaskScores], known: dict[str, Any], path: Path) -> None:
    """Draw a row for each task: each seed's return or share of success, and the published scores."""
    from .curves import new_figure, save_figure

    figure = new_figure(7.0, 1.2 + 0.22 * len(scores))
    axes = figure.subplots()
    others = sorted({name for one in scores for name in known.get(one.task, {})})
    for row, one in enumerate(scores):
        axes.plot(one.reported(), [row] * len(one.reported()), "o", color="tab:blue", label="" if row else "Tumble")
    for name, marker in zip(others, "1x+*", strict=False):
        points = [(known[one.task][name][0], row) for row, one in enumerate(scores) if name in known.get(one.task, {})]
        axes.plot(*zip(*points, strict=True), marker, color="gray", label=name)
    axes.set_yticks(range(len(scores)), [one.task.partition("/")[2].removesuffix("-v0") for one in scores], fontsize=7)
    axes.set_ylim(len(scores) - 0.5, -0.5)
    measure = "share of success" if scores[0].suite in BY_SUCCESS else "return"
    axes.set_xlabel(f"{measure}; the grey ones are published, after 1 million steps" if others else measure)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=5, frameon=False, fontsize=8)
    save_figure(figure, path)
