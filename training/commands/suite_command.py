"""The command `tumble suite`: train and evaluate all tasks of a suite with one configuration, and write its table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...physics.machine.waiting import importing
from ..errors import TumbleUserError

if TYPE_CHECKING:
    from ..config import RunConfig
    from ..results.suite_table import TaskScores
    from ..seeds import SeedBatch

LIBRARIES = "PyTorch and Stable-Baselines3"


def suite(
    name: Annotated[str, typer.Argument(metavar="SUITE", help="dm_control, myosuite, ...; `tumble list` has the ids.")],
    seeds: Annotated[str, typer.Option(metavar="LIST", help="Seeds of each task, such as 1-3 or 1,2,5.")] = "1-3",
    tasks: Annotated[
        str | None, typer.Option(metavar="LIST", help="Only these tasks, such as dog-run,walker-walk.")
    ] = None,
    algo: Annotated[str, typer.Option(help="ppo, recurrent_ppo, sac or td3.")] = "ppo",
    steps: Annotated[int | None, typer.Option(min=1, help="Environment steps of each run.")] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes that each final policy is played for.")] = 20,
    jobs: Annotated[int | None, typer.Option(min=1, help="Runs at a time; default: as cores allow.")] = None,
    out: Annotated[Path | None, typer.Option(help="The folder; default: runs/SUITE.")] = None,
) -> None:
    """Train every task of a suite with one configuration; write the paper's table. The same command goes on."""
    with importing(LIBRARIES):
        from ..learning.networks import require_library
        from ..provenance import command_line
        from ..results.curves import new_figure
        from ..results.suite_table import write_suite
        from ..seeds import parse_seeds, train_batches
    numbers, folder = parse_seeds(seeds), out or Path("runs") / name
    ids, config = tasks_of_suite(name, tasks), family_config(name, algo, steps)
    require_library(config.algo)
    new_figure(1.0, 1.0)  # raises now, and not after hours, if matplotlib is missing
    batches = [batch_of(config.replace(task=one), numbers, folder / one.partition("/")[2]) for one in ids]

    def write() -> list[Path]:
        scores = [found for batch in batches if (found := scores_of(batch, numbers, episodes)) is not None]
        return write_suite(name, scores, folder, command_line()) if scores else []

    failures = train_batches(batches, jobs, ended=write)
    if paths := write():
        print("\n".join(map(str, paths)))
    if failures:
        raise TumbleUserError(f"{len(failures)} runs failed: {'; '.join(failures[:3])}. The same command goes on")


def tasks_of_suite(name: str, chosen: str | None) -> list[str]:
    """Return the ids of a suite's tasks with a time limit (dm_control's lqr has none), or those of the chosen names.

    Raises:
        TumbleUserError: There is no such suite or task; the message has the nearest. Or no task is chosen, one is
            chosen twice, or one has no time limit.
    """
    from ...envs.nearest import nearest
    from ...envs.registry import suite_rows

    rows = {identity: row for identity, row in suite_rows().items() if identity.partition("/")[0] == name}
    known = [identity for identity, row in rows.items() if row.max_episode_steps]
    if not rows:
        suites = dict.fromkeys(identity.partition("/")[0] for identity in suite_rows())
        raise TumbleUserError(f"no suite {name!r}; there {nearest(name, list(suites))}")
    if chosen is None:
        return known
    short = {identity.partition("/")[2].rpartition("-v")[0]: identity for identity in rows}
    by_name = short | {identity: identity for identity in rows}
    found: list[str] = []
    for word in filter(None, map(str.strip, chosen.split(","))):
        if word not in by_name:
            raise TumbleUserError(f"{name} has no task {word!r}; there {nearest(word, list(short))}")
        identity = by_name[word]
        if identity not in known:
            raise TumbleUserError(f"{identity} has no time limit, and no bounds of actions: it has no score")
        if identity in found:
            raise TumbleUserError(f"--tasks {chosen}: {word} is there twice")
        found.append(identity)
    if not found:
        raise TumbleUserError(f"--tasks {chosen!r} names no task; without --tasks all are trained")
    return found


def family_config(name: str, algo: str, steps: int | None) -> "RunConfig":
    """Return the packaged configuration of a suite, or the defaults of an algorithm."""
    from ...envs.registry import suite_rows
    from .arguments import choose_config

    first = next(identity for identity in suite_rows() if identity.startswith(f"{name}/"))
    return choose_config(first, None, algo).replace(total_steps=steps)


def batch_of(config: "RunConfig", seeds: list[int], folder: Path) -> "SeedBatch":
    """Return the runs of a task in a folder, with seeds that it lacks added.

    Raises:
        TumbleUserError: The folder has runs of another algorithm.
    """
    from ..seeds import FOLDER, SeedBatch

    batch = SeedBatch.find(folder)
    if batch is None:
        return SeedBatch.create(config, seeds, folder)
    if batch.config.algo != config.algo:
        raise TumbleUserError(f"{folder} has runs of {batch.config.algo}, not of {config.algo}: choose another --out")
    for seed in seeds:
        (folder / FOLDER.format(seed)).mkdir(exist_ok=True)
    batch.keep_config(batch.config.replace(total_steps=config.total_steps))
    return batch


def scores_of(batch: "SeedBatch", seeds: list[int], episodes: int) -> "TaskScores | None":
    """Play the final policies that have not been played so often, and return their scores; None if there are none."""
    from ..evaluate import evaluate, save_evaluation
    from ..provenance import read_record
    from ..results.suite_table import TaskScores
    from .report import describe

    total, rows, commits = batch.config.total_steps, [], []
    for seed in seeds:
        run = batch.run(seed)
        if not batch.is_finished(seed, total):
            continue
        row = describe(run)
        if row.get("tumble", {}).get("episodes", 0) < episodes or row["tumble"]["step"] < total:
            save_evaluation(run, evaluate(run, episodes=episodes))
            row = describe(run)
        rows.append(row)
        commits.append(read_record(run).get("commit"))
    if not rows:
        return None
    successes = [row["tumble"]["success_rate"] for row in rows]
    return TaskScores(
        batch.config.task,
        [row["tumble"]["mean"] for row in rows],
        [] if None in successes else successes,
        max(row["tumble"]["step"] for row in rows),  # more than `total` if they were trained for longer before
        [row["cpu_seconds"] / 60 for row in rows],
        commits,
    )
