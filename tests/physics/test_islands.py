"""Islands: who shares one is MuJoCo's answer, and an island is solved as if it were alone."""

import mujoco
import numpy as np
import torch

from tumble.benchmarks.scenes import CAPSULE, SCENES, pile, shake
from tumble.physics import Model, RigidSolver

from .starts import run_with
from .test_clutter import history


def falling(num_envs, steps, **options):
    """Capsules that have begun to meet, by Newton's method."""
    solver = RigidSolver(Model.from_mjspec(pile(CAPSULE, [0.06, 0.05, 0], 12), solver="newton", **options), num_envs)
    shake(solver)
    solver.step(steps)
    solver.forward()
    return solver


def partition(labels):
    """Which of the trees share a label, (trees, trees)."""
    return labels[:, None] == labels


def test_labels_are_mujocos():
    """Trees on which nothing acts are islands of their own here; MuJoCo gives them none."""
    run_with("64")
    solver = falling(16, 60)
    labels = solver.get("tree_island").numpy()
    sizes = set()
    for env in range(16):
        found, data = solver.inspect(env), mujoco.MjData(solver.model.mj)
        data.qpos[:], data.qvel[:] = found["eval_qpos"], found["eval_qvel"]
        mujoco.mj_forward(solver.model.mj, data)
        theirs = np.where(data.tree_island < 0, -1 - np.arange(len(data.tree_island)), data.tree_island)
        np.testing.assert_array_equal(partition(labels[env]), partition(theirs))
        sizes |= set(np.unique(theirs, return_counts=True)[1])
    assert {1, 2, 3} <= sizes
    assert len(np.unique(labels, axis=0)) > 8, "lanes have islands of their own"


def test_an_island_far_away_changes_nothing():
    """Bitwise: the same bodies, while others in the same environment are elsewhere, and heavily loaded."""
    run_with("32")
    solver = falling(16, 60)
    near = solver.model.mj.jnt_qposadr[:6]
    qpos, qvel = solver.qpos.clone(), solver.qvel.clone()
    for k, adr in enumerate(near):
        qpos[:, adr] += 100.0 + k  # the first six far away, each by itself
    results = []
    for speed in (0.0, 30.0):
        qvel[:, :36] = speed
        solver.set_state(qpos, qvel)
        solver.step(1)
        results.append(solver.qvel[:, 36:])
    assert torch.equal(*results)


def test_neighbours_do_not_matter_to_robots_that_meet():
    """Bitwise: alone and in a tile in which other robots touch."""
    run_with("32")
    model = Model.from_mjspec(SCENES["humanoids-3"].build(), solver="newton")
    together = history(model, 40, steps=100)
    assert torch.equal(together[[0, 5, 30]], torch.cat([history(model, 1, [i], steps=100) for i in (0, 5, 30)]))
    assert torch.equal(together, history(model, 40, list(reversed(range(40))), steps=100).flip(0))
