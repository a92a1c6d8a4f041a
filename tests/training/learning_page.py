"""The page docs/reference/learning.md, from the scores beside it: `python -m tests.training.learning_page`.

The scores are what `tumble report` writes as `scores.json`, with its `curves.png` beside them.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference" / "learning"
PAGE = FOLDER.with_suffix(".md")
FILES = (
    *("half_cheetah", "compiled_learner", "v5", "pusher_and_swimmer", "suite", "walking", "arm", "hand_and_flight"),
    "matter",
)
"""Names of the files with scores and curves, without their endings."""
START = """# Learning

Written by `python -m tests.training.learning_page` from the scores and curves of `tumble report`; do not edit.

How the packaged configurations (`tumble train TASK`) learn. Each policy is played for 100 episodes with its most likely
actions, in Tumble and, unchanged, in MuJoCo. A return is the mean of these episodes ± its standard error; of several
seeds the worst and the best are given. Minutes are of one core, of the slowest seed. Rows with the curves
`half_cheetah`, `compiled_learner` and `matter` were learned by machine code, as packaged; the other rows of PPO were
made before that, by `ppo.learner = "lean"` and with the settings of their day. Success is the share of episodes that end
with `info["success"]`, in Tumble and in MuJoCo, of the worst seed; some tasks have no such entry. MuJoCo has no matter,
so that `Pour`, `Scoop` and `Knead` are in Tumble only.

| task | algorithm | seeds | steps | minutes | return in Tumble | return in MuJoCo | success | curves, scores |
|---|---|---|---|---|---|---|---|---|
"""
END = """
A return of the control suite counts the steps of the task, some of which are two or four of the suite's
([how they compare](../environments.md#the-control-suite)). On another processor, or with other versions of torch, the
rounding differs, and with it the score of a seed.
"""


def score(rows: Sequence[dict[str, Any]], simulator: str) -> str:
    """Return the worst and the best mean of some seeds; nothing if they were not played there."""
    ordered = sorted((row[simulator] for row in rows if simulator in row), key=lambda score: score["mean"])
    if not ordered:
        return ""
    digits = 0 if abs(ordered[-1]["mean"]) >= 100 else 1
    texts = [f"{score['mean']:.{digits}f} ± {score['standard_error']:.{digits}f}" for score in ordered]
    return " to ".join(dict.fromkeys((texts[0], texts[-1])))


def line(rows: Sequence[dict[str, Any]], file: str) -> str:
    """Return the row of one task and algorithm."""
    first = rows[0]
    minutes = max(row.get("cpu_seconds", row["seconds"]) for row in rows) / 60
    simulators = [simulator for simulator in ("tumble", "mujoco") if simulator in first]
    rates = [[row[simulator].get("success_rate") for row in rows] for simulator in simulators]
    success = "" if None in rates[0] else ", ".join(f"{100 * min(rate):.0f} %" for rate in rates)
    seeds = ", ".join(str(row["seed"]) for row in rows)
    cells = [f"`{first['task'].split('/')[1].removesuffix('-v0')}`", first["algo"].upper(), seeds]
    cells += [f"{first['steps'] / 1e6:.1f} M", f"{minutes:.1f}", score(rows, "tumble"), score(rows, "mujoco"), success]
    cells += [f"[curves](learning/{file}.png), [scores](learning/{file}.json)"]
    return f"| {' | '.join(cells)} |\n"


def page() -> str:
    """Return the text of the page."""
    text = START
    for file in FILES:
        groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in json.loads((FOLDER / f"{file}.json").read_text("utf-8")):
            groups.setdefault((row["task"], row["algo"]), []).append(row)
        text += "".join(line(rows, file) for rows in groups.values())
    return text + END


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
