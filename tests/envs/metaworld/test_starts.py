"""Episodes begin as Meta-World's do, and go on in the same way, in the same release of MuJoCo.

After four steps differences come from where solvers start. In tight contacts they grow, as in the peg's hole. The puck,
a cylinder, turns by some 1e-5 more: of the sixteen corners of its end four are contacts, and rounding decides which.
"""

import numpy as np
import pytest

import tumble
from tumble.envs.metaworld.names import KINDS, SETS

from .recorded import of_task

TIGHT = {"peg-unplug-side-v3": 2e-3, "pick-place-wall-v3": 1e-4}
PUCK = ("reach-v3", "push-v3", "pick-place-v3")
STEPS = 4


def play(name: str, goal: np.ndarray, **options) -> tuple[np.ndarray, np.ndarray]:
    """Return the first observation (39,), and the last frame and all rewards (22,) of recorded steps."""
    envs = tumble.make_vec(f"metaworld/{name}", 1, output="numpy", goals=goal, **options)
    first, _ = envs.reset(seed=1)
    rng, rewards = np.random.default_rng(7), []
    for _ in range(STEPS):
        observation, reward, *_ = envs.step(rng.uniform(-1, 1, 4).astype(np.float32)[None])
        rewards.append(reward[0])
    envs.close()
    return first[0], np.concatenate((observation[0, :18], rewards))


def check(name: str, error: float, **options) -> None:
    """Compare starts and steps with recorded ones."""
    rows = of_task("starts.npz", name)
    for goal, start, end in zip(rows["goal"], rows["start"], rows["end"], strict=True):
        first, last = play(name, goal[None], **options)
        np.testing.assert_allclose(first, start, rtol=0, atol=1e-12)
        np.testing.assert_allclose(last, end, rtol=0, atol=TIGHT.get(name, error))


@pytest.mark.parametrize("name", KINDS)
def test_in_mujoco(name):
    check(name, 2e-7, simulator="mujoco")


@pytest.mark.slow
@pytest.mark.parametrize("name", [f"{name}-v3" for name in SETS["MT10"].train.split()])
def test_in_tumble(name, double_precision):
    check(name, 5e-4 if name in PUCK else 1e-6)
