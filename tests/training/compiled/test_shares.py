"""Several processes with parts of a minibatch make the step of one with all of it."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tumble.training.compiled.minibatches import Shared
from tumble.training.compiled.rollout_memory import Statistics, take_in
from tumble.training.distributed import SINGLE_PROCESS, moments_of
from tumble.training.learning.compiled_ppo import _shared
from tumble.training.learning.shares import Shares, draw_shares
from tumble.training.processes import GroupError, Processes

from .groups import in_groups
from .networks import random_case

WEIGHTS = 2e-6
"""After ten steps: `test_minibatches.WEIGHTS`, twice."""


def split(batches, rows, group):
    """A process' rows of minibatches: of three processes the last has few."""
    bounds = np.linspace(0, 1, group.size + 1) ** 0.5 * rows
    low, high = (int(bounds[group.rank + k]) for k in (0, 1))
    return [batch[(batch >= low) & (batch < high)] for batch in batches]


@pytest.mark.parametrize("seed", [1, 3, 6, 12])
@pytest.mark.parametrize("size", [2, 3])
def test_parts_of_minibatches_make_the_steps_of_the_whole(seed, size):
    """Cases have 1 to 1,100 rows, so that a process may have none; Gaussians and choices, with the entropy's slope."""
    case = random_case(seed, ent_coef=0.01, desired_kl=0.02)
    torch.manual_seed(1)
    batches = [torch.randperm(len(case.rollout))[: case.n] for _ in range(10)]
    sizes = np.array([len(batch) for batch in batches])
    networks = case.compiled()
    whole = networks.run(case.rollout, case.columns, batches, case.settings)

    def work(group):
        rows, mine = split(batches, len(case.rollout), group), case.compiled()
        advantages = case.rollout[:, case.columns.actions + mine.numbers + 1]
        shared = _shared(Shares(group, rows, sizes), advantages, case.settings.normalize)
        report = mine.run(case.rollout, case.columns, rows, case.settings, shared)
        return report, torch.cat([mine.actor.vectors[0], mine.critic.vectors[0]])

    results = in_groups(size, work)
    expected = torch.cat([networks.actor.vectors[0], networks.critic.vectors[0]])
    for report, vector in results:
        assert report == results[0][0] and torch.equal(vector, results[0][1])
        np.testing.assert_allclose(vector, expected, rtol=0, atol=WEIGHTS)
        assert report.rate == whole.rate and report.done == whole.done
        assert report.figures == pytest.approx(whole.figures, rel=1e-4, abs=1e-5)


def test_an_error_of_the_exchange_ends_the_update():
    """It is raised by `run`, after the minibatch in which it happened."""
    case, calls = random_case(6), []

    def fail(numbers):
        calls.append(len(numbers))
        raise RuntimeError("connection closed")

    batches = [torch.arange(case.n)] * 5
    shared = Shared(np.full(5, case.n), np.zeros((5, 2), np.float32), fail, True)
    networks = case.compiled()
    with pytest.raises(RuntimeError, match="connection closed"):
        networks.run(case.rollout, case.columns, batches, case.settings, shared)
    assert len(calls) == 1
    assert networks.run(case.rollout, case.columns, batches, case.settings).done == 5


def test_draws_are_those_of_one_process():
    """Each row of a minibatch is in one process, and all have the same sizes."""

    def work(group):
        return draw_shares(10, 7, 2, group)

    np.random.seed(3)
    whole = draw_shares(30, 7, 2, SINGLE_PROCESS)
    parts = []
    for rank in range(3):
        np.random.seed(3)
        group = type("ProcessGroup", (), {"rank": rank, "size": 3})()
        parts.append(work(group))
    for k, rows in enumerate(whole.rows):
        together = [part.rows[k] + 10 * rank for rank, part in enumerate(parts)]
        assert sorted(torch.cat(together).tolist()) == sorted(rows.tolist())
        assert all(part.sizes[k] == len(rows) for part in parts)


def test_statistics_are_those_of_all_rows():
    """Several statistics are merged by one exchange; statistics with `learns = False` do not change."""
    x, y = torch.randn(90, 5) * 3 + 100, torch.randn(90, 2)

    def statistics():
        return [
            Statistics(np.zeros(n), np.ones(n), np.array([1e-4]), True, learns, 10.0) for n, learns in ((5, 1), (2, 0))
        ]

    def work(group):
        mine = statistics()
        for rows in (slice(0, 30), slice(30, 90)):
            part = [one[rows].chunk(group.size)[group.rank] for one in (x, y)]
            take_in(mine, part, group)
        return mine

    expected = work(SINGLE_PROCESS)
    for found in in_groups(3, work):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a.mean, b.mean, rtol=1e-14)
            np.testing.assert_allclose(a.variance, b.variance, rtol=1e-12)
            assert a.count == b.count
    assert expected[1].count == 1e-4
    count, mean, squares = moments_of(x).unbind(1)
    np.testing.assert_allclose(expected[0].mean, mean, rtol=1e-4)
    np.testing.assert_allclose(expected[0].variance, squares / count, rtol=1e-1)


def test_other_weights_are_refused_with_the_number_of_their_process():
    """All processes have the same sentence; a difference in the last bit is one."""

    def work(group):
        group._heartbeat = SimpleNamespace(name=lambda rank: f"process {rank} on node{rank}")
        weights = torch.tensor([1.0, 2.0 + 2e-7 * (group.rank == 2)])
        Processes.require_equal(group, "weights", torch.tensor([1.0, 2.0]))
        with pytest.raises(GroupError, match="process 2 on node2: weights differ from those of process 0"):
            Processes.require_equal(group, "weights", weights)
        return True

    assert in_groups(3, work) == [True] * 3
