"""Episodes of the suite's tasks start as dm_control's do: the same distributions, and nothing that touches."""

import mujoco
import numpy as np
import pytest
from scipy import stats

from tumble import assets
from tumble.envs.arrays import ArrayKind
from tumble.envs.registry import make_task
from tumble.envs.task.noise import Streams

from . import control_suite

pytestmark = pytest.mark.skipif(not control_suite.available(), reason="dm_control is not installed")

N, THEIR_N = 4000, 400
LEAST_P = 1e-4  # of the least likely of about a hundred numbers that are compared


def bound(name: str):
    """A task that knows its model, without a solver."""
    task = make_task(name, {})
    kind = ArrayKind(np, np.dtype(np.float64), "cpu")
    return task.bound(mujoco.MjModel.from_xml_path(str(assets.find(task.xml_file))), kind), kind


@pytest.mark.parametrize("name", control_suite.THEIRS)
def test_distributions(name):
    """Kolmogorov and Smirnov's test of every coordinate, and of the target's place; constants are equal."""
    task, kind = bound(name)
    streams = Streams(N, kind)
    streams.seed(list(range(N)), np.arange(N))
    start = task.reset(streams.begin(np.arange(N)))
    ours = np.concatenate((start.qpos, start.qvel), axis=1)
    theirs, places, physics = [], [], (reference := control_suite.Reference(name)).physics
    for _ in range(THEIR_N):
        reference.env.reset()
        theirs.append(np.concatenate((physics.data.qpos, physics.data.qvel)))
        if "target" in start.memory:
            places.append(physics.named.model.geom_pos["target"].copy())
    theirs = np.array(theirs)
    if places:
        place = start.inputs["mocap_pos"][:, 0]
        np.testing.assert_array_equal(place[:, : start.memory["target"].shape[1]], start.memory["target"])
        ours, theirs = np.concatenate((ours, place), axis=1), np.concatenate((theirs, places), axis=1)
    drawn = [i for i in range(ours.shape[1]) if np.ptp(theirs[:, i]) > 0]
    for i in range(ours.shape[1]):
        if i not in drawn:
            np.testing.assert_allclose(ours[:, i], theirs[0, i], atol=1e-12, err_msg=str(i))
    if name == "CheetahRun":  # drawn of so many that settled
        ours = np.unique(ours, axis=0)
        assert len(ours) == 128
    p = {i: stats.ks_2samp(ours[:, i], theirs[:, i]).pvalue for i in drawn}
    print(name, {i: round(float(value), 3) for i, value in p.items()})
    assert drawn and min(p.values()) > LEAST_P


@pytest.mark.parametrize("name", ["BallInCup", "FingerSpin"])
def test_starts_touch_nothing(name):
    """The task knows of each state whether anything touches, and starts of the task do not."""
    task, kind = bound(name)
    reference, rng = control_suite.Reference(name), np.random.default_rng(0)

    def touches(qpos) -> np.ndarray:
        found = []
        for row in qpos:
            reference.put(row, np.zeros_like(row))
            found.append(reference.physics.data.ncon > 0)
        return np.array(found)

    if name == "BallInCup":
        qpos = np.concatenate((np.zeros((1000, 2)), rng.uniform((-0.2, 0.2), (0.2, 0.5), (1000, 2))), axis=1)
        separated = task.separated(qpos[:, 2:])
    else:
        qpos = rng.uniform((-1.9, -1.9, -np.pi), (1.9, 1.9, np.pi), (1000, 3))
        separated = task.separated(qpos)
    expected = touches(qpos)
    assert 0.05 < expected.mean() < 0.5
    np.testing.assert_array_equal(separated, ~expected)
    streams = Streams(300, kind)
    streams.seed(list(range(300)), np.arange(300))
    assert not touches(task.reset(streams.begin(np.arange(300))).qpos).any()
