"""Optuna's study of a sweep: where it is stored, whose trials are run again, and when the sweep is complete.

A worker that runs a trial says each few seconds that it is alive. If it has been silent for too long, the trial fails
and is queued again with the same values; it keeps its number here, and so its folder, from whose checkpoints it goes
on. A result that a silent worker brings later is refused, so that no trial counts twice.
"""

import importlib.util
import re
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from ...physics.machine.libraries import pip_install
from ..errors import TumbleUserError
from ..learning.networks import LibraryError
from .sweep_file import SweepFile

DATABASE = "study.db"
TRIES = 5  # to open a database that another worker is making
PATIENCE = 60  # s, for a SQLite file that another worker writes
FAILURE, BEGUN = "failure", "begun"


class StorageError(TumbleUserError, OSError):
    """A database that cannot be reached; the message says why."""


def require_optuna() -> None:
    """Refuse sweeps if Optuna is not installed.

    Raises:
        LibraryError: It is not installed.
    """
    if importlib.util.find_spec("optuna") is None:
        raise LibraryError(f"sweeps need Optuna: {pip_install('sweep')}")


def without_password(url: str) -> str:
    """Return a URL for messages."""
    return re.sub(r"://([^:/@]*):[^@/]*@", r"://\1:***@", url)


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Explain the errors of a database, without its password.

    Raises:
        StorageError: It cannot be reached.
    """
    import optuna
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, ImportError, optuna.exceptions.StorageInternalError) as error:
        cause = error.__cause__ or error
        reason = str(getattr(cause, "orig", None) or cause).splitlines()[0]
        raise StorageError(f"the storage {without_password(url)} cannot be used: {reason}") from None


def describe(values: dict[str, Any]) -> str:
    """Return the values of a trial as text."""
    texts = {name: f"{value:.4g}" if isinstance(value, float) else str(value) for name, value in values.items()}
    return ", ".join(f"{name}={text}" for name, text in texts.items())


class TrialLost(Exception):
    """Raised for a trial that others have declared dead; its result does not count any more."""


class Study:
    """The trials of a sweep, shared by all its workers."""

    def __init__(self, file: SweepFile, folder: Path) -> None:
        """Open the study in its storage, or create it.

        Raises:
            StorageError: The storage cannot be reached.
            TumbleUserError: It has another sweep of that name.
        """
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
        warnings.filterwarnings("ignore", message="Heartbeat of storage")  # `beat` gives the signs of life
        folder.mkdir(parents=True, exist_ok=True)
        self.file, self.folder = file, folder
        self.url = file.settings.storage or f"sqlite:///{folder.resolve() / DATABASE}"
        self.requeue = optuna.storages.RetryHeartbeatStaleTrialCallback()
        self.state = optuna.trial.TrialState
        with reaching(self.url):
            for left in reversed(range(TRIES)):
                try:
                    self._open()
                    break
                except Exception:
                    if not left:
                        raise
                    time.sleep(0.3)
            kept, wanted = self.optuna.user_attrs.get("sweep", {}), file.identity()
            differ = [name for name in wanted | kept if kept and kept.get(name) != wanted.get(name)]
            if differ:
                place = without_password(file.settings.storage) or folder
                raise TumbleUserError(
                    f"{place} has another sweep called {file.name}, with another {', '.join(differ)}: choose "
                    "another --out, and another name of the file if the storage is shared"
                )
            self.optuna.set_user_attr("sweep", wanted)

    def _open(self) -> None:
        import optuna

        silence = self.file.settings.silence
        self.storage = optuna.storages.RDBStorage(
            self.url,
            engine_kwargs={"connect_args": {"timeout": PATIENCE}} if self.url.startswith("sqlite:") else {},
            heartbeat_interval=max(1, silence // 6),
            grace_period=silence,
            heartbeat_stale_trial_callback=self.requeue,
        )
        prune = optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=2)
        self.optuna = optuna.create_study(
            storage=self.storage,
            study_name=self.file.name,
            direction="maximize",
            sampler=optuna.samplers.TPESampler(constant_liar=True),
            pruner=prune if self.file.settings.prune else optuna.pruners.NopPruner(),
            load_if_exists=True,
        )

    @property
    def ended(self) -> list[Any]:
        """Trials that count and have ended: complete, pruned, or with a run that failed."""
        states = (self.state.COMPLETE, self.state.PRUNED)
        return [t for t in self.optuna.trials if t.state in states or FAILURE in t.user_attrs]

    def _counted(self) -> list[Any]:
        """Return the trials that the sweep counts: no trial that was queued again or given up."""
        return [t for t in self.optuna.trials if t.state != self.state.FAIL or FAILURE in t.user_attrs]

    def finished(self) -> list[Any]:
        """Return the complete trials, the best one first."""
        trials = [t for t in self.optuna.trials if t.state == self.state.COMPLETE]
        return sorted(trials, key=lambda trial: -trial.value)

    def next(self) -> Any:
        """Return the next trial to run, a silent worker's or a new one; None if there is none at present."""
        import optuna

        optuna.storages.fail_stale_trials(self.optuna)
        counted = self._counted()
        self._drop_unbegun(counted)
        if len(counted) >= self.file.settings.trials and not any(t.state == self.state.WAITING for t in counted):
            return None
        trial = self.optuna.ask(self.file.distributions())
        earlier = sum(other.number < trial.number for other in self._counted())
        if earlier >= self.file.settings.trials:  # another worker was faster
            self.optuna.tell(trial, state=self.state.FAIL)
            return None
        self.beat(trial)
        trial.set_user_attr(BEGUN, trial.number)
        return trial

    def _drop_unbegun(self, counted: list[Any]) -> None:
        """Fail trials whose worker was killed before its first sign of life; new ones replace them."""
        for trial in counted:
            if trial.state == self.state.RUNNING and trial.user_attrs.get(BEGUN) != trial.number:
                age = (datetime.now() - trial.datetime_start).total_seconds()
                if age > self.file.settings.silence:
                    self.optuna.tell(trial.number, state=self.state.FAIL, skip_if_finished=True)

    def beat(self, trial: Any) -> None:
        """Say that the worker of a trial is alive."""
        self.storage.record_heartbeat(trial._trial_id)

    def number(self, trial: Any) -> int:
        """Return the number of a trial; one that is run again keeps its first."""
        kept = self.optuna.trials[trial.number]
        return kept.number if (first := self.requeue.retried_trial_number(kept)) is None else first

    def report(self, trial: Any, value: float, place: int) -> None:
        """Report a point of the learning curve; raises `TrialLost`."""
        with self._ours():
            trial.report(value, place)

    def end(self, trial: Any, score: float | None = None, failure: str | None = None) -> None:
        """End a trial with its score, with the reason of its failure, or as pruned; raises `TrialLost`."""
        with self._ours():
            if failure is not None:
                trial.set_user_attr(FAILURE, failure)
            state = self.state.COMPLETE if score is not None else self.state.FAIL if failure else self.state.PRUNED
            self.optuna.tell(trial, score, state)

    def release(self, trial: Any) -> None:
        """Queue a trial again, to be taken at once by any worker; raises `TrialLost`."""
        with self._ours():
            frozen = self.optuna.tell(trial, state=self.state.FAIL)
        self.requeue(self.optuna, frozen)

    @contextmanager
    def _ours(self) -> Iterator[None]:
        import optuna

        try:
            yield
        except (optuna.exceptions.UpdateFinishedTrialError, ValueError):  # "Cannot tell a FAIL trial."
            raise TrialLost from None
