"""Several runs side by side: scores as JSON and a table, learning curves as a picture."""

import json
import math
from itertools import groupby
from pathlib import Path
from typing import Any

from ..physics.process.disk import read_regular, replacing
from .callbacks import read_curve
from .checkpoint import write_text_atomically
from .errors import TumbleUserError
from .evaluate import SIMULATORS
from .runs import Run
from .tasks import short_name, task_id

HEADINGS = ("task", "algorithm", "seed", "steps", "minutes", "in Tumble", "in MuJoCo", "apart", "success", "told")
FIGURES = ("episodes", "mean", "standard_error", "mean_length", "step")
MORE_FIGURES = ("success_rate", "infos")  # evaluations of before do not have them


def describe(run: Run) -> dict[str, Any]:
    """Return what a run's folder says of it: settings, duration, and the scores of its evaluations, where made."""
    config, curve = run.config, read_curve(run.folder / "progress.jsonl")
    row: dict[str, Any] = {"task": task_id(config.task), "algo": config.algo, "seed": config.seed}
    last = curve[-1] if curve else {"step": 0, "seconds": 0.0}
    row |= {"steps": last["step"], "seconds": last["seconds"], "cpu_seconds": last.get("cpu_seconds", last["seconds"])}
    for simulator in SIMULATORS:
        path = run.folder / f"evaluation-{simulator}.json"
        if path.exists():
            row[simulator] = _read_score(path)
            row["steps"] = max(row["steps"], row[simulator]["step"])  # the curve may end before the run does
    return row


def _read_score(path: Path) -> dict[str, Any]:
    """Read what `evaluate` wrote.

    Raises:
        TumbleUserError: The file is damaged.
    """
    try:
        score = json.loads(read_regular(path))
        return {key: score[key] for key in FIGURES} | {key: score.get(key) for key in MORE_FIGURES}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise TumbleUserError(f"{path}: this is no evaluation; write it anew with tumble evaluate") from None


def write_report(runs: list[Run], folder: Path) -> list[Path]:
    """Write `scores.json`, `README.md` (a table) and `curves.png` into a folder; returns their paths.

    Raises:
        TumbleUserError: No runs were given, or matplotlib is missing.
    """
    if not runs:
        raise TumbleUserError("a report needs at least one run folder")
    folder.mkdir(parents=True, exist_ok=True)
    runs = sorted(runs, key=lambda run: (run.config.task, run.config.algo, run.config.seed))
    rows = [describe(run) for run in runs]
    paths = [folder / name for name in ("scores.json", "README.md", "curves.png")]
    draw_curves(runs, paths[2])
    write_text_atomically(paths[0], json.dumps(rows, indent=2) + "\n")
    write_text_atomically(paths[1], page(rows))
    return paths


def page(rows: list[dict[str, Any]]) -> str:
    """Return the table as a Markdown page."""
    lines = [
        "# Learning",
        "",
        "Written by `tumble report`: means over episodes ± standard error; minutes of one core.",
        "",
    ]
    lines += ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    return "\n".join([*lines, "", "![learning curves](curves.png)", ""])


def draw_curves(runs: list[Run], path: Path) -> None:
    """Draw mean episode return against minutes of a core: a panel a task and algorithm, a line a seed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise TumbleUserError('curves need matplotlib: pip install -c constraints.txt -e ".[test]"') from None
    panels = [(key, list(group)) for key, group in groupby(runs, key=lambda run: (run.config.task, run.config.algo))]
    columns = min(len(panels), 3)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.2 * rows), layout="constrained")
    for number, ((task, algo), group) in enumerate(panels, start=1):
        axes = figure.add_subplot(rows, columns, number)
        for run in group:
            curve = [row for row in read_curve(run.folder / "progress.jsonl") if "rollout/ep_rew_mean" in row]
            minutes = [row.get("cpu_seconds", row["seconds"]) / 60 for row in curve]
            axes.plot(minutes, [row["rollout/ep_rew_mean"] for row in curve], label=f"seed {run.config.seed}")
        axes.set(title=f"{short_name(task)}, {algo.upper()}", xlabel="minutes", ylabel="episode return")
        axes.grid(alpha=0.3)
        axes.legend()
    with replacing(path) as unfinished:
        figure.savefig(unfinished, dpi=120)


def _cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of one run's row in the table."""
    scores = [row.get("tumble"), row.get("mujoco", row.get("mujoco-task"))]
    texts = [_score(score) for score in scores]
    apart = ""
    means = [score["mean"] for score in scores if score is not None]
    if len(means) == 2:
        a, b = means
        apart = f"{100 * abs(a - b) / max(abs(a), abs(b), 1e-12):.1f} %"
    minutes = f"{row['cpu_seconds'] / 60:.1f}"
    known = [score for score in scores if score is not None]
    success = " / ".join(f"{100 * s['success_rate']:.0f} %" for s in known if s["success_rate"] is not None)
    first = known[0]["infos"] or {} if known else {}
    told = ", ".join(f"{name} {_told(name, *value)}" for name, value in first.items() if _is_worth_a_word(name))
    return [row["task"], row["algo"], str(row["seed"]), f"{row['steps']:,}", minutes, *texts, apart, success, told]


def _is_worth_a_word(name: str) -> bool:
    """Return whether a number of `info` is shown: neither a reward's term nor what other columns hold."""
    return not name.startswith("reward_") and name not in ("success", "is_success")


def _told(name: str, mean: float, end: float) -> str:
    """Return the number as text: errors in the mean over all steps, others in the mean at the ends of episodes."""
    return f"{mean if name.endswith('_error') else end:.3g}"


def _score(score: dict[str, Any] | None) -> str:
    if score is None:
        return "not evaluated"
    error, digits = score["standard_error"], 0 if abs(score["mean"]) >= 10 else 2
    return f"{score['mean']:.{digits}f}" + ("" if error is None or math.isnan(error) else f" ± {error:.{digits}f}")
