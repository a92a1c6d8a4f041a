"""A worker of a sweep: takes trials from the study, trains their runs in processes, and prunes by their evaluations.

runs/point_mass/
    study.db         Optuna's study, unless the storage is elsewhere
    trial-0007/      a folder of several seeds, see `seeds.py`: seeds.toml, seed-0/, ..., and output.txt
    best.toml, trials.csv, importances.png      see `results.py`
"""

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..best import EVALUATIONS
from ..errors import TumbleUserError
from ..learning.loggers import read_curve
from ..lock import LockedError, locked
from ..runs import Run
from ..seeds import Child, SeedBatch, default_jobs, run_processes
from ..toml_dataclass import ConfigError
from .study import FAILURE, Study, TrialLost, describe
from .sweep_file import TENTHS

PAUSE = 1.0  # s, between two looks at the curves and at the study
DEATHS = 2  # of a process of one trial by a signal, after which it is begun again
FAILURES = 3  # with no trial that ended otherwise, after which the worker stops
TRIAL = "trial-{:04d}"


class Worker:
    """Runs trials of a sweep, several at a time; the seeds of a trial follow each other."""

    def __init__(self, study: Study, jobs: int | None) -> None:
        self.study, self.settings = study, study.file.settings
        self.jobs = jobs or default_jobs(study.file.base, self.settings.trials)
        self.trials: list[_Trial] = []
        self.failures: list[str] = []
        self._beat_at = 0.0
        self._waits = self._is_over = False

    def run(self) -> None:
        """Run trials until the study is complete or Ctrl-C stops it; unfinished ones are left to the next worker."""
        try:
            run_processes(self._processes(), self.jobs, self._end, self._watch, PAUSE)
        finally:
            for trial in self.trials:
                self._try(self.study.release, trial.trial)

    def _processes(self) -> Iterator[Child | None]:
        """Start the processes of trials; see `run_processes`."""
        while not self._is_over:
            yield self._next_process()

    def _next_process(self) -> Child | None:
        """Start the process of a trial that has none, or of a new trial; None if nothing can be started at present."""
        for trial in [trial for trial in self.trials if trial.child is None] or self._look():
            trial.skip_finished_seeds()
            if not trial.seeds:
                self._complete(trial)
            elif trial.start(self.jobs):
                return trial.child
        return None

    def _look(self) -> list["_Trial"]:
        """Take the next trial of the study, if there is one; find out if all have ended."""
        ended = self.study.ended
        gives_up = len(self.failures) >= FAILURES and all(FAILURE in trial.user_attrs for trial in ended)
        taken = None if gives_up else self.study.next()
        if taken is not None:
            try:
                self.trials.append(_Trial(self.study, taken))
                return self.trials[-1:]
            except ConfigError as error:  # values that do not fit together
                self.failures.append(f"trial {self.study.number(taken)}: {error}")
                self._try(self.study.end, taken, failure=str(error))
        elif not self.trials:
            left = self.settings.trials - len(ended)
            self._is_over = left <= 0 or gives_up
            if not (self._is_over or self._waits):
                print(f"waiting for {left} trials of other workers; dead ones are replaced", flush=True)
            self._waits = True
        return []

    def _watch(self) -> None:
        """Report the evaluations of the runs, and stop those that are pruned or out of time."""
        beats = time.monotonic() >= self._beat_at
        if beats:
            self._beat_at = time.monotonic() + self.settings.silence / 6
        for trial in self.trials:
            if beats:
                self.study.beat(trial.trial)
            if trial.child is not None and not trial.verdict:
                trial.verdict = self._judge(trial)
                if trial.verdict:
                    trial.child.interrupt()

    def _judge(self, trial: "_Trial") -> str:
        """Return why a run is to stop: "lost", "pruned" or "time"; empty if it goes on."""
        try:
            trial.report()
        except TrialLost:
            return "lost"
        if trial.trial.should_prune():
            return "pruned"
        return "time" if trial.is_out_of_time() else ""

    def _end(self, child: Child, stopping: bool) -> None:
        """Decide what becomes of a trial whose process has ended."""
        trial = next(trial for trial in self.trials if trial.child is child)
        trial.child, verdict = None, trial.verdict or self._judge(trial)
        trial.verdict = ""
        died, finished = child.process.returncode < 0, trial.skip_finished_seeds()
        if verdict == "lost":
            self.trials.remove(trial)
        elif finished and not trial.seeds:
            self._complete(trial)
        elif verdict == "pruned":
            self._finish(trial, f"pruned after {trial.place()} of {self.settings.seeds} runs")
        elif finished or stopping:
            pass  # its next seed follows; or `run` releases it
        elif died and trial.deaths < DEATHS:
            trial.deaths += 1
        elif child.failure:
            self._fail(trial, child.failure)
        else:  # somebody has stopped its process, which has saved
            self._try(self.study.release, trial.trial)
            self.trials.remove(trial)

    def _complete(self, trial: "_Trial") -> None:
        score = float(np.mean(trial.scores))
        if math.isfinite(score):
            self._finish(trial, f"score {score:.5g}", score=score)
        else:
            self._fail(trial, "no evaluation within sweep.seconds: lower evaluation.every_steps")

    def _fail(self, trial: "_Trial", reason: str) -> None:
        self.failures.append(reason)
        self._finish(trial, f"failed: {reason}", failure=reason)

    def _finish(self, trial: "_Trial", said: str, **how: Any) -> None:
        self.trials.remove(trial)
        if self._try(self.study.end, trial.trial, **how):
            print(f"{trial.name}: {said}", flush=True)

    def _try(self, call: Any, trial: Any, **how: Any) -> bool:
        """End or release a trial of the study; return False if it is no longer this worker's."""
        try:
            call(trial, **how)
        except TrialLost:
            number = self.study.number(trial)
            print(f"trial {number}: it is not this worker's any more, which was silent for too long", flush=True)
            return False
        return True


class _Trial:
    """A trial that this worker runs."""

    def __init__(self, study: Study, trial: Any) -> None:
        self.study, self.trial = study, trial
        self.config, settings = study.file.config(trial.params), study.file.settings
        self.name = f"trial {study.number(trial)}"
        folder = study.folder / TRIAL.format(study.number(trial))
        self.seeds = [self.config.seed + i for i in range(settings.seeds)]
        self.batch = SeedBatch.find(folder) or SeedBatch.create(self.config, self.seeds, folder)
        if self.batch.config != self.config:
            raise TumbleUserError(f"{folder} is a trial of another sweep: choose another --out")
        self.scores: list[float] = []  # of the seeds that are finished
        self.child: Child | None = None
        self.verdict, self.deaths, self._reported = "", 0, -1
        print(f"{self.name}: {describe(trial.params)}", flush=True)

    def start(self, jobs: int) -> bool:
        """Start the process of the first seed that is not finished, unless another process trains there still."""
        run = self.batch.run(self.seeds[0])
        if run.config_path.exists():
            try:
                with locked(run.folder):
                    pass
            except LockedError:
                return False
        self.batch.require_one_task()
        arguments = ("--steps", str(self.config.total_steps))
        name = f"{self.name}, seed {self.seeds[0]}"
        self.child = Child(self.batch, self.seeds[0], arguments, jobs, name, self._write)
        return True

    def _write(self, line: str) -> None:
        with (self.batch.folder / "output.txt").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def skip_finished_seeds(self) -> bool:
        """Take the scores of seeds that are finished; return whether there was one."""
        before = len(self.seeds)
        while self.seeds and (self.is_out_of_time() or self.batch.is_finished(self.seeds[0], self.config.total_steps)):
            rows = self._rows()
            self.scores.append(rows[-1]["mean"] if rows else math.nan)
            del self.seeds[0 : 1 if rows else None]
        return len(self.seeds) < before

    def is_out_of_time(self) -> bool:
        """Return whether the run of the present seed has trained for as long as it may."""
        rows = read_curve(self._run().folder / "progress.jsonl")
        return bool(rows) and rows[-1]["seconds"] >= self.study.file.settings.seconds

    def report(self) -> None:
        """Report the evaluations of the present seed, one a tenth of the run, in the mean with earlier seeds."""
        if not self.seeds:
            return
        for row in self._rows():
            place = len(self.scores) * (TENTHS + 1) + int(TENTHS * self._share(row))
            if place > self._reported:
                self.study.report(self.trial, float(np.mean([*self.scores, row["mean"]])), place)
                self._reported = place

    def place(self) -> str:
        """Return how many of its runs the trial has come through, as text."""
        rows = self._rows()
        return f"{len(self.scores) + (self._share(rows[-1]) if rows else 0):.1f}"

    def _share(self, row: dict[str, Any]) -> float:
        """Return the share of the run's budget that was used at an evaluation."""
        settings = self.study.file.settings
        return min(1.0, max(row["step"] / self.config.total_steps, row["seconds"] / settings.seconds))

    def _run(self) -> Run:
        return self.batch.run(self.seeds[0])

    def _rows(self) -> list[dict[str, Any]]:
        """Return the evaluations of the present seed within its time."""
        rows = read_curve(self._run().folder / EVALUATIONS)
        return [row for row in rows if row["seconds"] <= self.study.file.settings.seconds]
