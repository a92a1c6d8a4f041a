"""One environment through `gym.make`: Tumble's against Gymnasium's own, microseconds a step."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
import numpy as np

from ..physics.machine.runtime import init
from .results import BenchmarkResult, Table, Verdict
from .timing import Sample, take_turns

AS_FAST = ("Hopper", "Walker2d", "Ant", "Humanoid")
"""Tasks that must be at least as fast as Gymnasium's."""
LIGHT, LIGHT_LIMIT = ("Hopper", "Walker2d", "HalfCheetah", "InvertedPendulum"), 150.0
"""Tasks with a small model, and the microseconds that a step of theirs may take."""
COLUMNS = {
    "task": "",
    "Tumble us/step": ".1f",
    "Gymnasium us/step": ".1f",
    "ratio": ".2f",
    "low": ".2f",
    "high": ".2f",
    "Tumble us/reset": ".0f",
    "Gymnasium us/reset": ".0f",
    "ratio with resets": ".2f",
}


def run(models: Sequence[str], steps: int, rounds: int) -> BenchmarkResult:
    """Compare every task under random actions.

    Args:
        models: names of tasks, such as "Ant".
        steps: of one timed stretch.
        rounds: of which medians are taken.
    """
    init(precision="32", threads=1)
    table = Table("One environment through gym.make, random actions; only steps, only resets, both together", COLUMNS)
    result = BenchmarkResult([table])
    for task in models:
        result.tables[0].rows.append(row := _compare(task, steps, rounds))
        if task in AS_FAST:
            result.verdicts.append(Verdict(f"{task}: times Gymnasium's speed", row["ratio with resets"], 1.0))
        if task in LIGHT:
            what = f"{task}: microseconds a step"
            result.verdicts.append(Verdict(what, row["Tumble us/step"], LIGHT_LIMIT, at_least=False))
    return result


def _compare(task: str, steps: int, rounds: int) -> dict[str, Any]:
    identities = {"Tumble": f"tumble/{task}-v0", "Gymnasium": f"{task}-v5"}
    resets: dict[str, list[tuple[float, int]]] = {name: [] for name in identities}
    sides = {name: _side(gym.make(identity), steps, resets[name]) for name, identity in identities.items()}
    samples = take_turns(sides, rounds)
    ratio = samples["Tumble"].times_faster_than(samples["Gymnasium"])
    row: dict[str, Any] = {"task": task, "ratio": ratio.median, "low": ratio.low, "high": ratio.high}
    whole = {}
    for name, sample in samples.items():
        counted = resets[name][-rounds:]
        whole[name] = Sample(tuple(s + r for s, (r, _) in zip(sample.seconds, counted, strict=True)))
        row[f"{name} us/step"] = sample.median / steps * 1e6
        row[f"{name} us/reset"] = sum(s for s, _ in counted) / max(1, sum(n for _, n in counted)) * 1e6
        row[f"{name} resets"] = sum(n for _, n in counted)
        row[f"{name} seconds"] = sample.seconds
    row["ratio with resets"] = whole["Tumble"].times_faster_than(whole["Gymnasium"]).median
    return row


def _side(env: gym.Env, steps: int, resets: list[tuple[float, int]]) -> Callable[[], float]:
    """Seconds in `step` of a stretch; appends seconds and number of its resets to `resets`."""
    space: Any = env.action_space
    noise = np.random.default_rng(0).random((steps, *space.shape))
    actions = (space.low + (space.high - space.low) * noise).astype(space.dtype)
    env.reset(seed=0)

    def stretch() -> float:
        stepping, resetting, count = 0.0, 0.0, 0
        for action in actions:
            begin = time.perf_counter()
            _, _, terminated, truncated, _ = env.step(action)
            middle = time.perf_counter()
            stepping += middle - begin
            if terminated or truncated:
                env.reset()
                resetting += time.perf_counter() - middle
                count += 1
        resets.append((resetting, count))
        return stepping

    return stretch
