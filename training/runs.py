"""Run folders: where a training run keeps its things, and how one is found again.

runs/Ant-v0-ppo-0-20260101-120000/
    config.toml      the configuration, complete
    checkpoints/     the last few, see `checkpoint.py`
    progress.jsonl   one line of figures an iteration: the learning curve
    tensorboard/     the same for TensorBoard
    *.json, *.mp4    evaluations and films
"""

import time
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from .checkpoint import latest_checkpoint, list_checkpoints, write_text_atomically
from .config import RunConfig
from .errors import TumbleUserError
from .tasks import short_name


class RunError(TumbleUserError, ValueError):
    """A run folder that is missing or not one; the message names those that exist."""


@dataclass(frozen=True)
class Run:
    """The folder of one training run."""

    folder: Path

    @classmethod
    def create(cls, config: RunConfig, out: Path | None = None) -> "Run":
        """Make a run folder, `runs/<task>-<algorithm>-<seed>-<time>` unless `out` names one, and snapshot the config.

        Raises:
            RunError: `out` already holds a run.
        """
        name = f"{short_name(config.task)}-{config.algo}-{config.seed}"
        folder = out or _unused(Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}")
        run = cls(folder)
        if run.config_path.exists():
            raise RunError(f"{folder} already holds a run: continue it with --resume {folder}, or choose another --out")
        folder.mkdir(parents=True, exist_ok=True)
        run.keep_config(config)
        return run

    @classmethod
    def find(cls, folder: Path) -> "Run":
        """Open an existing run folder.

        Raises:
            RunError: There is none; the nearest names are suggested.
        """
        run = cls(folder)
        if run.config_path.exists():
            return run
        if folder.exists():
            raise RunError(f"{folder} is not a run folder: it has no config.toml")
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
        """Return the newest intact checkpoint; raises `CheckpointError` where there is none."""
        return latest_checkpoint(self.checkpoints)


def _unused(folder: Path) -> Path:
    """Return the folder, numbered if it exists: two runs may start in one second."""
    candidate, number = folder, 2
    while candidate.exists():
        candidate = folder.with_name(f"{folder.name}-{number}")
        number += 1
    return candidate
