"""The command `tumble train --seeds`: several runs side by side, then a table and a curve."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import TumbleUserError

if TYPE_CHECKING:
    from ..config import RunConfig
    from ..seeds import SeedBatch

Seeds = Annotated[
    str | None, typer.Option(metavar="LIST", help="Several seeds, such as 1-3 or 1,2,5: a run each, and one curve.")
]
Jobs = Annotated[int | None, typer.Option(min=1, help="With several seeds: runs at a time; default: as cores allow.")]


EVALUATIONS = 10
"""Evaluations of a run of several, unless its configuration says how many."""


def check_seeds(seed: int | None, seeds: str | None, jobs: int | None) -> None:
    """Refuse options that contradict each other.

    Raises:
        TumbleUserError: One seed and several are given, or --jobs without several.
    """
    if seed is not None and seeds is not None:
        raise TumbleUserError("give --seed or --seeds, one of the two")
    if jobs is not None and seeds is None:
        raise TumbleUserError("--jobs is for several seeds: give --seeds, such as --seeds 1-3")


def find_batch(folder: Path, jobs: int | None) -> "SeedBatch | None":
    """Return the runs of several seeds that are kept in a folder; None if it is something else.

    Raises:
        TumbleUserError: --jobs is given, and it is something else.
    """
    from ..seeds import SeedBatch

    batch = SeedBatch.find(folder)
    if batch is None and jobs is not None:
        raise TumbleUserError(f"--jobs is for several seeds, and {folder} is not a folder of them; leave it out")
    return batch


def evaluated(config: "RunConfig") -> "RunConfig":
    """Return a configuration with evaluations, if it has none and episodes of its task end by a time limit.

    Figures of training are of episodes that have ended: they are too low while a policy gets better.
    """
    from ..tasks import load_task

    limit = config.env.get("max_episode_steps", load_task(config.task).max_episode_steps)
    if config.evaluation.every_steps or limit is None:
        return config
    return config.change({"evaluation.every_steps": max(1, config.total_steps // EVALUATIONS)})


def train_seeds(config: "RunConfig", seeds: str, jobs: int | None, out: Path | None) -> None:
    """Train a configuration with several seeds, in a new folder.

    Raises:
        TumbleUserError: The seeds cannot be read, or a run failed.
    """
    from ..learning.learner import check_device
    from ..learning.loggers import require_loggers
    from ..learning.networks import require_library
    from ..seeds import SeedBatch, parse_seeds
    from ..tasks import find_task

    seed_numbers = parse_seeds(seeds)
    check_device(config.device)
    require_library(config.algo)
    require_loggers(config)
    config = config.replace(task=find_task(config.task), seed=seed_numbers[0])
    carry_out(SeedBatch.create(config, seed_numbers, out), jobs)


def resume_seeds(batch: "SeedBatch", steps: int | None, threads: int | None, jobs: int | None) -> None:
    """Go on with the unfinished seeds of a batch, and begin the ones that have not begun.

    Raises:
        TumbleUserError: The device is not there, or a run failed.
    """
    from ..learning.learner import check_device

    check_device(batch.config.device)
    batch.keep_config(batch.config.replace(total_steps=steps, threads=threads))
    carry_out(batch, jobs, () if threads is None else ("--threads", str(threads)))


def carry_out(batch: "SeedBatch", jobs: int | None, arguments: tuple[str, ...] = ()) -> None:
    """Train, print a table, write scores and curve, and say which command comes next."""
    from ..results.curves import summarize, write_summary
    from ..seeds import train_batch
    from ..tasks import source_name

    print(f"folder of {len(batch.seeds)} runs: {batch.folder}", flush=True)
    failures = train_batch(batch, jobs, arguments)
    total, source = batch.config.total_steps, source_name(batch.config.task)
    go_on = f"tumble train --resume {batch.folder}{f' {source}' if source else ''}"
    unfinished = [seed for seed in batch.seeds if not batch.is_finished(seed, total)]
    print_summary(summarize(batch))
    try:
        print("\n".join(str(path) for path in write_summary(batch)))
    except TumbleUserError as error:
        print(f"note: {error}", file=sys.stderr)
    if failures:
        raise TumbleUserError(
            f"{len(failures)} of {len(batch.seeds)} runs failed: {'; '.join(failures)}. Go on with {go_on}"
        )
    if unfinished:
        print(f"stopped and saved; seeds {', '.join(map(str, unfinished))} are not finished")
        print(f"  next: {go_on}")
        return
    first = batch.run(batch.seeds[0]).folder
    print(f"finished {len(batch.seeds)} seeds\n  next: tumble evaluate {first}{f' --task {source}' if source else ''}")


def print_summary(summary: dict[str, Any]) -> None:
    """Print a row for each seed, and their mean with its 95 % interval; of training only if there is no evaluation."""
    from rich.table import Table

    from .printing import number, print_table

    columns = {"last_evaluation": "last evaluation", "best_evaluation": "best policy, other episodes"}
    if summary["curve"] == "training":
        columns = {"training_return": "return of ended episodes (no evaluations: see --evaluate-every)"}
    table = Table("seed", "steps", "minutes", "steps/s", *columns.values(), box=None)
    for row in summary["seeds"]:
        figures = [number(row[name]) for name in columns]
        rate = f"{row['steps'] / row['seconds']:,.0f}" if row["seconds"] else ""
        table.add_row(str(row["seed"]), f"{row['steps']:,}", f"{row['seconds'] / 60:.1f}", rate, *figures)
    table.add_row("mean ± 95 % interval", "", "", "", *(mean_and_half(summary.get(name)) for name in columns))
    print_table(table)


def mean_and_half(figures: dict[str, Any] | None) -> str:
    """Return a mean and half its 95 % interval as text, of figures as `curves.spread` returns them; empty for None."""
    from .printing import number

    if figures is None:
        return ""
    interval = figures["interval"]
    return number(figures["mean"]) + ("" if interval is None else f" ± {number(interval[1] - figures['mean'])}")
