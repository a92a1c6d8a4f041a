"""Several runs side by side: scores as JSON and tables, learning curves as a picture and as CSV."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...envs.registry import SUITE
from ...physics.machine.disk import read_regular
from ..checkpoint import write_text_atomically
from ..config import ALGORITHMS
from ..errors import TumbleUserError
from ..evaluate import SIMULATORS
from ..learning.loggers import CLOCKS, NO_ROW, read_curve
from ..results.curves import HEADLINES, SCORED, Group, draw, means_csv, points_csv, write_csv
from ..results.interquartile import interquartile
from ..runs import Run
from ..seeds import SeedBatch
from ..tasks import NAMESPACE, short_name, task_id
from .seeds_command import mean_and_half

HEADINGS = ("task", "algorithm", "seed", "steps", "minutes", "in Tumble", "in MuJoCo", "apart", "success", "info")
GROUP_HEADINGS = (
    "task",
    "setting",
    "seeds",
    "steps",
    "minutes",
    "last evaluation",
    "best policy, other episodes",
    "ended episodes",
    "interquartile mean",
)
OVER_HEADINGS = ("setting", "tasks", "runs", "interquartile mean of shares")
POINTS_HEAD = ("task", "setting", "seed", "curve", "step", "minutes", "return")
MEANS_HEAD = ("task", "setting", "curve", "seeds", "axis", "place", "mean", "low", "high")
NOT_LEARNING = ("seed", "threads", "checkpoint", "log")  # values that do not change learning
FIGURES = ("episodes", "mean", "standard_error", "mean_length", "step")
MORE_FIGURES = ("success_rate", "infos")  # evaluations of before do not have them


def describe(run: Run) -> dict[str, Any]:
    """Return the contents of a run's folder: settings, duration, and the scores of its evaluations, if any."""
    config, curve = run.config, read_curve(run.folder / "progress.jsonl")
    row: dict[str, Any] = {"task": task_id(config.task), "algo": config.algo, "seed": config.seed}
    last = curve[-1] if curve else NO_ROW
    row |= {"steps": last["step"]} | {name: last[name] for name in CLOCKS}
    for simulator in SIMULATORS:
        path = run.folder / f"evaluation-{simulator}.json"
        if path.exists():
            row[simulator] = _read_score(path)
            row["steps"] = max(row["steps"], row[simulator]["step"])  # the curve may end before the run does
    return row


def _read_score(path: Path) -> dict[str, Any]:
    """Read a file of `evaluate`.

    Raises:
        TumbleUserError: The file is damaged.
    """
    try:
        score = json.loads(read_regular(path))
        return {key: score[key] for key in FIGURES} | {key: score.get(key) for key in MORE_FIGURES}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise TumbleUserError(f"{path}: this is no evaluation; write it again with tumble evaluate") from None


def find_runs(folders: Sequence[Path]) -> list[Run]:
    """Open run folders, and run folders inside of folders of several seeds; a run that is named twice counts once.

    Raises:
        RunError: A folder is neither.
    """
    runs: dict[Path, Run] = {}
    for folder in folders:
        batch = SeedBatch.find(folder)
        for run in [Run.find(folder)] if batch is None else batch.runs:
            runs.setdefault(run.folder.resolve(), run)
    return list(runs.values())


def groups_of(runs: Sequence[Run]) -> list[Group]:
    """Group runs of one task by differences of their configurations besides the seed; the highest mean comes first."""
    by_settings: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.config.seed):
        by_settings.setdefault(json.dumps(_settings(run), sort_keys=True), []).append(run)
    tables = [(json.loads(key), members) for key, members in by_settings.items()]
    groups = []
    for table, members in tables:
        rivals = [other for other, _ in tables if other["algo"] == table["algo"]]
        names = sorted({name for other in rivals for name in other})
        differ = [name for name in names if any(other.get(name) != table.get(name) for other in rivals)]
        values = [f"{name.removeprefix(table['algo'] + '.')}={_value(table.get(name))}" for name in differ]
        groups.append(Group(", ".join([table["algo"].upper(), *values]), members))

    def rank(group: Group) -> float:
        headline = group.summary()["headline"]
        return math.inf if headline is None else -headline["mean"]

    return sorted(groups, key=rank)


def _settings(run: Run) -> dict[str, Any]:
    """Return the values that decide how a run learns, with dotted names."""
    table = asdict(run.config)
    for name in (*ALGORITHMS, *NOT_LEARNING):
        if name != run.config.algo:
            del table[name]
    flat: dict[str, Any] = {}
    for name, value in table.items():
        flat |= {f"{name}.{key}": inner for key, inner in value.items()} if isinstance(value, dict) else {name: value}
    return json.loads(json.dumps(flat))


def _value(value: Any) -> str:
    return f"{value:_}" if type(value) is int else "none" if value is None else str(value)


def over_tasks(members: Sequence[tuple[str, Group]]) -> list[dict[str, Any]]:
    """Return the interquartile mean of each setting over several tasks, as a share of the highest possible return.

    Only tasks of the control suite are in it: their rewards are between 0 and 1, so that their returns have a common
    scale, the number of steps of an episode. Other tasks have no scores of reference to normalise by.
    """
    shares: dict[str, dict[str, list[float]]] = {}
    for task, group in members:
        known = SUITE.get(task.removeprefix(NAMESPACE).removesuffix("-v0"))
        if known is None:
            continue
        limits = [run.config.env.get("max_episode_steps", known.max_episode_steps) for run in group.runs]
        scores = [row[HEADLINES[group.kind]] for row in group.summary()["seeds"]]
        scored = [score / limit for score, limit in zip(scores, limits, strict=True) if score is not None]
        if scored:
            shares.setdefault(group.name, {})[task_id(task)] = scored
    return [
        {"group": name, "tasks": list(tasks), "runs": sum(map(len, tasks.values()))} | interquartile([*tasks.values()])
        for name, tasks in shares.items()
        if len(tasks) > 1
    ]


def write_report(folders: Sequence[Path], folder: Path) -> list[Path]:
    """Compare runs: groups of seeds by differences of their configurations.

    Args:
        folders: Run folders, and folders of several seeds.
        folder: Where `scores.json`, `README.md` (tables), `curves.png`, `curves.csv` (every point) and `means.csv` (the
            mean curves with their intervals) are written.

    Returns:
        Their paths.

    Raises:
        RunError: A folder is no run.
        TumbleUserError: No runs were given, an evaluation is damaged, or matplotlib is missing.
    """
    runs = find_runs(folders)
    if not runs:
        raise TumbleUserError("a report needs at least one run folder")
    folder.mkdir(parents=True, exist_ok=True)
    tasks = sorted({run.config.task for run in runs})
    panels = [(task, groups_of([run for run in runs if run.config.task == task])) for task in tasks]
    members = [(task, group) for task, groups in panels for group in groups]
    rows = [describe(run) | {"group": group.name} for _, group in members for run in group.runs]
    summaries = [{"task": task_id(task)} | group.summary() for task, group in members]
    over = over_tasks(members)
    paths = [folder / name for name in ("scores.json", "README.md", "curves.png", "curves.csv", "means.csv")]
    draw([(short_name(task), groups) for task, groups in panels], paths[2])
    write_text_atomically(
        paths[0], json.dumps({"groups": summaries, "over_tasks": over, "runs": rows}, indent=2) + "\n"
    )
    write_text_atomically(paths[1], page(summaries, over, rows))
    write_csv(paths[3], POINTS_HEAD, [row for task, group in members for row in points_csv(task_id(task), group)])
    write_csv(paths[4], MEANS_HEAD, [row for task, group in members for row in means_csv(task_id(task), group)])
    return paths


def page(groups: list[dict[str, Any]], over: list[dict[str, Any]], rows: list[dict[str, Any]]) -> str:
    """Return the tables as a Markdown page: groups of seeds, settings over several tasks, then runs."""
    lines = ["# Learning", "", "Written by `tumble report`.", ""]
    lines += ["Means over seeds ± half the 95 % interval of the mean (Student's t). The interquartile mean is that of"]
    lines += ["the middle half of evaluations at the end, or else of ended episodes, with a bootstrapped interval.", ""]
    lines += [
        *_table(GROUP_HEADINGS, [_group_cells(group) for group in groups]),
        "",
        "![learning curves](curves.png)",
        "",
    ]
    if over:
        lines += ["Settings over tasks of the control suite, whose returns are shares of the number of steps.", ""]
        cells = [[row["group"], ", ".join(row["tasks"]), str(row["runs"]), _interquartile(row, 3)] for row in over]
        lines += [*_table(OVER_HEADINGS, cells), ""]
    lines += ["Runs: means over episodes ± standard error; minutes of one core.", ""]
    return "\n".join([*lines, *_table(HEADINGS, [_cells(row) for row in rows]), ""])


def _table(headings: Sequence[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(headings) + " |", "|---" * len(headings) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def _group_cells(group: dict[str, Any]) -> list[str]:
    """Return the cells of one group's row in the table."""
    seeds = group["seeds"]
    steps, minutes = (sum(row[name] for row in seeds) / len(seeds) for name in ("steps", "cpu_seconds"))
    figures = [mean_and_half(group.get(name)) for name in SCORED]
    headline = group["headline"]
    figures.append("" if headline is None else _interquartile(headline["interquartile"], 1))
    return [group["task"], group["group"], str(len(seeds)), f"{steps:,.0f}", f"{minutes / 60:.1f}", *figures]


def _interquartile(figures: dict[str, Any], digits: int) -> str:
    """Return a result of `interquartile` as text."""
    bounds = "" if figures["interval"] is None else " [{:.{d}f}, {:.{d}f}]".format(*figures["interval"], d=digits)
    return f"{figures['mean']:.{digits}f}{bounds}"


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
    infos = ", ".join(f"{name} {_info_text(name, *value)}" for name, value in first.items() if _is_worth_a_word(name))
    return [row["task"], row["algo"], str(row["seed"]), f"{row['steps']:,}", minutes, *texts, apart, success, infos]


def _is_worth_a_word(name: str) -> bool:
    """Return whether a number of `info` is shown: neither a reward's term nor a number that another column holds."""
    return not name.startswith("reward_") and name not in ("success", "is_success")


def _info_text(name: str, mean: float, end: float) -> str:
    """Return the number as text: errors in the mean over all steps, others in the mean at the ends of episodes."""
    return f"{mean if name.endswith('_error') else end:.3g}"


def _score(score: dict[str, Any] | None) -> str:
    if score is None:
        return "not evaluated"
    error, digits = score["standard_error"], 0 if abs(score["mean"]) >= 10 else 2
    return f"{score['mean']:.{digits}f}" + ("" if error is None or math.isnan(error) else f" ± {error:.{digits}f}")
