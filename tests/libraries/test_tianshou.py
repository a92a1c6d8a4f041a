"""tianshou's collector gets from the page's `Batch` what it gets from single environments."""

import numpy as np
import pytest

from .page import definitions

pytest.importorskip("tianshou")

Batch = definitions("tianshou")["Batch"]


@pytest.mark.filterwarnings("ignore")
def test_the_batch_is_a_list_of_single_environments():
    """Observations, rewards and flags are those of gymnasium.make with seeds s + i; some are left out for a while."""
    import gymnasium
    from tianshou.env import DummyVectorEnv

    import tumble  # noqa: F401 - registers the tasks

    batch = Batch("Hopper", 4)
    single = DummyVectorEnv([lambda: gymnasium.make("tumble/Hopper-v0")] * 4)
    single.seed(5)
    assert len(batch) == len(single) == 4 and batch.action_space == single.action_space and not batch.is_async
    seen, _ = batch.reset(seed=5)
    for i, worker in enumerate(single.workers):
        np.testing.assert_array_equal(seen[i], worker.reset(seed=5 + i)[0])
    rng, ended = np.random.default_rng(0), 0
    for step in range(120):
        ids = np.arange(4) if step < 60 else np.array([0, 2])  # as when enough episodes of the others were collected
        actions = rng.uniform(-1, 1, (len(ids), 3)).astype(np.float32)
        got, expected = batch.step(actions, ids), single.step(actions, ids)
        for one, other in zip(got[:4], expected[:4], strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
        assert [info["env_id"] for info in got[4]] == ids.tolist()
        done = ids[got[2] | got[3]]
        if len(done):
            ended += len(done)
            np.testing.assert_array_equal(batch.reset(done)[0], single.reset(done)[0])
    assert ended > 4
    batch.close()


def test_episodes_are_collected_whole():
    """More of them than environments; returns and lengths are those of the buffer's own rows."""
    names = definitions("tianshou")
    batch = Batch("Hopper", 3)
    net = names["Net"](state_shape=(11,), hidden_sizes=[8])
    policy = names["ProbabilisticActorPolicy"](
        actor=names["ContinuousActorProbabilistic"](preprocess_net=net, action_shape=(3,)),
        dist_fn=lambda both: names["Independent"](names["Normal"](*both), 1),
        action_space=batch.action_space[0],
    )
    buffer = names["VectorReplayBuffer"](6000, 3)
    collector = names["Collector"](policy, batch, buffer)
    collector.reset(gym_reset_kwargs={"seed": 0})
    stats = collector.collect(n_episode=10)
    assert stats.n_collected_episodes == len(stats.returns) == len(stats.lens) == 10
    rows = buffer.sample_indices(0)
    assert len(rows) == stats.lens.sum() == stats.n_collected_steps and buffer.done[rows].sum() == 10
    np.testing.assert_allclose(buffer.rew[rows].sum(), stats.returns.sum(), rtol=1e-5)
    following = buffer.next(rows)
    inside = ~buffer.done[rows] & (following != rows)
    np.testing.assert_array_equal(buffer.obs_next[rows[inside]], buffer.obs[following[inside]])
    collector.collect(n_step=60)
    assert np.isfinite(buffer.obs).all()
