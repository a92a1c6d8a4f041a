"""Learning curves of the compiled learner beside the lean one: `python -m tests.training.learner_curves TASK STEPS`.

Three seeds of each learn by the packaged configuration, and are evaluated ten times. The table has the mean returns of
the seeds with their standard errors, and how many standard errors the means differ by; the last row those of whole
curves. Draws differ, so only means can be compared.
"""

import math
import sys
import tempfile
from pathlib import Path

import numpy as np

from tumble.training.best import EVALUATIONS
from tumble.training.config import RunConfig
from tumble.training.learning.loggers import read_curve
from tumble.training.train import train

SEEDS, POINTS = 3, 10
LEARNERS = ("lean", "compiled")


def curve(task: str, learner: str, seed: int, steps: int, folder: Path) -> list[float]:
    """Train a policy; return its mean returns, and their mean."""
    config = RunConfig.packaged(task, "ppo").replace(seed=seed, total_steps=steps)
    config = config.change({"ppo.learner": learner, "evaluation.every_steps": steps // POINTS})
    run = train(config, folder / f"{learner}-{seed}", progress=False).run
    returns = [float(row["mean"]) for row in read_curve(run.folder / EVALUATIONS)][:POINTS]
    return [*returns, float(np.mean(returns))]


def main(task: str, steps: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        curves = {
            learner: np.array([curve(task, learner, seed, steps, Path(folder)) for seed in range(SEEDS)])
            for learner in LEARNERS
        }
    means, errors = (
        [reduce(curves[learner]) for learner in LEARNERS]
        for reduce in (lambda x: x.mean(0), lambda x: x.std(0, ddof=1) / math.sqrt(SEEDS))
    )
    print(f"| steps | {' | '.join(LEARNERS)} | standard errors apart |\n|---|---|---|---|")
    for k in range(len(means[0])):
        step = f"{(k + 1) * steps // POINTS:,}" if k < POINTS else "mean"
        cells = [f"{mean[k]:.0f} ± {error[k]:.0f}" for mean, error in zip(means, errors, strict=True)]
        apart = abs(means[1][k] - means[0][k]) / math.hypot(errors[0][k], errors[1][k])
        print(f"| {step} | {' | '.join(cells)} | {apart:.1f} |")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
