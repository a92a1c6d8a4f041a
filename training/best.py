"""Evaluation during training: the policy plays episodes now and then, and the best one so far is kept.

An evaluation here equals `tumble evaluate --seed 1000000`: the policy as it would be read from a checkpoint,
in environments made for it. It does not change training: every random generator is put back afterwards.

The highest of many noisy means is too high. So the best policy is scored once more at the end of training, on episodes
that had no part in the choice: the first ones that `tumble evaluate` plays.
"""

import json
import logging
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from gymnasium.vector import VectorEnv
from stable_baselines3.common.callbacks import BaseCallback

from ..physics.machine.disk import read_regular, work_folder
from .checkpoint import CheckpointError, list_checkpoints, save_checkpoint, write_text_atomically
from .evaluate import FIRST_SEED, Evaluation, make_envs, play
from .learning.learner import Learner, generator_state, load_generator_state
from .learning.loggers import TrainingClock, append_row, keep_rows, read_curve
from .policy import Policy, PolicyError
from .runs import Run
from .tasks import task_id

logger = logging.getLogger("tumble")
EVALUATIONS, BEST = "evaluations.jsonl", "best.json"
CHOOSING_SEED = 1_000_000  # of evaluations during training; far from those of `tumble evaluate`, which judges the best


class EvaluationCallback(BaseCallback):
    """Evaluate each `every_steps` and at the end, always between two iterations.

    Figures go to the logger and, one line an evaluation, to the run's `evaluations.jsonl`; the policy of the highest
    mean return goes to the run's `best`, together with its line. At the end `best.json` gets the scores of that policy
    on other episodes. The callback must stand before the one that writes checkpoints, so that a resumed run does not
    evaluate the same step again.
    """

    def __init__(self, learner: Learner, run: Run, resumed_at: int | None, clock: TrainingClock) -> None:
        super().__init__()
        self.learner, self.run, self.clock = learner, run, clock
        self.settings = learner.config.evaluation
        self.path = run.folder / EVALUATIONS
        keep_rows(self.path, resumed_at)
        self._next = 0
        self._envs: VectorEnv | None = None

    def _on_training_start(self) -> None:
        every = self.settings.every_steps
        self._next = (self.model.num_timesteps // every + 1) * every

    def _on_rollout_start(self) -> None:
        if self.model.num_timesteps >= self._next:
            self.evaluate()
            self._on_training_start()

    def _on_training_end(self) -> None:
        rows = read_curve(self.path)
        if not rows or rows[-1]["step"] < self.model.num_timesteps:
            self.evaluate()
            self.logger.dump(self.model.num_timesteps)
        self.judge_best()

    def _on_step(self) -> bool:
        return True

    def evaluate(self) -> Evaluation:
        """Play the policy of this moment; keep it if it is the best so far."""
        with self.learner.group.long_work(), self.clock.stopped(), work_folder() as folder:
            self.learner.save_policy(folder)
            score = self.play_policy(folder, CHOOSING_SEED)
        row = {"step": score.step} | self.clock.read() | score.summary()
        for key in ("task", "simulator", "deterministic", "environment"):
            del row[key]
        best = self.kept_best()
        if best is None or score.mean > best[1]["mean"]:
            self._keep(row)
        append_row(self.path, row)
        self.logger.record("eval/mean_return", score.mean)
        self.logger.record("eval/mean_length", row["mean_length"])
        return score

    def judge_best(self) -> None:
        """Score the policy that was kept on episodes that did not choose it, unless that was done before."""
        best = self.kept_best()
        if best is None or best[1]["step"] == read_best(self.run).get("step"):
            return
        policy, line = best
        try:
            with self.learner.group.long_work():
                scores = self.play_policy(policy, FIRST_SEED).summary() | {"chosen_by": line}
        except (CheckpointError, PolicyError) as error:
            logger.warning("the best policy is not scored: %s", error)
            return
        write_text_atomically(self.run.folder / BEST, json.dumps(scores, indent=2) + "\n")

    def kept_best(self) -> tuple[Path, dict[str, Any]] | None:
        """Return the folder of the policy that was kept, and the line that chose it; None if no policy can be read."""
        for checkpoint in list_checkpoints(self.run.best):
            with suppress(OSError):
                rows = read_curve(checkpoint / EVALUATIONS)
                if rows and isinstance(rows[0].get("mean"), float):
                    return checkpoint, rows[0]
        return None

    def close(self) -> None:
        """Close the environments."""
        if self._envs is not None:
            self._envs.close()

    def play_policy(self, folder: Path, seed: int) -> Evaluation:
        """Play the policy of a folder, an episode in each environment; the environments are kept for the next time."""
        config, generators = self.learner.config, generator_state(self.model)
        try:
            envs = self._envs = self._envs or make_envs(config, "tumble", self.settings.episodes)
            policy = Policy(config, folder, envs.single_observation_space, envs.single_action_space)
            played = play(policy, envs, seed, deterministic=True)
        finally:
            load_generator_state(self.model, generators)
        head = {"task": task_id(config.task), "simulator": "tumble", "step": policy.step}
        head |= {"seed": seed, "deterministic": True}
        return Evaluation.of(played, **head)

    def _keep(self, row: dict[str, Any]) -> None:
        """Write the policy and its line of figures into the run's `best`, and remove the policy that was there."""

        def write(folder: Path) -> None:
            self.learner.save_policy(folder)
            (folder / EVALUATIONS).write_text(json.dumps(row) + "\n", encoding="utf-8")

        before = list_checkpoints(self.run.best)
        checkpoint = save_checkpoint(self.run.best, self.model.num_timesteps, write, keep=len(before) + 1)
        for old in before:
            if old != checkpoint:
                shutil.rmtree(old)


def read_best(run: Run) -> dict[str, Any]:
    """Return the scores of the best policy on episodes that did not choose it; {} without scores."""
    try:
        scores = json.loads(read_regular(run.folder / BEST))
    except (OSError, ValueError, RecursionError):
        return {}
    good = isinstance(scores, dict) and all(isinstance(scores.get(name), int | float) for name in ("step", "mean"))
    return scores if good else {}
