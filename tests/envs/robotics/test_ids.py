"""Every id of Gymnasium-Robotics that is served is made; one of each kind keeps Gymnasium's rules and its bits."""

import importlib.util

import gymnasium
import numpy as np
import pytest
import stable_baselines3 as sb3
import torch

import tumble
from tumble.envs.registry import make_task
from tumble.envs.robotics.table import ROWS
from tumble.training.sb3_bridge import TumbleVecEnv

from . import originals

pytestmark = pytest.mark.skipif(
    not any(importlib.util.find_spec(name) for name in ("gymnasium_robotics", "envpool_assets")),
    reason="no package has the models",
)

KINDS = {row.kind: identity for identity, row in reversed(ROWS.items())}
"""The first id of each class."""
DEFAULT = ("FetchPush", "AntMaze", "AdroitHandDoor")
"""Classes that the default run proves."""
kinds = pytest.mark.parametrize(
    "identity",
    [pytest.param(name, id=kind, marks=[] if kind in DEFAULT else [pytest.mark.slow]) for kind, name in KINDS.items()],
)


def rollout(identity: "str | tumble.envs.Task", num_envs: int, **options) -> list[np.ndarray]:
    """Return what environment 0 observes and earns in 12 steps."""
    envs = tumble.make_vec(identity, num_envs, output="numpy", **options)
    seen, _ = envs.reset(seed=3)
    rng, rows = np.random.default_rng(0), []
    for _ in range(12):
        action = np.zeros(envs.action_space.shape, np.float32)
        action[0] = rng.uniform(-1, 1, action.shape[1:])
        parts = seen.values() if isinstance(seen, dict) else [seen]
        rows.append(np.concatenate([part[0] for part in parts]))
        seen, reward, *_ = envs.step(action)
        rows.append(reward[:1])
    envs.close()
    return rows


def test_all_of_the_package_are_there():
    if not originals.available():
        pytest.skip("Gymnasium-Robotics is not installed")
    originals.register()
    families = ("Fetch", "Hand", "Adroit", "FrankaKitchen", "PointMaze", "AntMaze")
    newest = {}
    for spec in gymnasium.registry.values():
        if "gymnasium_robotics.envs" in str(spec.entry_point) and spec.name.startswith(families):
            newest[spec.name] = max(spec.version, newest.get(spec.name, 0))
    assert {f"gymnasium_robotics/{name}-v{version}" for name, version in newest.items()} == set(ROWS)
    for identity, row in ROWS.items():
        assert gymnasium.registry[identity.partition("/")[2]].max_episode_steps == row.max_episode_steps
        assert f"tumble/{row.alias}-v0" in gymnasium.registry


@kinds
def test_gymnasiums_rules(identity):
    tumble.check_vector_env(identity, num_envs=3)


@kinds
def test_the_same_bits_in_any_batch(identity):
    one, five, many = (rollout(identity, n) for n in (1, 5, 64))
    for a, b, c in zip(one, five, many, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


@kinds
def test_in_mujoco(identity, double_precision):
    """The same task in MuJoCo's C: its numbers drift apart by contacts only."""
    ours, theirs = rollout(identity, 2), rollout(identity, 2, simulator="mujoco")
    np.testing.assert_allclose(ours[0], theirs[0], atol=1e-9)
    np.testing.assert_allclose(ours[2], theirs[2], atol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("identity", ROWS)
def test_each_is_made_and_stepped(identity):
    envs = tumble.make_vec(identity, 2, output="numpy")
    envs.reset(seed=0)
    envs.action_space.seed(0)
    for _ in range(3):
        seen, reward, *_ = envs.step(envs.action_space.sample())
    assert np.isfinite(reward).all() and envs.observation_space.contains(seen)
    envs.close()


@kinds
def test_the_same_in_torch(identity):
    """Tasks are written in the array API: torch's arrays, as on a GPU, give the same numbers."""
    kind = type(make_task(identity, {}))
    in_torch = type(f"{kind.__name__}InTorch", (kind,), {"array_library": "torch"})
    ours, theirs = rollout(identity, 3), rollout(in_torch(**ROWS[identity].options), 3)
    np.testing.assert_allclose(theirs[0], ours[0], atol=1e-6)
    np.testing.assert_allclose(theirs[2], ours[2], atol=1e-2)


def test_hindsight_replay(double_precision):
    """SB3's buffer exchanges goals for those that were reached later, and gets their rewards through the bridge."""
    venv = TumbleVecEnv(tumble.make_vec("gymnasium_robotics/FetchReach-v4", 4, max_episode_steps=20))
    buffer = {"replay_buffer_class": sb3.HerReplayBuffer, "buffer_size": 2000, "learning_starts": 200}
    model = sb3.SAC("MultiInputPolicy", venv, batch_size=32, train_freq=8, seed=0, device="cpu", **buffer)
    model.learn(400)
    batch = model.replay_buffer.sample(400)
    seen = batch.next_observations
    rewards = -((seen["achieved_goal"] - seen["desired_goal"]).norm(dim=1) > 0.05).float()
    torch.testing.assert_close(batch.rewards[:, 0], rewards)
    assert (rewards == 0).float().mean() > 0.05
    venv.close()
