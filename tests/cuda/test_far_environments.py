"""Environments whose solver's numbers are not the processor's: the same episodes, in tensors of the device."""

import pytest
import torch

import tumble
from tumble.envs.registry import make_task
from tumble.physics.runtime import init_columns

from .far_device import NAME, waits

NUM_ENVS, LIMIT, STEPS = 6, 7, 16
WAITS = 3
"""Of a step in which nobody begins anew: are all actions finite, has anybody a fault, is anybody done?"""


def episodes(name, device):
    """All that users get of some steps, with resets in between, and how often a step waits."""
    init_columns(device=device)
    kind = type(make_task(name, {}))
    task = type(name, (kind,), {"array_library": "torch", "__module__": kind.__module__})
    envs = tumble.make_vec(task, NUM_ENVS, max_episode_steps=LIMIT)
    found, counts = [envs.reset(seed=3)[0]], []
    actions = torch.rand((STEPS, NUM_ENVS, *envs.single_action_space.shape), generator=torch.Generator().manual_seed(0))
    for action in (2 * actions - 1).to(device):
        waits.clear()
        *arrays, info = envs.step(action)
        counts.append(len(waits))
        ended = info.pop("final_info", {}) | {k: info[k] for k in ("final_obs", "_final_obs") if k in info}
        found += [*arrays, *(v for k, v in sorted((info | ended).items()) if isinstance(v, torch.Tensor))]
    mask = torch.arange(NUM_ENVS) % 2 == 0
    found.append(envs.reset(seed=9, options={"reset_mask": mask.to(device)})[0])
    return found, counts


@pytest.mark.long
@pytest.mark.parametrize("name", ["Ant", "Humanoid", "InvertedPendulum"])
def test_episodes_are_the_processors(far, name):
    near, _ = episodes(name, "cpu")
    found, counts = episodes(name, NAME)
    assert len(near) == len(found) and all(one.device.type == NAME for one in found)
    assert all(torch.equal(one, other.cpu()) for one, other in zip(near, found, strict=True))
    assert min(counts) == WAITS
