"""The example of robustness: its task differs as it says, and its program trains, plays and draws."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
import torch

import tumble

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "tasks"


@pytest.fixture(scope="module")
def robust() -> Iterator:
    """The example's task as a module; what it registers is forgotten afterwards."""
    registered = dict(gym.registry)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
        import robust

        yield robust
    del sys.modules["robust"]
    gym.registry.clear()
    gym.registry.update(registered)


def play(robust, term, strength):
    """Stand for 40 steps of 8 environments: all observations, and the environments' numbers."""
    envs = tumble.make_vec(robust.Robust, 8, term=term, strength=strength, max_episode_steps=1000)
    try:
        seen = [envs.reset(seed=0)[0]]
        seen += [envs.step(torch.full((8, 12), 0.1 * (-1) ** k))[0] for k in range(40)]
        mass, gains = (envs.solver.get_parameters(name) for name in ("body_mass", "actuator_gainprm"))
        return torch.stack(seen), mass, gains[..., 0]
    finally:
        envs.close()


def test_terms_differ_as_they_say(robust):
    """Each in what it names; with a strength of 0 nothing differs from the packaged task."""
    plain, mass, gains = play(robust, "", 0.0)
    envs = tumble.make_vec("tumble/QuadrupedFlat-v0", 8)
    try:
        assert torch.equal(envs.reset(seed=0)[0], plain[0])
    finally:
        envs.close()
    _, heavier, same = play(robust, "mass", 1.0)
    added = (heavier - mass)[:, 1].numpy()
    assert np.ptp(added) > 1.0 and added.min() > -1.5 and added.max() < 5.0 and torch.equal(same, gains)
    _, _, servos = play(robust, "kp", 1.0)
    share = (servos / gains).numpy()
    assert share.min() > 0.65 and share.max() < 1.35 and np.ptp(share) > 0.2
    late, *_ = play(robust, "delay", 1.0)
    assert torch.equal(late[0], plain[0]) and not torch.equal(late[1], plain[1])
    noisy, *_ = play(robust, "noise", 1.0)
    error = (noisy[0] - plain[0]).abs().numpy()
    assert 0.1 < error[:, :3].max() < 0.15 and 1.0 < error[:, 21:33].max() < 2.0 and error[:, 33:].max() == 0
    biased, *_ = play(robust, "encoder", 1.0)
    off = (biased[0] - plain[0]).abs().numpy()
    assert 0.04 < off[:, 9:21].max() < 0.06 and off[:, :9].max() == 0


@pytest.mark.slow
def test_the_program_trains_and_draws(tmp_path):
    """With one term and few steps, here."""
    arguments = ["--terms", "push", "--strengths", "0", "2", "--steps", "24576", "--episodes", "4"]
    command = [sys.executable, str(EXAMPLES / "robustness.py"), *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "robustness.png").read_bytes()[1:4] == b"PNG"
    assert sum(line.startswith("push") for line in done.stdout.splitlines()) == 2
