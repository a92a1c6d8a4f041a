"""Evaluation during training: the policy plays episodes now and then, and the best one so far is kept.

An evaluation here is what `tumble evaluate` would do: the policy as it would be read from a checkpoint, in environments
of its own, from the same seeds. It does not change training: every random generator is put back afterwards.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from gymnasium.vector import VectorEnv
from stable_baselines3.common.callbacks import BaseCallback

from ..physics.process.disk import work_folder
from .callbacks import keep_rows, open_to_append, read_curve
from .checkpoint import list_checkpoints, save_checkpoint
from .evaluate import FIRST_SEED, Evaluation, make_envs, play
from .learner import Learner, generator_state, load_generator_state
from .policy import Policy
from .runs import Run
from .tasks import task_id

EVALUATIONS = "evaluations.jsonl"


class EvaluationCallback(BaseCallback):
    """Evaluate each `every_steps` and at the end, always between two iterations.

    Figures go to the logger and, one line an evaluation, to the run's `evaluations.jsonl`; the policy of the highest
    mean return goes to the run's `best`, together with its line. The callback must stand before the one that writes
    checkpoints, so that a resumed run does not evaluate the same step again.
    """

    def __init__(self, learner: Learner, run: Run, resumed_at: int | None) -> None:
        super().__init__()
        self.learner, self.run = learner, run
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

    def _on_step(self) -> bool:
        return True

    def evaluate(self) -> Evaluation:
        """Play the policy of this moment; keep it if it is the best so far."""
        generators = generator_state(self.model)
        try:
            score = self._play()
        finally:
            load_generator_state(self.model, generators)
        row = {"step": score.step, "seconds": 0.0} | score.summary()
        for key in ("task", "simulator", "deterministic", "environment", "returns", "lengths"):
            del row[key]
        best = self.best_mean()
        if best is None or score.mean > best:
            self._keep(row)
        with open_to_append(self.path) as file:
            file.write(json.dumps(row) + "\n")
        self.logger.record("eval/mean_return", score.mean)
        self.logger.record("eval/mean_length", row["mean_length"])
        return score

    def best_mean(self) -> float | None:
        """Return the mean return of the policy that was kept; None where none is."""
        for kept in list_checkpoints(self.run.best):
            rows = read_curve(kept / EVALUATIONS)
            if rows and isinstance(rows[0].get("mean"), float):
                return rows[0]["mean"]
        return None

    def close(self) -> None:
        """Close the environments."""
        if self._envs is not None:
            self._envs.close()

    def _play(self) -> Evaluation:
        """Play each episode in an environment of its own; the environments are kept for the next time."""
        if self._envs is None:
            self._envs = make_envs(self.learner.config, "tumble", self.settings.episodes)
        envs, config = self._envs, self.learner.config
        with work_folder() as folder:
            self.learner.save_policy(folder)
            policy = Policy(config, folder, envs.single_observation_space, envs.single_action_space)
        played, task = play(policy, envs, FIRST_SEED, deterministic=True), task_id(config.task)
        head = {"task": task, "simulator": "tumble", "step": policy.step, "seed": FIRST_SEED, "deterministic": True}
        return Evaluation.of(played, **head)

    def _keep(self, row: dict[str, Any]) -> None:
        """Write the policy and its line of figures into the run's `best`, and remove the policy that was there."""

        def write(folder: Path) -> None:
            self.learner.save_policy(folder)
            (folder / EVALUATIONS).write_text(json.dumps(row) + "\n", encoding="utf-8")

        before = list_checkpoints(self.run.best)
        kept = save_checkpoint(self.run.best, self.model.num_timesteps, write, keep=len(before) + 1)
        for old in before:
            if old != kept:
                shutil.rmtree(old)
