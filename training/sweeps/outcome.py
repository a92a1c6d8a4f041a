"""The outcome of a sweep: the best trials, the importances of settings, and the best configuration."""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ..checkpoint import write_text_atomically
from ..errors import TumbleUserError
from ..results.curves import new_figure, save_figure, write_csv
from .study import FAILURE, Study
from .sweep_file import name_of

SHOWN = 10  # trials in the table
LEAST = 4  # complete trials for importances
BEST, TRIALS, PICTURE = "best.toml", "trials.csv", "importances.png"


def importances(study: Study) -> dict[str, float]:
    """Return the importance of each setting, the highest first, by Optuna's default evaluator; their sum is 1.

    It says how much more often good trials have some values of a setting than all trials do (PED-ANOVA, Watanabe et
    al. 2023). Empty if fewer than `LEAST` trials are complete.
    """
    import optuna

    if len(study.finished()) < LEAST:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return optuna.importance.get_param_importances(study.optuna)


def write_outcome(study: Study) -> list[Path]:
    """Write the best configuration, all trials, and the picture into the sweep's folder; returns their paths."""
    paths = [study.folder / name for name in (BEST, TRIALS, PICTURE)]
    names = list(study.file.ranges)
    rows = []
    for trial in study.optuna.trials:
        state = "failed" if FAILURE in trial.user_attrs else trial.state.name.lower()
        if state != "fail":
            rows.append([study.number(trial), state, trial.value, *(trial.params.get(name) for name in names)])
    write_csv(paths[1], ["trial", "state", "score", *names], sorted(rows, key=lambda row: row[0]))
    finished = study.finished()
    if not finished:
        return paths[1:2]
    head = (
        f"# The best of {len(finished)} complete trials: trial {study.number(finished[0])}, {finished[0].value:.5g}\n"
    )
    write_text_atomically(paths[0], head + study.file.config(finished[0].params).to_toml())
    shares = importances(study)
    if not shares:
        return paths[:2]
    try:
        draw_importances(study, shares, paths[2])
    except TumbleUserError as error:
        print(f"note: {error}", file=sys.stderr)
        return paths[:2]
    return paths


def draw_importances(study: Study, shares: dict[str, float], path: Path) -> None:
    """Draw a bar for each setting, the scores in the order of trials, and the scores over each setting.

    Raises:
        TumbleUserError: matplotlib is missing.
    """
    finished = sorted(study.finished(), key=study.number)
    numbers, scores = [study.number(trial) for trial in finished], np.array([trial.value for trial in finished])
    columns = max(3, len(shares))
    figure = new_figure(3.6 * columns, 6.4)
    grid: Any = figure.add_gridspec(2, columns)
    bars, history = figure.add_subplot(grid[0, :-2]), figure.add_subplot(grid[0, -2:])
    bars.barh(list(shares)[::-1], list(shares.values())[::-1], color="C0")
    bars.set(title="importance", xlim=(0, 1))
    history.plot(numbers, scores, "o", color="C0", alpha=0.6, label="complete trial")
    history.plot(numbers, np.maximum.accumulate(scores), color="C1", drawstyle="steps-post", label="best so far")
    history.set(title=study.file.name, xlabel="trial", ylabel="score")
    history.legend(fontsize="small", frameon=False)
    for column, name in enumerate(shares):
        axes = figure.add_subplot(grid[1, column])
        places = study.file.ranges[name]
        values = [trial.params[name] for trial in finished]
        if places.values:
            names = [str(name_of(value)) for value in places.values]
            axes.set_xticks(range(len(names)), names)
            values = [names.index(str(value)) for value in values]
        axes.plot(values, scores, "o", color="C0", alpha=0.6)
        axes.set(xlabel=name, ylabel="score" if column == 0 else "")
        if places.log:
            axes.set_xscale("log")
    for axes in figure.axes:
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    save_figure(figure, path)
