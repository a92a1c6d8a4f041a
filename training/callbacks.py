"""What happens beside the learning: progress bar, learning curve, checkpoints, and a stop that loses nothing."""

import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, Logger, TensorBoardOutputFormat
from tqdm import tqdm

from .checkpoint import save_checkpoint
from .learner import Learner
from .runs import Run


class StopTraining(Exception):
    """Raised between two iterations, after the checkpoint is written, when the user asked to stop."""


class StopRequest:
    """Ctrl-C or a termination signal, remembered until training reaches a point from which it can go on exactly."""

    def __init__(self) -> None:
        self.wanted = False

    def __call__(self, number: int, frame: Any) -> None:
        """Handle the signal; the second one interrupts at once, leaving the last checkpoint."""
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True
        tqdm.write("stopping: this iteration is finished and saved first (again to stop at once)")

    @contextmanager
    def listening(self) -> Iterator["StopRequest"]:
        """Handle SIGINT and SIGTERM inside the block; elsewhere than in the main thread signals stay as they are."""
        try:
            before = {number: signal.signal(number, self) for number in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:
            before = {}
        try:
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class CheckpointCallback(BaseCallback):
    """Write a checkpoint each `every_steps` and at the end, always between two iterations.

    Raises `StopTraining` between two iterations if a stop was requested.
    """

    def __init__(self, learner: Learner, run: Run, request: StopRequest) -> None:
        super().__init__()
        self.learner, self.run, self.request = learner, run, request
        self.settings = learner.config.checkpoint
        self._next = 0

    def _on_training_start(self) -> None:
        every = self.settings.every_steps
        self._next = (self.model.num_timesteps // every + 1) * every

    def _on_rollout_start(self) -> None:
        if self.request.wanted:
            self.save()
            raise StopTraining
        if self.model.num_timesteps >= self._next:
            self.save()
            self._on_training_start()

    def _on_training_end(self) -> None:
        self.save()

    def _on_step(self) -> bool:
        return True

    def save(self) -> Path:
        """Write a checkpoint of this moment."""
        step = self.model.num_timesteps
        return save_checkpoint(self.run.checkpoints, step, self.learner.save, keep=self.settings.keep)


class ProgressCallback(BaseCallback):
    """A progress bar over environment steps, with the mean return and length of the last 100 episodes."""

    def __init__(self, total_steps: int, show: bool = True) -> None:
        super().__init__()
        self.total_steps, self.show = total_steps, show
        self._bar: Any = None

    def _on_training_start(self) -> None:
        done = self.model.num_timesteps
        self._bar = tqdm(total=self.total_steps, initial=done, unit=" steps", unit_scale=True, disable=not self.show)

    def _on_step(self) -> bool:
        self._bar.update(self.training_env.num_envs)
        return True

    def _on_rollout_end(self) -> None:
        episodes = self.model.ep_info_buffer
        if episodes:
            mean_return = sum(episode["r"] for episode in episodes) / len(episodes)
            mean_length = sum(episode["l"] for episode in episodes) / len(episodes)
            self._bar.set_postfix_str(f"return {mean_return:.1f}, length {mean_length:.0f}", refresh=False)

    def close(self) -> None:
        """Leave the bar on the screen and the cursor below it."""
        if self._bar is not None:
            self._bar.close()


class CurveWriter(KVWriter):
    """The learning curve as a text file: one JSON object a line, with step, seconds of training and SB3's figures.

    On resume the lines after the checkpoint are dropped, and the seconds go on from where they stood.
    """

    def __init__(self, path: Path, resumed_at: int | None) -> None:
        kept = [] if resumed_at is None else [row for row in read_curve(path) if row["step"] <= resumed_at]
        path.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
        self._file = path.open("a", encoding="utf-8")
        self._started = time.perf_counter() - (kept[-1]["seconds"] if kept else 0.0)

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, tuple[str, ...]], step: int = 0) -> None:
        """Append one line."""
        numbers = {
            key: float(value)
            for key, value in key_values.items()
            if isinstance(value, int | float) or hasattr(value, "item")
        }
        row = {"step": step, "seconds": round(time.perf_counter() - self._started, 3)} | numbers
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class TensorBoardWriter(TensorBoardOutputFormat):
    """SB3's TensorBoard output; on resume the points after the checkpoint are purged."""

    def __init__(self, folder: Path, resumed_at: int | None) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(log_dir=str(folder), purge_step=None if resumed_at is None else resumed_at + 1)
        self._is_closed = False


def read_curve(path: Path) -> list[dict[str, Any]]:
    """Read a learning curve; a last line that was cut off by a kill is left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return rows


def make_logger(run: Run, resumed_at: int | None) -> Logger:
    """Log to the run folder's curve and TensorBoard; `resumed_at` is the step a resumed run goes on from."""
    curve = CurveWriter(run.folder / "progress.jsonl", resumed_at)
    board = TensorBoardWriter(run.folder / "tensorboard", resumed_at)
    return Logger(folder=str(run.folder), output_formats=[curve, board])
