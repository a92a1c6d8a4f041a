"""Differentiable environments: gradients equal differences, values equal those of the vector environment."""

import numpy as np
import pytest
import torch

import tumble
from tumble.envs.gym.differentiable import DifferentiableEnvs

from ..physics.starts import run_with

STEPS, ENVS, LIMIT = 5, 4, 3
"""Episodes end within the steps, so that new ones begin."""
DIFFERENCES = 1e-6
"""Central differences with a length of 1e-5 through a few steps with contacts."""


def flat(observation) -> torch.Tensor:
    """An observation as one tensor (n, size)."""
    parts = observation.values() if isinstance(observation, dict) else [observation]
    return torch.cat([part.flatten(1) for part in parts], 1)


def weighted(part: torch.Tensor, seed: int) -> torch.Tensor:
    """The sum of a tensor's numbers, with random weights."""
    generator = torch.Generator().manual_seed(seed)
    return (part * torch.randn(part.shape, generator=generator, dtype=part.dtype)).sum()


def total(envs: DifferentiableEnvs, actions: torch.Tensor) -> torch.Tensor:
    """A number made of all observations and rewards under actions (steps, num_envs, controls)."""
    observation, _ = envs.reset(seed=0)
    found = torch.zeros((), dtype=actions.dtype)
    for step, action in enumerate(actions):
        observation, reward, _, _, info = envs.step(action)
        found = found + reward.sum() + weighted(flat(observation), step)
        if "final_obs" in info:
            found = found + weighted(flat(info["final_obs"]), step)
    return found


def actions_for(envs: DifferentiableEnvs) -> torch.Tensor:
    """Random actions (steps, num_envs, controls)."""
    generator = torch.Generator().manual_seed(0)
    shape = (STEPS, ENVS, *envs.single_action_space.shape)
    return 0.6 * (torch.rand(shape, generator=generator, dtype=torch.float64) - 0.5)


SLOW = ("Ant", "Humanoid", "Pusher", "FingerSpin", "QuadrupedFlat", "ArmReach", "InvertedDoublePendulum")


@pytest.mark.parametrize(
    "name",
    ["HalfCheetah", "CartPoleSwingUp", "DroneHover", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)],
)
def test_gradients_equal_differences(name):
    run_with("64")
    options = {"rotor_drag": False} if name == "DroneHover" else {}
    envs = DifferentiableEnvs(name, ENVS, max_episode_steps=LIMIT, **options)
    actions = actions_for(envs).requires_grad_()
    total(envs, actions).backward()
    direction = torch.randn(actions.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    with torch.no_grad():
        sides = [total(envs, actions + h * direction) for h in (1e-5, -1e-5)]
    expected, found = (sides[0] - sides[1]) / 2e-5, (actions.grad * direction).sum()
    assert abs(expected) > 1e-3
    assert abs(found - expected) < DIFFERENCES * abs(expected)


def test_values_are_those_of_the_vector_environment():
    run_with("64")
    envs = DifferentiableEnvs("HalfCheetah", ENVS, max_episode_steps=LIMIT)
    usual = tumble.make_vec("HalfCheetah", ENVS, max_episode_steps=LIMIT, output="torch").unwrapped
    first, _ = envs.reset(seed=3)
    assert torch.equal(first, usual.reset(seed=3)[0])
    for action in actions_for(envs):
        mine, theirs = envs.step(action.requires_grad_()), usual.step(action.detach())
        for a, b in zip(mine[:4], theirs[:4], strict=True):
            assert torch.allclose(a.detach(), b, rtol=0, atol=1e-12)  # warm starts are the same; the graph's are copies
    usual.close()


def test_a_vector_environment_makes_its_own():
    run_with("64")
    usual = tumble.make_vec("HalfCheetah", 2, max_episode_steps=7, ctrl_cost_weight=0.5).unwrapped
    envs = usual.differentiable(num_envs=3)
    assert envs.num_envs == 3
    assert envs.task.ctrl_cost_weight == 0.5
    assert envs.single_observation_space == usual.single_observation_space
    envs.reset(seed=0)
    for _ in range(7):
        *_, truncated, _ = envs.step(torch.zeros(3, 6))
    assert truncated.all()


def test_detaching_cuts_the_graph():
    run_with("64")
    envs = DifferentiableEnvs("HalfCheetah", ENVS)
    actions = actions_for(envs).requires_grad_()
    envs.reset(seed=0)
    envs.step(actions[0])
    envs.detach()
    assert not envs.observation.requires_grad
    observation, reward, *_ = envs.step(actions[1])
    (reward.sum() + observation.sum()).backward()
    assert not actions.grad[0].any()
    assert actions.grad[1].any()


def test_inputs_that_depend_on_states_are_refused():
    """The drag of rotors is a force of velocities; without it there is none."""
    run_with("64")
    envs = DifferentiableEnvs("DroneHover", ENVS)
    envs.reset(seed=0)
    actions = torch.zeros(ENVS, 4, requires_grad=True)
    with pytest.raises(NotImplementedError, match=r"drives xfrc_applied .*rotor_drag=False"):
        envs.step(actions)
    with torch.no_grad():
        envs.step(actions)


def test_wrong_uses():
    run_with("64")
    envs = DifferentiableEnvs("HalfCheetah", ENVS)
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        envs.step(torch.zeros(ENVS, 6))
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"shape \(4, 5\); needed is \(4, 6\)"):
        envs.step(torch.zeros(ENVS, 5))
    bad = torch.zeros(ENVS, 6)
    bad[2, 1] = np.nan
    with pytest.raises(ValueError, match="environment 2 are not finite"):
        envs.step(bad)
    with pytest.raises(NotImplementedError, match="pictures"):
        DifferentiableEnvs("PendulumSwingUpPixels", 1)
