"""Environments whose solver's numbers are not the processor's: the same episodes, in tensors of the device."""

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

import tumble
from tumble.envs.arrays import ArrayKind
from tumble.envs.registry import V5, make_task
from tumble.envs.task.noise import Streams
from tumble.envs.v5.inverted_pendulum import InvertedPendulum
from tumble.physics.run.taichi_kernel import TaichiKernel
from tumble.wrappers import NormalizeObservation, NormalizeReward, RecordEpisodeStatistics

from ..physics.starts import run_in_columns, run_with
from .far_device import NAME, waits

NUM_ENVS, LIMIT, STEPS = 6, 5, 12
BROKEN = 4  # the environment that a user puts where no physics is possible
WAITS = 2
"""Of a step under actions that are on the device: are all finite; has anybody a fault, and how many are done?"""
WAITS_TO_RESET = 1
"""More where environments begin anew: can they start where the task puts them?"""


def flat(result):
    """Every array that a user gets, in a fixed order, as the processor's tensors."""
    if isinstance(result, dict):
        return [array for _, value in sorted(result.items()) for array in flat(value)]
    if isinstance(result, tuple | list):
        return [array for value in result for array in flat(value)]
    return [result]


def begin(envs):
    """A first reset, whose episodes are not of one age; and a later one of some environments."""
    begun = envs.reset(seed=3, options={"elapsed_steps": [0, 1, 2, 0, 0, 4]})
    chosen = torch.as_tensor([True, False, True, False, False, False], device=envs.device)
    return [begun, envs.reset(seed=[7, None, 8, None, None, None], options={"reset_mask": chosen})]


def steps(envs, actions):
    """What steps bring, with resets by hand where there are no others."""
    found = []
    for action in actions:
        found.append(envs.step(action))
        done = found[-1][2] | found[-1][3]
        if envs.autoreset_mode is AutoresetMode.DISABLED and bool(done.any()):
            found.append(envs.reset(options={"reset_mask": done}))
    return found


def in_torch(name):
    """A task that computes in torch on the processor too, whose roots torch rounds otherwise than numpy."""
    kind = type(make_task(name, {}))
    return type(name, (kind,), {"array_library": "torch", "__module__": kind.__module__})


def life(name, mode):
    """Every array of a user who does what can be done with environments."""
    envs = tumble.make_vec(in_torch(name), NUM_ENVS, max_episode_steps=LIMIT, autoreset_mode=mode)
    found, generator = begin(envs), torch.Generator().manual_seed(0)
    actions = 2 * torch.rand((STEPS, NUM_ENVS, *envs.single_action_space.shape), generator=generator) - 1
    found += steps(envs, actions.to(envs.device)[:5]) + steps(envs, actions.numpy()[5:8])
    for given in (actions.to(envs.device)[8], actions.numpy()[8]):
        with pytest.raises(ValueError, match=r"of environment 2 has nan in component 0"):
            envs.step(_with_nan(given))
    found += [envs.solver.coordinates(), envs.episode_lengths]
    envs.solver.set_state(qvel=np.full((1, envs.solver.model.mj.nv), np.inf), envs_idx=[BROKEN])
    envs.solver.set_state(qpos=envs.solver.qpos[:2] + 0.01, envs_idx=torch.as_tensor([0, 1], device=envs.device))
    saved = envs.state_dict()
    for _ in range(2):
        envs.load_state_dict(saved)
        with pytest.warns(RuntimeWarning, match=f"environment {BROKEN}, step .* stopped being finite"):
            envs.episodes.reporter._reported.clear()
            found += steps(envs, actions[8:].to(envs.device))
    assert all(array.device == envs.device == envs.solver.device for array in flat(found))
    envs.close()
    return [array.cpu() for array in flat(found)]


def _with_nan(action):
    """A copy that has no number in environment 2."""
    action = action.clone() if isinstance(action, torch.Tensor) else action.copy()
    action[2, 0] = float("nan")
    return action


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["InvertedPendulum"], id="one task"),
        pytest.param(list(V5), id="all tasks", marks=pytest.mark.slow),
    ],
)
def test_episodes_are_the_processors(far, names):
    """Under all autoreset modes, to the bit."""
    lives = [(name, mode) for name in names for mode in AutoresetMode]
    run_with("32")
    near = {of: life(*of) for of in lives}
    run_in_columns(device=NAME)
    for of in lives:
        found = life(*of)
        assert len(found) == len(near[of]) > 100
        unlike = [i for i, pair in enumerate(zip(near[of], found, strict=True)) if not torch.equal(*pair)]
        assert not unlike, (of, unlike)


def draws(kind):
    """Numbers of all kinds, from starts and steps of environments with different seeds, episodes and ages."""
    streams = Streams(NUM_ENVS, kind)
    rows = kind.xp.arange(NUM_ENVS, device=kind.device)
    streams.seed([2**100 + 7 * i for i in range(NUM_ENVS)], rows)
    for chosen in (rows, rows[1:4], rows):
        moments = [streams.begin(chosen), streams.advance(), streams.advance(), streams.present(chosen)]
        for noise in moments:
            yield from (noise.uniform(-0.1, 3.0, 40), noise.integers(-5, 2**31, 9), noise.normal(7))


@pytest.mark.parametrize("precision", [torch.float32, torch.float64])
def test_noise_is_drawn_on_the_device_and_has_the_processors_bits(far, precision):
    near, found = draws(ArrayKind.of(precision, "cpu")), draws(ArrayKind.of(precision, str(far)))
    for k, (one, other) in enumerate(zip(near, found, strict=True)):
        assert other.device == far and str(one.dtype) == str(other.dtype).removeprefix("torch.")
        if k % 3 < 2:
            assert np.array_equal(one, other.cpu().numpy())
        else:  # torch's roots, on the processor, are not always the nearest numbers
            np.testing.assert_allclose(one, other.cpu().numpy(), rtol=1e-14)
    streams = Streams(NUM_ENVS, ArrayKind.of(precision, str(far)))
    rows = torch.arange(NUM_ENVS, device=far)
    waits.clear()
    streams.begin(rows).normal(5)
    streams.advance().uniform(0, 1, 3)
    assert not waits


def test_how_often_a_step_waits(far, monkeypatch):
    """Whatever the task; nobody moves here. Actions from the processor are looked at there before they are copied."""
    monkeypatch.setattr(TaichiKernel, "bind", lambda kernel, *given: lambda: None)
    run_in_columns(device=NAME)
    for name in V5:
        envs = tumble.make_vec(name, NUM_ENVS, max_episode_steps=LIMIT)
        envs.reset(seed=0)
        actions, counts = torch.zeros((NUM_ENVS, *envs.single_action_space.shape), device=far), []
        for given in [actions] * LIMIT + [actions.cpu().numpy()] * LIMIT:
            waits.clear()
            *_, info = envs.step(given)
            counts.append((len(waits), WAITS + WAITS_TO_RESET * ("final_obs" in info)))
            assert given is actions or waits[0] == "aten::_copy_from"
        assert all(found == expected for found, expected in counts), (name, counts)


def test_all_of_a_step_is_copied_at_once_where_it_is_wanted_elsewhere(far, monkeypatch):
    """As arrays of numpy or the processor's tensors: the same numbers, with one wait more."""
    monkeypatch.setattr(TaichiKernel, "bind", lambda kernel, *given: lambda: None)
    run_in_columns(device=NAME)
    found = []
    for options in ({}, {"output": "numpy"}, {"device": "cpu"}):
        envs = tumble.make_vec("Reacher", NUM_ENVS, max_episode_steps=LIMIT, **options)
        found.append(flat(envs.reset(seed=0)))
        for step in range(LIMIT):
            waits.clear()
            found[-1] += flat(envs.step(np.ones((NUM_ENVS, 2), np.float32)))
            assert len(waits) == WAITS + bool(options) + WAITS_TO_RESET * (step == LIMIT - 1)
        found[-1].append(envs.episode_lengths)
    assert {type(array) for array in found[1]} == {np.ndarray}
    assert {str(array.device) for array in found[2]} == {"cpu"}
    for there, *elsewhere in zip(*found, strict=True):
        assert all(torch.equal(there.cpu(), torch.as_tensor(array)) for array in elsewhere)


class Varied(InvertedPendulum):
    """Every episode has other masses."""

    array_library = "torch"

    def reset(self, noise):
        share = noise.uniform(0.5, 2.0, 1)
        mass = self.xp.asarray(self.model.body_mass, device=share.device)
        return super().reset(noise)._replace(parameters={"body_mass": mass * share})


def varied_life():
    """Of environments with masses of their own and of a single one; and of wrapped ones."""
    envs = tumble.make_vec(Varied, NUM_ENVS, max_episode_steps=LIMIT)
    actions = torch.full((LIMIT + 3, NUM_ENVS, 1), 0.5, device=envs.device)
    found = [*begin(envs), *steps(envs, actions)]
    envs.solver.set_parameters("gravity", np.full((2, 3), -1.0), torch.as_tensor([1, 3], device=envs.device))
    found += [*steps(envs, actions), envs.solver.get_parameters("body_mass"), envs.solver.get_parameters("gravity")]
    saved = envs.state_dict()
    found += steps(envs, actions)
    envs.load_state_dict(saved)
    found += steps(envs, actions)
    alone = gymnasium.make("tumble/InvertedPendulum-v0", max_episode_steps=LIMIT)
    found += [torch.as_tensor(alone.reset(seed=5)[0]), torch.as_tensor(alone.step(np.ones(1, np.float32))[0])]
    with pytest.raises(ValueError, match="the action has inf in component 0"):
        alone.step(np.full(1, np.inf))
    for wrapper in (RecordEpisodeStatistics, NormalizeObservation, NormalizeReward):
        envs = wrapper(envs)
    wrapped = [envs.reset(seed=1), *(envs.step(action) for action in actions)]
    assert len([result[-1]["episode"].pop("t") for result in wrapped if "episode" in result[-1]]) > 0
    return [array.cpu() for array in flat(found)], [array.cpu() for array in flat(wrapped)]


def test_numbers_of_environments_own_wrappers_and_a_single_environment(far):
    run_with("32")
    near, wrapped = varied_life()
    run_in_columns(device=NAME)
    found, found_wrapped = varied_life()
    unlike = [i for i, pair in enumerate(zip(near, found, strict=True)) if not torch.equal(*pair)]
    assert not unlike
    torch.testing.assert_close(found_wrapped, wrapped)  # sums over a batch that lies otherwise in memory
