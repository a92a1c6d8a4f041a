"""The command `tumble sweep`: Optuna chooses the settings of many runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...physics.machine.waiting import importing
from ..errors import TumbleUserError

if TYPE_CHECKING:
    from ..sweeps.study import Study

LIBRARIES = "PyTorch and Optuna"


def sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The sweep; `examples/point_mass.toml` is one.")],
    jobs: Annotated[int | None, typer.Option(min=1, help="Trials at a time; default: as cores allow.")] = None,
    out: Annotated[Path | None, typer.Option(help="The sweep's folder; default: runs/FILE.")] = None,
) -> None:
    """Search for settings. Ctrl-C saves; the same command goes on, here or on more machines."""
    with importing(LIBRARIES):
        from ..learning.learner import check_device
        from ..learning.loggers import require_loggers
        from ..learning.networks import require_library
        from ..sweeps.study import Study, reaching, require_optuna
        from ..sweeps.sweep_file import SweepFile
        from ..sweeps.worker import Worker

        require_optuna()
        contents = SweepFile.load(file)
    check_device(contents.base.device)
    require_library(contents.base.algo)
    require_loggers(contents.base)
    folder = out or Path("runs") / contents.name
    study = Study(contents, folder)
    with reaching(study.url):
        worker = Worker(study, jobs)
        print(f"folder of {contents.settings.trials} trials: {folder}", flush=True)
        worker.run()
        print_outcome(study, f"tumble sweep {file}" + (f" --out {out}" if out else ""))
    if worker.failures:
        failed = f"{len(worker.failures)} trials failed" if len(worker.failures) > 1 else "a trial failed"
        raise TumbleUserError(f"{failed}: {'; '.join(worker.failures[:3])}")


def print_outcome(study: "Study", command: str) -> None:
    """Print the best trials and the importances, write the files of the outcome, and say which command comes next."""
    from rich.table import Table

    from ..sweeps.outcome import BEST, SHOWN, importances, write_outcome
    from .printing import number, print_table

    finished, ended, wanted = study.finished(), len(study.ended), study.file.settings.trials
    if finished:
        names = list(study.file.ranges)
        table = Table("trial", "score", *names, box=None)
        for trial in finished[:SHOWN]:
            values = (trial.params[name] for name in names)
            texts = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in values]
            table.add_row(str(study.number(trial)), number(trial.value), *texts)
        print_table(table)
    shares = importances(study)
    if shares:
        print("importance: " + ", ".join(f"{name} {100 * share:.0f} %" for name, share in shares.items()))
    print("\n".join(str(path) for path in write_outcome(study)))
    pruned = sum(trial.state == study.state.PRUNED for trial in study.ended)
    counts = f"{len(finished)} complete, {pruned} pruned, {ended - len(finished) - pruned} failed"
    print(f"{'finished' if ended >= wanted else 'stopped after'} {ended} of {wanted} trials: {counts}")
    best = study.folder / BEST
    print(f"  next: {f'tumble train --config {best}' if ended >= wanted and finished else command}")
