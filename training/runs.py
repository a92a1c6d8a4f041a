"""Run folders: the files of a training run, and how a run is found again.

runs/Ant-v0-ppo-0-20260101-120000/
    config.toml      the configuration, complete
    checkpoints/     the last few, see `checkpoint.py`
    best/            the best policy of the evaluations during training, in the form of a checkpoint
    lock             says which process trains here; the lock itself ends with the process, see `lock.py`
    run.json         provenance: versions, commit, machine, precision, command, date; see `provenance.py`
    progress.jsonl   one line of figures an iteration: the learning curve
    evaluations.jsonl   one line an evaluation during training
    tensorboard/     the figures of progress.jsonl for TensorBoard
    *.json, *.mp4    evaluations and films
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from . import lock
from .checkpoint import PREFIX, CheckpointError, list_checkpoints, load_latest, verify_checkpoint, write_text_atomically
from .config import RunConfig
from .errors import TumbleUserError
from .tasks import short_name

T = TypeVar("T")


class RunError(TumbleUserError, ValueError):
    """A run folder that is missing or not one; the message names the existing ones."""


@dataclass(frozen=True)
class Run:
    """The folder of one training run."""

    folder: Path

    @classmethod
    def create(cls, config: RunConfig, out: Path | None = None) -> "Run":
        """Make a run folder, `runs/<task>-<algorithm>-<seed>-<time>` unless `out` names one.

        Raises:
            RunError: `out` already holds a run.
        """
        name = f"{short_name(config.task)}-{config.algo}-{config.seed}"
        run = cls(out or _unused(Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"))
        run.require_free()
        run.folder.mkdir(parents=True, exist_ok=True)
        return run

    def require_free(self) -> None:
        """Refuse a folder that holds a run; one that ended before it learnt anything gives its place to another.

        Raises:
            RunError: There is something of a run in the folder.
        """
        left = [
            *self.folder.glob("evaluation-*.json"),
            *list_checkpoints(self.checkpoints),
            *list_checkpoints(self.best),
        ]
        if not self.config_path.exists():
            if left:
                raise RunError(f"{self.folder} has no config.toml, but holds {left[0]} of a run: choose another --out")
            return
        curve = self.folder / "progress.jsonl"
        trained = (self.folder / lock.NAME).exists()  # else the configuration may be a file of the user's
        if not trained or left or (curve.exists() and curve.stat().st_size):
            remedy = f"continue it with --resume {self.folder}, or choose another --out"
            raise RunError(f"{self.folder} already holds a run: {remedy}")

    @classmethod
    def find(cls, folder: Path) -> "Run":
        """Open an existing run folder.

        Raises:
            RunError: The run does not exist; the nearest names are suggested.
        """
        run = cls(folder)
        if run.config_path.exists():
            return run
        if folder.exists():
            inside = sorted(str(path.parent) for path in folder.glob("*/config.toml"))
            hint = f"; did you mean {', '.join(inside[-3:])}?" if inside else ""
            raise RunError(f"{folder} is not a run folder: it has no config.toml{hint}")
        siblings = sorted(path.parent.name for path in folder.parent.glob("*/config.toml"))
        near = get_close_matches(folder.name, siblings, n=3, cutoff=0.4) or siblings[-3:]
        hint = f"; did you mean {', '.join(str(folder.parent / name) for name in near)}?" if near else ""
        raise RunError(f"no run folder {folder}{hint}")

    @property
    def config_path(self) -> Path:
        """The snapshot of the configuration."""
        return self.folder / "config.toml"

    @property
    def checkpoints(self) -> Path:
        """The folder of checkpoints."""
        return self.folder / "checkpoints"

    @property
    def best(self) -> Path:
        """The folder of the best policy, kept in the form of a checkpoint."""
        return self.folder / "best"

    @property
    def config(self) -> RunConfig:
        """The run's configuration, read from its snapshot."""
        return RunConfig.load(self.config_path)

    def keep_config(self, config: RunConfig) -> None:
        """Write the snapshot."""
        write_text_atomically(self.config_path, config.to_toml())

    def has_checkpoint(self) -> bool:
        """Say whether anything was saved yet."""
        return bool(list_checkpoints(self.checkpoints))

    def latest(self) -> Path:
        """Return the newest intact checkpoint; raises `CheckpointError` if no checkpoint is intact."""
        return self.load_latest(lambda checkpoint: checkpoint)

    def load_latest(self, load: Callable[[Path], T]) -> T:
        """Load the newest intact checkpoint, see `checkpoint.load_latest`; raises `CheckpointError` if none loads."""
        return load_latest(self.checkpoints, load)

    def checkpoint(self, name: str) -> Path:
        """Return a checkpoint by its name: "best", "latest", a step ("500_000" or "step-000000500000"), or a path.

        Raises:
            CheckpointError: It does not exist, with the names that exist, or it is damaged.
        """
        if name == "latest":
            return self.latest()
        if name == "best":
            checkpoints = list_checkpoints(self.best)
            if not checkpoints:
                remedy = f"train with --evaluate-every STEPS to keep one; there {self._names()}"
                raise CheckpointError(f"{self.folder}: no best policy was kept; {remedy}")
        else:
            step = name.replace("_", "").replace(",", "")
            folders = [self.checkpoints / name, Path(name)]
            if step.isascii() and step.isdecimal():
                folders.insert(0, self.checkpoints / f"{PREFIX}{int(step):012d}")
            checkpoints = [folder for folder in folders if name and folder.is_dir() and folder != self.checkpoints]
            if not checkpoints:
                raise CheckpointError(f"{self.folder}: no checkpoint {name!r}; there {self._names()}")
        verify_checkpoint(checkpoints[0])
        return checkpoints[0]

    def _names(self) -> str:
        """Say which checkpoints there are."""
        names = [path.name for path in list_checkpoints(self.checkpoints)]
        names += ["best"] if list_checkpoints(self.best) else []
        return f"{'are' if len(names) > 1 else 'is'} {', '.join(names) or 'none'}"


def _unused(folder: Path) -> Path:
    """Return the folder, numbered if it exists: two runs may start in one second."""
    candidate, number = folder, 2
    while candidate.exists():
        candidate = folder.with_name(f"{folder.name}-{number}")
        number += 1
    return candidate
