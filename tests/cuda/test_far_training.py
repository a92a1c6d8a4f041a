"""Training with environments whose solver's numbers are not the processor's: the same policies, one copy a step."""

import numpy as np
import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.save_util import load_from_zip_file
from stable_baselines3.common.vec_env import VecNormalize

import tumble
from tumble.envs.v5.inverted_pendulum import InvertedPendulum
from tumble.training.config import PPOConfig, RunConfig
from tumble.training.evaluate import evaluate
from tumble.training.learning import learner
from tumble.training.learning.compiled_ppo import CompiledPPO
from tumble.training.learning.lean_ppo import LeanPPO
from tumble.training.learning.tensor_rollouts import TensorRollouts
from tumble.training.sb3_bridge import TumbleVecEnv
from tumble.training.train import resume, train

from ..physics.starts import run_in_columns, run_with
from .far_device import NAME, waits

NUM_ENVS, LIMIT = 4, 6
WAITS = 3
"""Of a step with Stable-Baselines3: its actions, copied to the device; has anybody a fault or ended; the results."""
WAITS_OF_TORCH = {"rsl_rl": 2, "skrl": 3}
"""Of a step with a library that speaks torch: are all actions finite; has anybody a fault or ended. Skrl brings actions
to the processor, from where they are copied back."""
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


def test_the_bridge_to_sb3_copies_once(far):
    run_with("32")
    near, _ = seen(bridged())
    run_in_columns(device=NAME)
    found, counts = seen(bridged())
    assert all(np.array_equal(one, other) for one, other in zip(near, found, strict=True))
    assert counts == [(WAITS + WAITS_TO_RESET * ended, ended) for _, ended in counts]
    assert {ended for _, ended in counts} == {False, True}


def test_a_run_learns_what_it_learns_on_the_processor(far, tmp_path):
    """To the bit: trained, interrupted, resumed and evaluated. What it saved can be read without the device."""
    config = RunConfig.packaged("tumble/InvertedPendulum-v0", "ppo")
    steps = config.ppo.n_steps * 16
    config = config.change({"ppo.learner": "lean"}).replace(num_envs=16, total_steps=steps)
    policies, scores = [], []
    for device in ("cpu", NAME):
        run_with("32") if device == "cpu" else run_in_columns(device=device)
        run = train(config, tmp_path / device, progress=False).run
        run = resume(run.folder, total_steps=2 * steps, progress=False).run
        state = torch.load(run.latest() / "state.pt", weights_only=True)
        policies.append(torch.load(run.latest() / "state.pt", weights_only=True)["normalizer"]["observations"]["mean"])
        assert state["bridge"]["returns"].device.type == "cpu" and state["num_timesteps"] == 2 * steps
        scores.append(evaluate(run, episodes=3).returns)
    assert scores[0] == scores[1] and torch.equal(*policies)


def in_a_row(tensors):
    """All numbers of some tensors, a copy on the processor."""
    return torch.cat([tensor.detach().cpu().flatten() for tensor in tensors])


def optimize_moved(model):
    """Give the optimizer the parameters on the device: torch moves them to a GPU in place, here it copies."""
    model.policy.optimizer.param_groups[0]["params"] = list(model.policy.parameters())


def test_the_lean_learner_learns_on_the_device(far):
    """Its networks lie there, too: the gradient of an update is the processor's, to rounding, and changes them."""
    run_in_columns(device=NAME)
    gradients = []
    for device in ("cpu", str(far)):
        model = LeanPPO("MlpPolicy", bridged(), n_steps=16, batch_size=64, n_epochs=1, seed=1, device=device)
        optimize_moved(model)
        before = in_a_row(model.policy.parameters())
        model.learn(16 * NUM_ENVS)
        gradients.append(in_a_row([parameter.grad for parameter in model.policy.parameters()]))
        assert bool((in_a_row(model.policy.parameters()) != before).any())
        assert model.policy.log_std.device.type == torch.device(device).type
    torch.testing.assert_close(*gradients, rtol=0, atol=1e-6)


class Watch(BaseCallback):
    """Keeps rollouts, how often each step waited but the first of an iteration, and whether an episode ended there."""

    def __init__(self):
        super().__init__()
        self.rollouts, self.counts, self.begins = [], [], False

    def _on_rollout_start(self):
        self.begins = True

    def _on_step(self):
        if not self.begins:
            self.counts.append((len(waits), "final_obs" in self.model.env.venv.info))
        self.begins = False
        waits.clear()
        return True

    def _on_rollout_end(self):
        self.rollouts.append(self.model._memory.rows[:-2].cpu().clone())


def test_the_compiled_learners_rollouts_stay_on_the_device(far):
    """They are the processor's, to rounding. A step waits as often as one of the environments, so does none besides."""
    seen, weights = [], []
    for device in ("cpu", str(far)):
        run_with("32") if device == "cpu" else run_in_columns(device=NAME)
        options = {"n_steps": 16, "batch_size": 32, "n_epochs": 2, "seed": 1}
        model, watch = CompiledPPO("MlpPolicy", VecNormalize(bridged()), **options, device=device), Watch()
        optimize_moved(model)
        model.learn(2 * 16 * NUM_ENVS, callback=watch)
        assert isinstance(model._memory, TensorRollouts) == (device != "cpu")
        seen.append(watch.rollouts)
        weights.append(in_a_row(model.policy.parameters()))
    torch.testing.assert_close(*map(torch.stack, seen), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(*weights, rtol=0, atol=1e-5)
    waiting = WAITS_OF_TORCH["rsl_rl"]
    assert set(watch.counts) == {(waiting, False), (waiting + WAITS_TO_RESET, True)}


def test_the_compiled_learner_goes_on_to_the_bit_on_the_device(far, tmp_path, monkeypatch):
    original = learner.make_model

    def on_the_device(config, venv):
        model = original(config.replace(device=str(far)), venv)
        optimize_moved(model)
        return model

    monkeypatch.setattr(learner, "make_model", on_the_device)
    parameters = CompiledPPO.get_parameters  # torch's files have no tensors of this device
    monkeypatch.setattr(CompiledPPO, "get_parameters", lambda model: learner._on_host(parameters(model)))
    run_in_columns(device=NAME)
    ppo = PPOConfig(n_steps=16, batch_size=32, n_epochs=2, learner="compiled")
    config = RunConfig("tumble/InvertedPendulum-v0", "ppo", num_envs=NUM_ENVS, total_steps=4 * 64, ppo=ppo)

    def weights(run):
        return in_a_row(load_from_zip_file(run.latest() / "model.zip", load_data=False)[1]["policy"].values())

    whole = weights(train(config, tmp_path / "whole", progress=False).run)
    run = train(config.replace(total_steps=2 * 64), tmp_path / "part", progress=False).run
    assert not torch.equal(weights(run), whole)
    assert torch.equal(weights(resume(run.folder, total_steps=4 * 64, progress=False).run), whole)


def tensors_seen(step, observe):
    """What a library that speaks torch gets of some steps, and how often each waited."""
    found, counts = [observe()], []
    for action in np.linspace(-3, 3, 15, dtype=np.float32):
        actions = torch.full((NUM_ENVS, 1), float(action), device=found[0].device)
        waits.clear()
        found += step(actions)
        counts.append(len(waits))
    return found, counts


def through_rsl_rl(envs):
    """Through the bridge: observations, rewards, dones, time-outs."""
    from tumble.training.rsl_rl import RslRlVecEnv

    env = RslRlVecEnv(envs)
    env.reset(seed=0)

    def step(actions):
        observations, rewards, dones, extras = env.step(actions)
        return [observations["policy"], rewards, dones, extras["time_outs"]]

    return tensors_seen(step, lambda: env.get_observations()["policy"])


def through_skrl(envs):
    """Through skrl's own wrapper: observations, rewards, terminations, truncations."""
    from skrl.envs.wrappers.torch import wrap_env

    env = wrap_env(envs, verbose=False)
    return tensors_seen(lambda actions: list(env.step(actions)[:4]), lambda: env.reset()[0])


class Pendulum(InvertedPendulum):
    """Computed in torch on the processor, too."""

    array_library = "torch"


@pytest.mark.parametrize(("library", "through"), [("rsl_rl", through_rsl_rl), ("skrl", through_skrl)])
def test_libraries_that_speak_torch_get_tensors_of_the_device(far, library, through):
    """Nothing more is copied or waited for than by a step of the environments, but for skrl's actions."""
    pytest.importorskip(library)
    found = []
    for device in ("cpu", NAME):
        run_with("32") if device == "cpu" else run_in_columns(device=device)
        envs = tumble.make_vec(Pendulum, NUM_ENVS, max_episode_steps=LIMIT)
        envs.reset(seed=0)
        found.append(through(envs))
    (near, _), (there, counts) = found
    assert all(one.device == far and torch.equal(one.cpu(), other) for one, other in zip(there, near, strict=True))
    assert set(counts) == {WAITS_OF_TORCH[library], WAITS_OF_TORCH[library] + WAITS_TO_RESET}
