"""The benchmark of training: every side trains, in this process, and the table compares them."""

import pytest

from tumble.benchmarks import learning, throughput


@pytest.fixture
def one_process(monkeypatch):
    """Sides run here, small, and not in children; the processes of `SubprocVecEnv` would start this one again."""

    def train(task, side, threads):
        job = {"device": "host", "learner_device": "cpu", "n_steps": 4, "batch_size": 8, "rounds": 1}
        kind = {"subproc": "dummy"}.get(side.vector_env, side.vector_env)
        what = throughput.ThroughputJob(task, **job, num_envs=2, learner=side.learner, vector_env=kind, threads=threads)
        return throughput.measure(what)["steps/s"]

    monkeypatch.setattr(learning, "_train", train)


@pytest.mark.usefixtures("one_process")
def test_every_side_trains():
    result = learning.run(["Hopper"], rounds=1, threads=1)
    rows = result.tables[0].rows
    assert [row["environments"] for row in rows] == [side.environments for side in learning.SIDES]
    assert rows[0]["ratio"] == 1 and all(row["steps/s"] > 0 for row in rows)
    for row in rows[1:]:
        assert row["ratio"] == pytest.approx(rows[0]["steps/s"] / row["steps/s"])


@pytest.mark.slow
def test_processes_train():
    """The side of `SubprocVecEnv` trains in a process of its own, with its environments in further ones."""
    assert learning._train("Hopper", learning.SIDES[-1], 1) > 0


@pytest.mark.slow
def test_a_side_that_fails_says_why():
    with pytest.raises(RuntimeError, match=r"(?s)Nowhere, Tumble:.*no packaged ppo configuration"):
        learning._train("Nowhere", learning.SIDES[0], 1)
