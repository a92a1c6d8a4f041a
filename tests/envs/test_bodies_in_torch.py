"""MyoSuite's and HumanoidBench's tasks compute in torch what they compute in numpy."""

import numpy as np
import pytest
import torch

from tumble.envs.arrays import host
from tumble.envs.batch.batch import TaskBatch
from tumble.envs.registry import make_task

from .test_suites import files_are_here

NAMES = (
    *(
        f"myosuite/{name}-v0"
        for name in (
            *("motorFingerReachRandom", "myoElbowPose1D6MExoRandom", "myoFatiHandReachRandom"),
            *("myoReafHandKeyTurnRandom", "myoHandObjHoldRandom", "myoSarcHandPenTwirlRandom", "myoLegStandRandom"),
            "myoLegWalk",
        )
    ),
    *(f"humanoid_bench/h1-{name}-v0" for name in ("stand", "reach", "pole", "sit_hard", "balance_hard", "maze")),
)
"""A task of each class of muscles, and six of HumanoidBench."""


@pytest.mark.parametrize("name", NAMES)
def test_in_torch(name):
    if not files_are_here(name):
        pytest.skip("the models are not installed")
    seen = []
    for library in (None, "torch"):
        batch, everyone = TaskBatch(make_task(name, {}), 3, library=library), np.arange(3)
        batch.seed([1, 2, 3], everyone)
        first = batch.reset(everyone).observation
        action = np.linspace(-1, 1, 3 * batch.task.model.nu, dtype=np.float32).reshape(3, -1)
        result = batch.step(torch.as_tensor(action) if library else action)
        seen.append([host(part) for part in (first, result.observation, result.reward)])
        batch.solver.close()
    for mine, theirs in zip(*seen, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)
