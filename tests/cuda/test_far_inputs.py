"""Inputs that a task drives, where the solver's numbers are not the processor's."""

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

import tumble

from ..envs.own_tasks import Pushed
from ..physics.starts import run_in_columns, run_with
from .far_device import NAME

NUM_ENVS, LIMIT, STEPS = 5, 6, 16
INPUTS = ("mocap_pos", "mocap_quat", "xfrc_applied", "qfrc_applied", "eq_active")


class PushedInTorch(Pushed):
    """Computed in torch on the processor too."""

    array_library = "torch"


def life(mode: AutoresetMode) -> list[torch.Tensor]:
    """Observations, rewards, flags and inputs of some episodes, saved and gone on with in the middle."""
    envs = tumble.make_vec(PushedInTorch, NUM_ENVS, max_episode_steps=LIMIT, autoreset_mode=mode)
    found = [envs.reset(seed=3)[0]]
    for step, action in enumerate(np.random.default_rng(0).uniform(-1, 1, (STEPS, NUM_ENVS, 1))):
        if step == STEPS // 2:
            saved = envs.state_dict()
            envs.close()
            envs = tumble.make_vec(PushedInTorch, NUM_ENVS, max_episode_steps=LIMIT, autoreset_mode=mode)
            envs.load_state_dict(saved)
        found += envs.step(action)[:4]
        done = found[-1] | found[-2]
        if mode is AutoresetMode.DISABLED and bool(done.any()):
            found.append(envs.reset(options={"reset_mask": done})[0])
        found += [getattr(envs.solver, name) for name in INPUTS]
    assert all(array.device == envs.solver.device for array in found)
    envs.close()
    return [array.cpu() for array in found]


@pytest.mark.slow
def test_they_are_the_processors(far):
    """The same bits under all autoreset modes."""
    run_with("32")
    near = {mode: life(mode) for mode in AutoresetMode}
    run_in_columns(device=NAME)
    for mode in AutoresetMode:
        found = life(mode)
        assert len(found) == len(near[mode])
        unlike = [k for k, pair in enumerate(zip(near[mode], found, strict=True)) if not torch.equal(*pair)]
        assert not unlike, (mode, unlike)
