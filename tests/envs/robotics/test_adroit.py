"""Adroit's tasks equal Gymnasium-Robotics': observations, rewards, success, and the physics of a step."""

import numpy as np
import pytest

from . import originals
from .originals import side_by_side
from .parity import PHYSICS, TASK, Pair, relative

pytestmark = pytest.mark.skipif(not originals.available(), reason="Gymnasium-Robotics is not installed")

STEPS, EVERY = 100, 9
CYLINDER = 1e-3  # the bound for the pen, a cylinder, whose contacts are those of GJK and EPA, which end at 1e-6 m
BODIES = {"Door": "frame", "Hammer": "nail_board", "Pen": "target"}
"""The body that an episode places."""


def place(pair: Pair, name: str, i: int) -> None:
    """Give the original's model the place that our environment i has drawn."""
    model, ours = pair.theirs.model, pair.solver.model.mj
    if name == "Relocate":
        model.site_pos[model.site("target").id] = pair.memory["target"][i]
        model.body_pos[model.body("Object").id] = ours.body("Object").pos
        return
    body = BODIES[name]
    mocap = int(ours.body(body).mocapid[0])
    model.body_pos[model.body(body).id] = pair.solver.get("mocap_pos")[i, mocap].numpy()
    model.body_quat[model.body(body).id] = pair.solver.get("mocap_quat")[i, mocap].numpy()


class Hands(Pair):
    """A batch and an original with the same things at the same places."""

    def put(self, i, state, fields, memory):
        """Place the things, too."""
        place(self, type(self.task).__name__.removeprefix("AdroitHand"), i)
        super().put(i, state, fields, memory)


def near_the_goal(name: str, pair: Pair) -> None:
    """Move half of the states to where rewards are high."""
    qpos, qvel = pair.state()
    half = pair.num_envs // 2
    share = np.linspace(0.1, 1, half)
    if name == "Door":
        qpos[:half, -2] = 1.5 * share
        qpos[:half, -1] = 1.6
    elif name == "Hammer":
        qpos[:half, -7] = 0.09 * share + 0.002
        qpos[:half, -5] = 0.1
    elif name == "Relocate":
        body = pair.solver.model.mj.body("Object").pos
        qpos[:half, -6:-3] = pair.memory["target"][:half] - body + 0.08 * (1 - share)[:, None]
    else:
        qpos[:half, -3:-1] += 0.4 * pair.rng.normal(size=(half, 2))
    pair.set_state(qpos, qvel)


@pytest.mark.parametrize("reward", ["", "Sparse"])
@pytest.mark.parametrize("name", ["Door", "Hammer", "Pen", "Relocate"])
def test_like_the_original(name, reward, double_precision):
    pair = Hands(f"gymnasium_robotics/AdroitHand{name}{reward}-v1", lambda theirs, memory: None)
    env = pair.theirs.env
    for part in ("actuator_gainprm", "actuator_biasprm", "actuator_ctrlrange"):
        np.testing.assert_array_equal(getattr(pair.solver.model.mj, part), getattr(pair.theirs.model, part))
    for i in range(pair.num_envs):
        pair.put(i, pair.state(), {}, pair.memory)
        assert relative(side_by_side(pair.seen, i), env._get_obs()).max() < TASK
    near_the_goal(name, pair)
    for step in range(STEPS):
        action = 0.6 * pair.rng.normal(size=(pair.num_envs, pair.envs.single_action_space.shape[0]))
        pair.step(action, step % EVERY == 0)
    found = pair.found()
    assert len(set(found.rewards)) > 1
    assert found.task < TASK
    assert found.physics < (CYLINDER if name == "Pen" else PHYSICS)
