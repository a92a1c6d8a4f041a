"""Environment steps with resets and observations: Tumble's vector environment against envpool's and Gymnasium's."""

from collections.abc import Callable, Sequence
from typing import Any

from ..physics.machine.libraries import pip_install
from ..physics.machine.runtime import init
from .peers import Peer, envpool_peer, gymnasium_peer, has_envpool, tumble_peer
from .results import BenchmarkResult, Table, Verdict
from .timing import Sample, take_turns

WARM_UP_STEPS = 100
"""Random steps before the first timed one: episodes of the tasks that fall have then spread out."""
GYMNASIUM_ENVS = 4
FASTER_THAN_ENVPOOL, FASTER_THAN_GYMNASIUM, SCALING = 3.0, 10.0, 1.8
COLUMNS = {
    "task": "",
    "Tumble steps/s": ",.0f",
    "envpool": ",.0f",
    "ratio": ".2f",
    "low": ".2f",
    "high": ".2f",
    "Tumble, one thread": ",.0f",
    "over one": ".2f",
    "Gymnasium": ",.0f",
    "ratio ": ".1f",
    "low ": ".1f",
    "high ": ".1f",
}
ENDS_COLUMNS = {"task": "", "side": "", "ends per 1000 steps": ".1f"}


def run(models: Sequence[str], num_envs: int, steps: int, rounds: int, threads: int) -> BenchmarkResult:
    """Compare every task in its v5 settings.

    Args:
        models: names of tasks, such as "Ant".
        num_envs: environments of Tumble and envpool; Gymnasium's environments, which run one after the other, are few.
        steps: environment steps of one timed stretch; Gymnasium takes as many steps in all as fit its few environments.
        rounds: of which medians are taken.
        threads: of Tumble and envpool; against Gymnasium Tumble runs on one.
    """
    init(precision="32", threads=threads)
    speed = Table(
        f"Environment steps a second (v5 settings, random actions, resets included): {num_envs} environments and "
        f"{threads} threads against envpool; one thread against Gymnasium's SyncVectorEnv of {GYMNASIUM_ENVS}",
        COLUMNS,
    )
    ends = Table("Episodes that ended, to see that all do the same", ENDS_COLUMNS)
    result = BenchmarkResult([speed, ends])
    result.notes.append(
        "envpool and Gymnasium spend a step on every reset and it counts; Tumble resets in the same step."
    )
    if not has_envpool():
        result.notes.append(f"envpool is not installed, so it was left out: {pip_install('bench')}")
    for task in models:
        _compare(result, task, num_envs, steps, rounds, threads)
    return result


def _compare(result: BenchmarkResult, task: str, num_envs: int, steps: int, rounds: int, threads: int) -> None:
    peers = {
        "Tumble": tumble_peer(task, num_envs, threads),
        "Tumble, one thread": tumble_peer(task, num_envs, 1),
        "Gymnasium": gymnasium_peer(task, GYMNASIUM_ENVS),
    }
    if has_envpool():
        peers["envpool"] = envpool_peer(task, num_envs, threads)
    ended = dict.fromkeys(peers, 0)
    for peer in peers.values():
        peer.step(WARM_UP_STEPS)
    stretches = {name: max(steps, WARM_UP_STEPS) if name == "Gymnasium" else steps for name in peers}
    sides = {name: _side(name, peer, stretches[name], ended) for name, peer in peers.items()}
    samples = take_turns(sides, rounds)
    counts = {name: peer.num_envs * stretches[name] for name, peer in peers.items()}
    row = _row(task, samples, counts)
    result.tables[0].rows.append(row)
    for name in peers:
        share = ended[name] / (counts[name] * (rounds + 1)) * 1000
        result.tables[1].rows.append({"task": task, "side": name, "ends per 1000 steps": share})
    if "envpool" in peers:
        result.verdicts.append(Verdict(f"{task}: times envpool's steps a second", row["ratio"], FASTER_THAN_ENVPOOL))
    if threads > 1:
        result.verdicts.append(Verdict(f"{task}: {threads} threads over one", row["over one"], SCALING))
    result.verdicts.append(
        Verdict(f"{task}: times Gymnasium's steps a second on one thread", row["ratio "], FASTER_THAN_GYMNASIUM)
    )


def _side(name: str, peer: Peer, steps: int, ended: dict[str, int]) -> Callable[[], float]:
    def stretch() -> float:
        seconds, ends = peer.step(steps)
        ended[name] += ends
        return seconds

    return stretch


def _row(task: str, samples: dict[str, Sample], counts: dict[str, int]) -> dict[str, Any]:
    per_step = {
        name: Sample(tuple(s / counts[name] for s in sample.seconds))
        for name, sample in samples.items()  # seconds of one environment step
    }
    row: dict[str, Any] = {"task": task, "seconds a step": {name: sample.seconds for name, sample in per_step.items()}}
    row |= {"Tumble steps/s": 1 / per_step["Tumble"].median}
    row |= {"Tumble, one thread": 1 / per_step["Tumble, one thread"].median}
    row |= {"over one": per_step["Tumble"].times_faster_than(per_step["Tumble, one thread"]).median}
    row |= {"Gymnasium": 1 / per_step["Gymnasium"].median}
    ratio = per_step["Tumble, one thread"].times_faster_than(per_step["Gymnasium"])
    row |= {"ratio ": ratio.median, "low ": ratio.low, "high ": ratio.high}
    if "envpool" in per_step:
        ratio = per_step["Tumble"].times_faster_than(per_step["envpool"])
        row |= {"envpool": 1 / per_step["envpool"].median}
        row |= {"ratio": ratio.median, "low": ratio.low, "high": ratio.high}
    return row
