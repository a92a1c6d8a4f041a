"""Walking robots go up and down levels by how far they came, begin on their ground, and are cut short at its edge."""

import numpy as np
import pytest

from tumble.envs import Last

from .states import bound, noise, nothing_before, random_states

N = 60


@pytest.fixture(scope="module", params=["QuadrupedRough", "QuadrupedStairs", "BipedRough"])
def task(request):
    return bound(request.param)


def ended(task, start, came: float, speed: float, fresh: bool = False) -> Last:
    """The ends of episodes that came so far, commanded at a speed, m/s."""
    qpos = np.array(start.qpos)
    qpos[:, :2] = start.memory["env_origins"][:, :2] + [came, 0]
    memory = {**start.memory, "command": np.tile([speed, 0, 0], (N, 1))}
    n = np.arange(N)
    return Last(n, N, np.full(N, fresh), np.full(N, 1000), qpos, np.zeros((N, task.model.nv)), memory)


def begun(task, seed: int = 0):
    return task.reset_after(nothing_before(N), noise(N, seed))


def test_levels_move_up_and_down(task):
    """Half of a sub-terrain is 3 m; half of what 0.5 m/s for 20 s ask for is 5 m."""
    start = begun(task)
    first = start.memory["terrain_levels"]
    assert {*first.tolist()} == {0, 1, 2}
    assert task.terrain().kinds.shape[0] == 10 and task.terrain().sub_size[0] == 6.0
    up = task.reset_after(ended(task, start, 3.1, 0.5), noise(N, 1)).memory["terrain_levels"]
    down = task.reset_after(ended(task, start, 2.9, 0.6), noise(N, 1)).memory["terrain_levels"]
    stays = task.reset_after(ended(task, start, 2.9, 0.2), noise(N, 1)).memory["terrain_levels"]
    np.testing.assert_array_equal(up, first + 1)
    np.testing.assert_array_equal(down, np.maximum(first - 1, 0))
    np.testing.assert_array_equal(stays, first)


def test_starts_are_on_the_ground_of_their_level(task):
    start = begun(task)
    terrain, memory = task.terrain(), start.memory
    places = terrain.origins[memory["terrain_levels"], memory["terrain_types"]]
    np.testing.assert_allclose(memory["env_origins"], places)
    assert abs(start.qpos[:, :2] - places[:, :2]).max() <= 0.5
    stands = start.qpos[:, 2] - task.model.key("home").qpos[2]
    np.testing.assert_allclose(stands, places[:, 2], atol=1e-9)


def test_the_edge_cuts_short(task):
    found = random_states(task, 8)
    half = 0.5 * np.array(task.terrain().size)
    qpos = found.state.qpos.copy()
    qpos[:4, 0], qpos[4:, 0] = half[0] - 1.05, half[0] - 0.95
    state = found.state._replace(qpos=qpos)
    result = task.step(state, found.action)
    np.testing.assert_array_equal(result.truncated, np.arange(8) >= 4)
    np.testing.assert_array_equal(result.info["level"], state.memory["terrain_levels"])


def test_harder_levels_are_rougher(task):
    terrain = task.terrain()
    origins, rows = terrain.origins, []
    for row in range(10):
        around = origins[row, :, None, :2] + np.random.default_rng(0).uniform(-2.5, 2.5, (origins.shape[1], 400, 2))
        heights = terrain.height_at(around.reshape(-1, 2)).reshape(origins.shape[1], -1)
        rows.append(heights.std(axis=1))
    assert (np.array(rows[9]) > 2 * np.array(rows[0])).all()
