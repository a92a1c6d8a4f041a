"""The lines that the commands of `tumble` print when they are done: tables, and which command comes next."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from ..evaluate import Evaluation
    from ..train import Outcome


def print_outcome(outcome: "Outcome") -> None:
    """Say where a run stands and which command comes next, in the first of its processes."""
    if not outcome.leads:
        return
    from ..best import read_best
    from ..processes import launched
    from ..tasks import source_name

    source, folder = source_name(outcome.run.config.task), outcome.run.folder
    state = "finished" if outcome.finished else "stopped and saved"
    follow = f"evaluate {folder}" if outcome.finished else f"train --resume {folder}"
    if source is not None:
        follow += f" --task {source}" if outcome.finished else f" {source}"
    if not outcome.finished and (count := launched()) and os.environ.get("LOCAL_WORLD_SIZE") == str(count):
        follow += f" --processes {count}"
    print(f"{state} at step {outcome.step:,}")
    if outcome.spent:
        shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in outcome.spent.items())
        print(f"  {outcome.rate:,.0f} steps/s; time: {shares}")
    best = read_best(outcome.run)
    if best:
        error = "" if best.get("standard_error") is None else f" ± {number(best['standard_error'])}"
        print(f"  best policy, of step {best['step']:,}: return {number(best['mean'])}{error} of other episodes")
    print(f"  next: tumble {follow}")


def number(value: float | None) -> str:
    """Return a return as text; empty if it is None."""
    return "" if value is None else f"{value:.{1 if abs(value) >= 10 else 2}f}"


def print_table(table: "Table") -> None:
    """Print a table at its full width: names are not cut if the window is narrow or the output is a file."""
    from rich.console import Console

    Console(width=400).print(table)


def print_scores(scores: "list[Evaluation]") -> None:
    """Print a table of evaluations."""
    from rich.table import Table

    title = f"{scores[0].task} after {scores[0].step:,} steps"
    has_success = any(score.successes for score in scores)
    headings = ("in", "episodes", "mean return", "standard error", "mean length", *(["success"] if has_success else []))
    table = Table(*headings, box=None, title=title)
    for score in scores:
        row = score.summary()
        digits = 1 if abs(score.mean) >= 10 else 2
        error = "" if row["standard_error"] is None else f"{row['standard_error']:.{digits}f}"
        figures = [str(row["episodes"]), f"{row['mean']:.{digits}f}", error, f"{row['mean_length']:.0f}"]
        if score.success_rate is not None:
            figures.append(f"{100 * score.success_rate:.0f} %")
        played = f"{score.simulator} (Gymnasium's {score.environment})" if score.environment else score.simulator
        table.add_row(played, *figures)
    print_table(table)
