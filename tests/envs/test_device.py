"""Where the solver goes when environments are made with `device=...`, and what is said where that is not possible."""

import warnings

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

import tumble
from tumble.envs import StepResult
from tumble.envs.v5.hopper import Hopper
from tumble.physics.machine import runtime
from tumble.training.learning.learner import DeviceError, place_solver
from tumble.wrappers import NormalizeObservation, NormalizeReward

# -- Where the solver goes when environments are made with `device=...`, and what is said where that is not possible


@pytest.fixture
def nothing_started(monkeypatch):
    """A process in which nobody has started Taichi; starts are noted instead of made."""
    starts = []
    monkeypatch.setattr(runtime, "_state", runtime._State())
    monkeypatch.setattr(runtime, "init", lambda *given, **named: starts.append((*given, *named.values())))
    monkeypatch.setattr(runtime, "ensure_runtime", lambda: None)
    return starts


@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
def test_the_first_to_ask_for_a_gpu_puts_the_solver_there(nothing_started, device, monkeypatch):
    runtime.ensure_runtime_near(device)
    place_solver(device)
    monkeypatch.setenv("TUMBLE_PRECISION", "64")
    runtime.ensure_runtime_near(device)
    assert nothing_started == [("cuda", "32"), ("cuda", "32"), ("cuda", "64")]


def test_a_solver_cannot_go_to_another_gpu_than_the_first(nothing_started):
    with pytest.raises(ValueError, match=r"device='cuda:1': the solver takes the first GPU .* CUDA_VISIBLE_DEVICES=1"):
        runtime.ensure_runtime_near("cuda:1")
    with pytest.raises(DeviceError, match="CUDA_VISIBLE_DEVICES=1"):
        place_solver("cuda:1")
    assert not nothing_started


def test_a_solver_that_is_elsewhere_stays(monkeypatch):
    """That is meant where somebody called `tumble.init`; where nobody did, there is a warning."""
    current = runtime.ensure_runtime()
    for by_default in (False, True):
        monkeypatch.setattr(runtime._state, "by_default", by_default)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert runtime.ensure_runtime_near("cuda") is current
            assert runtime.ensure_runtime_near("cpu") is runtime.ensure_runtime_near("meta") is current
        assert ["the solver stays on the processor" in str(one.message) for one in said] == [True] * by_default


def test_a_gpu_that_is_not_there_is_refused(monkeypatch):
    """Be it torch or Taichi that does not find it; the solvers there are go on."""
    import torch
    from taichi.lang import misc

    before = runtime.ensure_runtime()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device='cuda': this torch finds no GPU"):
        tumble.init("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(misc, "is_arch_supported", lambda arch: False)
    with pytest.raises(ValueError, match="device='cuda': Taichi cannot load the GPU's driver"):
        tumble.init("cuda")
    assert runtime.ensure_runtime() is before


def test_the_device_has_a_number_where_tensors_have_one():
    """Else torch would take them for tensors of another device."""
    of = {name: str(runtime.Runtime(name, "32", 1, 1, 0).torch_device) for name in ("cpu", "cuda", "cuda:1")}
    assert of == {"cpu": "cpu", "cuda": "cuda:0", "cuda:1": "cuda:1"}


# -- Types and devices of what environments hand out


class Mixed(Hopper):
    """A hopper whose reward terms have several precisions, as a user's might."""

    def step(self, state, action):
        """The same terms, one in each precision."""
        result = super().step(state, action)
        xp = self.xp
        types = xp.float64, xp.float32, xp.float64
        terms = {
            name: xp.astype(term, dtype) for (name, term), dtype in zip(result.reward_terms.items(), types, strict=True)
        }
        return StepResult(result.observation, terms, result.terminated, result.info, result.memory)


@pytest.mark.parametrize("mode", [mode.name for mode in AutoresetMode])
@pytest.mark.parametrize("output", ["torch", "numpy"])
def test_rewards_have_the_observations_type(output, mode, each_precision):
    """In steps that move, that end episodes and that reset; the space says the same; wrappers keep it."""
    wanted = {"torch": getattr(torch, f"float{each_precision}"), "numpy": np.dtype(f"float{each_precision}")}[output]
    for task in ("Hopper", Mixed):
        envs = tumble.make_vec(task, 3, output=output, autoreset_mode=mode, max_episode_steps=4)
        assert envs.single_observation_space.dtype == np.dtype(f"float{each_precision}")
        if task == "Hopper":
            envs = NormalizeReward(NormalizeObservation(envs))
        observation, _ = envs.reset(seed=0)
        assert observation.dtype == wanted
        for _ in range(10 if mode != "DISABLED" else 4):
            observation, reward, *_, info = envs.step(np.zeros((3, 3), np.float32))
            assert reward.dtype == observation.dtype == wanted and reward.shape == (3,)
            if "reward_forward" in info:  # not where all were reset
                assert info["reward_forward"].dtype == wanted
        envs.close()


def test_the_device_is_where_tensors_lie():
    """The solver's, unless another is chosen; numpy arrays lie on the CPU."""
    for options, device in (({}, "cpu"), ({"device": "cpu"}, "cpu"), ({"output": "numpy"}, "cpu")):
        envs = tumble.make_vec("Hopper", 2, **options)
        assert envs.device == torch.device(device)
        observation, _ = envs.reset(seed=0)
        if "output" not in options:
            assert observation.device == envs.device
        envs.close()


@pytest.mark.parametrize("device", ["nowhere", "cuda", torch.device("cuda:99")])
def test_a_device_that_is_not_there_is_refused_when_environments_are_made(device):
    if str(device) == "cuda" and torch.cuda.is_available():
        pytest.skip("this machine has it")
    with pytest.raises(ValueError, match=f"device='{device}': torch has no tensors there"):
        tumble.make_vec("Hopper", 2, device=device)
