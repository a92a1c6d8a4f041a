"""Time of PPO's minibatches in compiled code and in LeanPPO, beside the peak of a core.

The peak is that of twelve chains of multiply-adds of whole registers, measured in the same turns. A minibatch's
arithmetic is counted as products only: two operations for each weight and row forward, for the weights' gradient and,
but for the first layer, for the slopes of its input.
"""

import ctypes
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv

from ..physics.machine.codegen.llvm import load, optimized_machine_code
from ..physics.machine.codegen.pool import shared_pool
from ..physics.machine.codegen.words import FLOAT, FLOATS, INT, Module
from ..training.compiled.minibatches import Minibatches, PPOSettings, RowColumns
from ..training.learning.lean_ppo import Update
from .results import BenchmarkResult, Table
from .timing import take_turns

CASES = (
    (17, 6, (64, 64), 128),
    (17, 6, (64, 64), 512),
    (105, 8, (64, 64), 512),
    (48, 12, (128, 64), 2048),
    (97, 16, (128, 128), 1024),
    (97, 16, (128, 128, 128), 2048),
    (48, 12, (512, 256, 128), 2048),
)
"""Observations, numbers of an action, hidden layers of both networks, rows of a minibatch."""
ROWS = 2048
CHAINS, PEAK_ROUNDS = 12, 200_000
COLUMNS = {
    "observations": "d",
    "actions": "d",
    "hidden": "",
    "rows": "d",
    "lean us": ",.0f",
    "compiled us": ",.0f",
    "ratio": ".2f",
    "GFLOP/s": ".1f",
    "of peak": ".0%",
    "two threads us": ",.0f",
    "gain": ".2f",
}


def run(rounds: int) -> BenchmarkResult:
    """Time all cases, sides in turns; of each round the fastest of several passes counts.

    Args:
        rounds: turns, of which medians are taken.
    """
    torch.set_num_threads(1)
    title = "Microseconds of one minibatch of PPO, both networks, on one thread and on two"
    result = BenchmarkResult([Table(title, COLUMNS)])
    peak = peak_of_a_core()
    for observations, actions, hidden, rows in CASES:
        sides = _sides(observations, actions, hidden, rows)
        samples = take_turns({"peak": peak, **sides}, rounds)
        lean, one, two = (samples[name].median * 1e6 for name in ("lean", "one", "two"))
        rate = operations(observations, actions, hidden) * rows / one / 1e3
        result.tables[0].rows.append(
            {
                "observations": observations,
                "actions": actions,
                "hidden": "-".join(map(str, hidden)),
                "rows": rows,
                "lean us": lean,
                "compiled us": one,
                "ratio": samples["one"].times_faster_than(samples["lean"]).median,
                "GFLOP/s": rate,
                "of peak": rate * 1e9 * samples["peak"].median,
                "two threads us": two,
                "gain": samples["two"].times_faster_than(samples["one"]).median,
            }
        )
    return result


def operations(observations: int, actions: int, hidden: Sequence[int]) -> int:
    """Return the arithmetic operations of a row."""
    total = 0
    for outputs in (actions, 1):
        weights = [a * b for a, b in pairwise([observations, *hidden, outputs])]
        total += 2 * (2 * sum(weights) + sum(weights[1:]))
    return total


def peak_of_a_core() -> Callable[[], float]:
    """Return a function that returns the seconds of one operation at the peak of a core."""
    module, lanes = Module(), 16
    with module.function("peak", public=True, x=FLOATS, n=INT) as (f, x, n):
        factor = x.vector(0, lanes)
        sums = [f.variable(FLOAT.vector(lanes), 0.0) for _ in range(CHAINS // 2)]
        with f.loop(0, n):
            for total in sums:
                total.set(f.fma(factor, total.value, factor))
        for k, total in enumerate(sums):
            f.store(x + k * lanes, total.value)
    (address,) = load(optimized_machine_code(module.text()), "peak")
    call = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(address)
    x = np.full(lanes * CHAINS, 0.5, np.float32)
    each = 2 * lanes * len(range(CHAINS // 2)) * PEAK_ROUNDS

    def measure() -> float:
        x[:] = 0.5
        return _fastest(lambda: call(x.ctypes.data, PEAK_ROUNDS)) / each

    return measure


def _fastest(work: Callable[[], Any], seconds: float = 0.3, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the shortest duration of a piece of work that is repeated for a while."""
    best, end = np.inf, time.perf_counter() + seconds
    while time.perf_counter() < end or best == np.inf:
        begun = clock()
        work()
        best = min(best, clock() - begun)
    return float(best)


def _sides(observations: int, actions: int, hidden: Sequence[int], rows: int) -> dict[str, Callable[[], float]]:
    """Return the sides of a case: functions that return the seconds of a minibatch."""
    torch.manual_seed(0)
    width = max(ROWS, rows)
    rollout = torch.randn(width, observations + actions + 4)
    rollout[:, observations + actions] = -actions * 1.5
    index = torch.randperm(width)
    batches = list(index.split(rows))

    def compiled(threads: int) -> Callable[[], float]:
        policy = model_of(observations, actions, hidden, rows).policy
        extractor = policy.mlp_extractor
        actor, critic = [*extractor.policy_net, policy.action_net], [*extractor.value_net, policy.value_net]
        networks = Minibatches(actor, critic, policy.log_std, [], rows, shared_pool(threads))
        networks.read(policy.optimizer)
        settings, columns = PPOSettings(clip_range=0.2, rate=3e-4), RowColumns(0, 0, observations)
        return lambda: _fastest(lambda: networks.run(rollout, columns, batches, settings)) / len(batches)

    model = model_of(observations, actions, hidden, rows)
    update, widths = Update(model, 0.2), [observations, actions, 1, 1, 1, 1]

    @torch.no_grad()
    def lean_minibatches() -> None:
        for batch in batches:
            parts = rollout[batch].split(widths, 1)
            update.differentiate(parts[0], *parts[:5])
            update.step()

    return {
        "lean": lambda: _fastest(lean_minibatches) / len(batches),
        "one": compiled(1),
        "two": compiled(2),
    }


class _Spaces(gym.Env[Any, Any]):
    """An environment that is only asked for its spaces."""

    def __init__(self, observations: int, actions: int) -> None:
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (observations,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (actions,), np.float32)


def model_of(observations: int, actions: int, hidden: Sequence[int], rows: int) -> PPO:
    """Return a model of PPO with networks of these sizes."""
    envs = DummyVecEnv([lambda: _Spaces(observations, actions)])
    kwargs = {"net_arch": {"pi": list(hidden), "vf": list(hidden)}, "optimizer_kwargs": {"fused": True}}
    return PPO("MlpPolicy", envs, n_steps=ROWS, batch_size=rows, device="cpu", policy_kwargs=kwargs)
