"""Training with environments whose solver's numbers are not the processor's: the same policies, one copy a step."""

import numpy as np
import pytest
import torch

import tumble
from tumble.physics.runtime import init_columns
from tumble.training.config import RunConfig
from tumble.training.evaluate import evaluate
from tumble.training.lean_ppo import LeanPPO
from tumble.training.sb3_bridge import TumbleVecEnv
from tumble.training.train import resume, train

from .far_device import NAME, waits

NUM_ENVS, LIMIT = 4, 6
WAITS = 3
"""Of a step with Stable-Baselines3: its actions, copied to the device; has anybody a fault or ended; the results."""
WAITS_TO_RESET = 1
"""More where environments begin anew: can they start where the task puts them?"""


def bridged():
    """Stable-Baselines3's view of a few pendulums with short episodes."""
    return TumbleVecEnv(tumble.make_vec("InvertedPendulum", NUM_ENVS, max_episode_steps=LIMIT))


def seen(venv):
    """What Stable-Baselines3 gets of some steps, and how often each waited."""
    venv.seed(0)
    found, counts = [venv.reset()], []
    for action in np.linspace(-3, 3, 15, dtype=np.float32):
        waits.clear()
        observations, rewards, dones, infos = venv.step(np.full((NUM_ENVS, 1), action))
        counts.append((len(waits), bool(dones.any())))
        assert all(isinstance(array, np.ndarray) for array in (observations, rewards, dones))
        found += [observations, rewards, dones]
        for info in infos:
            found += [info["terminal_observation"], list(info["episode"].values())[:2]] if info else []
    return found, counts


@pytest.mark.long
def test_the_bridge_to_sb3_copies_once(far):
    tumble.init(precision="32", lanes=1)
    near, _ = seen(bridged())
    init_columns(device=NAME)
    found, counts = seen(bridged())
    assert all(np.array_equal(one, other) for one, other in zip(near, found, strict=True))
    assert counts == [(WAITS + WAITS_TO_RESET * ended, ended) for _, ended in counts]
    assert {ended for _, ended in counts} == {False, True}


@pytest.mark.long
def test_a_run_learns_what_it_learns_on_the_processor(far, tmp_path):
    """To the bit: trained, interrupted, resumed and evaluated. What it saved can be read without the device."""
    config = RunConfig.packaged("tumble/InvertedPendulum-v0", "ppo")
    steps = config.ppo.n_steps * 16
    config = config.replace(num_envs=16, total_steps=steps)
    policies, scores = [], []
    for device in ("cpu", NAME):
        tumble.init(precision="32", lanes=1) if device == "cpu" else init_columns(device=device)
        run = train(config, tmp_path / device, progress=False).run
        run = resume(run.folder, total_steps=2 * steps, progress=False).run
        state = torch.load(run.latest() / "state.pt", weights_only=True)
        policies.append(torch.load(run.latest() / "state.pt", weights_only=True)["normalizer"]["observations"]["mean"])
        assert state["bridge"]["returns"].device.type == "cpu" and state["num_timesteps"] == 2 * steps
        scores.append(evaluate(run, episodes=3).returns)
    assert scores[0] == scores[1] and torch.equal(*policies)


@pytest.mark.long
def test_the_lean_learner_learns_on_the_device(far):
    """Its networks, too: the same weights as on the processor, to rounding."""
    init_columns(device=NAME)
    weights = []
    for device in ("cpu", str(far)):
        model = LeanPPO("MlpPolicy", bridged(), n_steps=16, batch_size=32, n_epochs=2, seed=1, device=device)
        # To a GPU torch moves parameters in place; to this device they are made anew.
        model.policy.optimizer.param_groups[0]["params"] = list(model.policy.parameters())
        model.learn(128)
        weights.append(torch.cat([parameter.detach().cpu().flatten() for parameter in model.policy.parameters()]))
        assert model.policy.log_std.device.type == torch.device(device).type
    assert float((weights[0] - weights[1]).abs().max()) < 1e-5
