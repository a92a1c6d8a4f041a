"""The reader of damaged run folders for `tumble bench fuzz`: the commands of runs."""

import contextlib
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..training.best import read_best
from ..training.checkpoint import MANIFEST, _describe, load_latest
from ..training.commands.report import write_report
from ..training.config import RunConfig
from ..training.errors import TumbleUserError
from ..training.learning.learner import Learner
from ..training.learning.loggers import read_curve
from ..training.policy import newest_policy, read_policy
from ..training.results.curves import summarize
from ..training.runs import Run, RunError
from ..training.seeds import SeedBatch
from ..training.tasks import make_vec
from ..training.train import train
from .fuzz import FuzzedReader, damaged_bytes, damaged_json

STEPS = 128
"""Environment steps of the run that is damaged."""
REFUSALS = (TumbleUserError, OSError)
"""The exceptions that commands explain in a line."""


def make_run(folder: Path) -> RunConfig:
    """Train a short run with checkpoints and evaluations into `folder`/seed-1; return its configuration."""
    config = RunConfig.packaged("tumble/InvertedPendulum-v0", "ppo").replace(num_envs=4, total_steps=STEPS, seed=1)
    config = config.change({"ppo.n_steps": 16, "ppo.batch_size": 32, "checkpoint.every_steps": 64})
    config = config.change({"evaluation.every_steps": 64, "evaluation.episodes": 2})
    train(config, SeedBatch.create(config, [1], folder).run(1).folder, progress=False)
    return config


def damage(folder: Path, chance: random.Random) -> Path:
    """Return a copy of a folder in which one to three files are damaged: their bytes, their JSON, or their type."""
    copy = folder.with_name("damaged")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    for _ in range(chance.choice((1, 1, 2, 3))):
        files = sorted(path for path in copy.rglob("*") if path.is_file() and not path.is_symlink())
        file = chance.choice(files)
        with contextlib.suppress(ValueError, KeyError, TypeError):  # a manifest that was damaged before
            _damage_file(file, chance)
            manifest = file.parent / MANIFEST
            if chance.random() < 0.7 and file != manifest and file.is_file() and manifest.is_file():
                content = json.loads(manifest.read_bytes())  # the new sum, so that more than the sum is looked at
                content["files"][file.name] = _describe(file)
                manifest.write_text(json.dumps(content))
    return copy


def _damage_file(file: Path, chance: random.Random) -> None:
    choice = chance.random()
    if choice < 0.55:
        file.write_bytes(damaged_bytes(file.read_bytes(), chance))
    elif choice < 0.7 and file.suffix in (".json", ".jsonl"):
        values = [json.dumps(damaged_json(json.loads(line), chance)) for line in _values(file)]
        file.write_text("\n".join(values))
    elif choice < 0.8:
        lines = file.read_bytes().splitlines(keepends=True)
        chance.shuffle(lines)
        file.write_bytes(b"".join(lines))
    else:
        file.unlink()
        make: list[Callable[[Path], Any]] = [os.mkdir, os.mkfifo, lambda path: None]
        make += [lambda path: path.symlink_to("/dev/zero"), lambda path: path.symlink_to(path.name)]
        chance.choice(make)(file)


def _values(file: Path) -> list[str]:
    """Return the JSON values of a file: one, or one a line."""
    text = file.read_text()
    return text.splitlines() if file.suffix == ".jsonl" else [text]


def _runs() -> FuzzedReader:
    folder = Path("whole").absolute()
    config = make_run(folder)
    learner = Learner(config, make_vec(config.task, num_envs=config.num_envs))

    def read(folder: Path) -> None:
        batch = SeedBatch(folder)
        run, report = batch.run(1), Path("report")
        readers: list[Callable[[], Any]] = [
            lambda: Run.find(run.folder).config,
            lambda: batch.config,
            batch.require_one_task,
            lambda: batch.is_finished(1, STEPS),
            lambda: _may_be_free(run),
            lambda: read_best(run),
            lambda: read_curve(run.folder / "progress.jsonl"),
            lambda: read_policy(newest_policy(run)),
            lambda: read_policy(run.checkpoint("best")),
            lambda: load_latest(run.checkpoints, learner.load),
            lambda: summarize(batch),
            lambda: write_report([folder], report),
        ]
        refusals = []
        for reader in readers:
            try:
                reader()
            except REFUSALS as error:
                refusals.append(error)
        if refusals:
            raise refusals[0]

    return FuzzedReader([folder], damage, read, REFUSALS)


def _may_be_free(run: Run) -> None:
    with contextlib.suppress(RunError):
        run.require_free()


READERS = {"run": _runs}
"""The makers of the readers, by kind."""
