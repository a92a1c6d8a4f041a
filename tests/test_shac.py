"""The example of analytic policy gradients: its gradient, its returns, and that it learns."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from .page_programs import ROOT, as_in_a_new_process, blocks, execute
from .physics.starts import run_with

PROGRAM = ROOT / "examples" / "gradients" / "shac.py"
DIFFERENCES = 1e-6
"""Central differences with a length of 1e-5 through a horizon without contacts."""
ROUNDING = 1e-12


@pytest.fixture
def shac(tmp_path: Path) -> ModuleType:
    """The program, imported."""
    with as_in_a_new_process(tmp_path, {PROGRAM.name: PROGRAM.read_text("utf-8")}):
        import shac

        yield shac


def small(shac: ModuleType):
    """A learner whose episodes end within the horizon."""
    return shac.Shac(shac.Settings(task="CartPoleSwingUp", option={}, num_envs=4, horizon=7, episode=3, hidden=8))


def earned(learner, seed: int = 5):
    """What a horizon earns from the same starts, with the same draws of actions."""
    learner.envs.reset(seed)
    torch.manual_seed(seed)
    return learner.earned()


def test_the_actors_gradient_equals_differences(shac):
    """Through policy, physics, reward, ends of episodes and the critic's value, by all of the actor's parameters."""
    run_with("64")
    learner = small(shac)
    weights = list(learner.actor.parameters())
    earned(learner)[0].mean().backward()
    generator = torch.Generator().manual_seed(1)
    direction = [torch.randn(w.shape, generator=generator, dtype=w.dtype) for w in weights]
    found = sum((w.grad * d).sum() for w, d in zip(weights, direction, strict=True))
    sides = []
    with torch.no_grad():
        for step in (1e-5, -2e-5):  # to one side, then to the other
            for w, d in zip(weights, direction, strict=True):
                w += step * d
            sides.append(earned(learner)[0].mean())
    expected = (sides[0] - sides[1]) / 2e-5
    assert abs(expected) > 1e-3
    assert abs(found - expected) < DIFFERENCES * abs(expected)
    learner.envs.close()


def test_returns_are_the_mean_of_all_lengths(shac):
    """As TD(lambda) is defined: of n steps and the value after them, each with its weight; cut ends take the rest."""
    run_with("64")
    learner = small(shac)
    _, steps = earned(learner)
    steps[4].terminated[1] = steps[4].cut[1] = True
    gamma, share, horizon = learner.settings.gamma, learner.settings.td_lambda, len(steps)
    with torch.no_grad():
        values = [learner.target(learner.normaliser(step.following))[:, 0].numpy() for step in steps]
    returns = learner.returns(steps).numpy()
    for env in range(4):
        for first in range(horizon):
            reward, expected, weight = 0.0, 0.0, 1.0
            for at in range(first, horizon):
                power = gamma ** (at - first)
                reward += power * steps[at].reward[env].item()
                sure = steps[at].terminated[env].item()
                whole = reward + (0.0 if sure else gamma * power * values[at][env])
                if steps[at].cut[env]:
                    expected += weight * whole
                    break
                expected += weight * (1 - share) * whole
                weight *= share
            assert abs(returns[first, env] - expected) < ROUNDING * max(1, abs(expected))
    learner.envs.close()


def test_the_drone_learns_to_hover(shac):
    """Within 25 updates of seconds altogether; at first it falls."""
    run_with("32")
    first, last = shac.train(shac.Settings(updates=25, evaluate_every=25))
    assert first["mean"] < 10 and last["mean"] > 50
    assert last["step"] == 25 * 64 * 16 and np.isfinite(last["cpu_seconds"])


def test_the_pages_program_has_a_gradient():
    run_with("64")
    names = execute(blocks("gradients", after="## Analytic policy gradients")[0])
    assert names["policy"].weight.grad.abs().max() > 0
    names["envs"].close()
