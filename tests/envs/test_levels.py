"""Environments go up and down a terrain's levels by how far they came, exactly by the rule, and are resumed there."""

import numpy as np
import pytest
import torch

import tumble
from tumble.envs import Last, Noise, TerrainLevels
from tumble.envs.arrays import ArrayKind, host
from tumble.envs.task.levels import deal_out
from tumble.terrain import SubTerrain, TerrainGenerator

from .drifting import TERRAIN, Drifter

N, STEPS = 30, 20


def make(n: int = N, **options):
    return tumble.make_vec(Drifter, n, **{"max_episode_steps": STEPS, "autoreset_mode": "SAME_STEP"} | options)


def levels_of(envs) -> np.ndarray:
    return memory_of(envs)["terrain_levels"]


def memory_of(envs) -> dict[str, np.ndarray]:
    return {name: host(value) for name, value in envs.unwrapped.batch.state_dict()["memory"].items()}


def an_episode(envs, steps: int = STEPS) -> None:
    for _ in range(steps):
        envs.step(np.zeros((envs.num_envs, 1), np.float32))


def test_levels_begin_up_to_the_highest_one_and_stay_at_a_reset_without_a_step():
    envs = make()
    envs.reset(seed=1)
    first = levels_of(envs)
    assert {*first.tolist()} == {0, 1}
    envs.reset()
    np.testing.assert_array_equal(levels_of(envs), first)
    envs.close()


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP", "DISABLED"])
def test_levels_follow_the_rule(mode):
    """Speeds 0, 0.4 and 1.2 m/s come 0, 0.8 and 2.4 m; asked are 2 m, so that half is 1 m, and half a size is 2 m."""
    envs = make(autoreset_mode=mode)
    envs.reset(seed=5)
    before, up = levels_of(envs), np.arange(N) % 3 == 2
    for _ in range(6):
        an_episode(envs)
        if mode == "NEXT_STEP":
            an_episode(envs, 1)
        elif mode == "DISABLED":
            envs.reset(options={"reset_mask": np.ones(N, bool)})
        now = levels_of(envs)
        over = up & (before == 3)
        np.testing.assert_array_equal(now[~up], np.maximum(before - 1, 0)[~up])
        np.testing.assert_array_equal(now[up & ~over], before[up & ~over] + 1)
        assert now.max() <= 3 and now.min() >= 0
        before = now
    envs.close()


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
@pytest.mark.parametrize(("command", "change"), [(0.79, 0), (0.82, -1)])
def test_half_of_what_was_asked_decides(mode, command, change):
    """0.8 m are more than half of 2 s at 0.79 m/s and less than that at 0.82; a step more would be 0.84 m."""
    envs = make(command=command, autoreset_mode=mode)
    envs.reset(seed=5)
    before = levels_of(envs)
    an_episode(envs, STEPS + (mode == "NEXT_STEP"))
    middle = np.arange(N) % 3 == 1
    np.testing.assert_array_equal(levels_of(envs)[middle], np.maximum(before + change, 0)[middle])
    assert (before[middle] > 0).any()
    envs.close()


def test_above_the_last_level_a_random_one_is_drawn():
    envs = make(120)
    envs.reset(seed=2)
    seen = []
    for _ in range(12):
        before = levels_of(envs)
        an_episode(envs)
        seen += levels_of(envs)[(np.arange(120) % 3 == 2) & (before == 3)].tolist()
    shares = np.bincount(seen, minlength=4) / len(seen)
    assert len(seen) > 60 and abs(shares - 0.25).max() < 3.5 * np.sqrt(0.19 / len(seen))
    envs.close()


def test_a_seed_determines_levels_whatever_came_before():
    envs = make()
    first, _ = envs.reset(seed=7)
    begun = levels_of(envs)
    an_episode(envs, 50)
    again, _ = envs.reset(seed=7)
    np.testing.assert_array_equal(host(first), host(again))
    np.testing.assert_array_equal(levels_of(envs), begun)
    envs.close()


def test_types_are_dealt_out_by_proportion_and_stay():
    envs = make(40)
    _, info = envs.reset(seed=0)
    types = host(info["types"])
    kinds, counts = np.unique(TERRAIN.kinds[0][types], return_counts=True)
    assert dict(zip(kinds.tolist(), counts.tolist(), strict=True)) == {"flat": 20, "wave": 12, "stairs": 8}
    assert {*types.tolist()} == {0, 1, 2, 3, 4}
    an_episode(envs, 45)
    np.testing.assert_array_equal(memory_of(envs)["terrain_types"], types)
    envs.close()


def test_every_kind_has_an_environment():
    field = TerrainGenerator(
        sub_terrains={k: SubTerrain("flat", proportion=p) for k, p in {"a": 0.98, "b": 0.01, "c": 0.01}.items()},
        num_rows=2, num_cols=10, size=(1.0, 1.0),
    ).generate()  # fmt: skip
    dealt = field.kinds[0][deal_out(field, 20)]
    assert [(dealt == kind).sum() for kind in "abc"] == [18, 1, 1]
    assert np.bincount(deal_out(field, 20)[:18]).tolist() == [3, 2, 2, 2, 3, 2, 2, 2]  # over the columns of the kind
    drawn = TerrainGenerator(
        sub_terrains={"a": "flat", "b": "wave"}, num_rows=3, num_cols=4, size=(1.0, 1.0), curriculum=False
    ).generate()
    assert np.bincount(deal_out(drawn, 8)).tolist() == [2, 2, 2, 2]


def test_episodes_start_at_the_origin_of_their_level_and_type():
    envs = make()
    observation, info = envs.reset(seed=3)
    origins = TERRAIN.origins[host(info["levels"]), host(info["types"])]
    np.testing.assert_allclose(host(observation)[:, :3], origins, atol=1e-6)
    np.testing.assert_allclose(memory_of(envs)["env_origins"], origins, atol=1e-6)
    ground = origins[:, 2] - TERRAIN.height_at(origins[:, :2])
    np.testing.assert_allclose(host(observation)[:, 3], ground, atol=1e-5)
    envs.close()


def test_starts_on_flat_patches_are_drawn_for_each():
    envs = make(200, patches=True)
    observation, info = envs.reset(seed=3)
    levels, types = host(info["levels"]), host(info["types"])
    patches = TERRAIN.flat_patches["spawn"][levels, types]
    which = np.linalg.norm(patches - host(observation)[:, None, :3], axis=-1).argmin(1)
    np.testing.assert_allclose(host(observation)[:, :3], patches[np.arange(200), which], atol=1e-6)
    assert {*which[TERRAIN.kinds[0][types] == "flat"].tolist()} == {*range(6)}
    np.testing.assert_allclose(memory_of(envs)["env_origins"], TERRAIN.origins[levels, types], atol=1e-6)
    envs.close()


def test_without_a_curriculum_level_and_type_are_drawn_anew():
    envs = make(200, curriculum=False)
    envs.reset(seed=3)
    first = memory_of(envs)
    an_episode(envs)
    second = memory_of(envs)
    for name, count in (("terrain_levels", 4), ("terrain_types", 5)):
        assert {*first[name].tolist()} == {*range(count)}
        assert 0.1 / count < (first[name] == second[name]).mean() < 3.0 / count
    envs.close()


def test_leaving_the_field_truncates():
    envs = make(6, max_episode_steps=400, speed=4.0)
    envs.reset(seed=0)
    for _ in range(200):
        _, _, terminated, truncated, info = envs.step(np.zeros((6, 1), np.float32))
        assert not host(terminated).any()
        for row in np.flatnonzero(host(truncated)):
            place = host(info["final_obs"])[row, :2]
            assert abs(place[0]) > TERRAIN.size[0] / 2 - 0.5 and abs(place[0]) < TERRAIN.size[0] / 2
            if row % 3 == 2:
                return
    pytest.fail("no environment left the field")


def test_fewer_environments_than_kinds_have_drawn_types():
    seen = set()
    env = make(1)
    for seed in range(12):
        _, info = env.reset(seed=seed)
        seen |= {*host(info["types"]).tolist()}
    assert len(seen) > 2
    env.close()


def test_levels_are_saved_and_resumed():
    envs = make()
    envs.reset(seed=4)
    an_episode(envs, 33)
    saved = envs.unwrapped.batch.state_dict()
    other = make()
    other.reset(seed=99)
    other.unwrapped.batch.load_state_dict(saved)
    action, everyone = np.zeros((N, 1), np.float32), np.arange(N)
    for step in range(3 * STEPS):
        found = [host(each.unwrapped.batch.step(action).observation) for each in (envs, other)]
        if step % STEPS == 7:
            found = [host(each.unwrapped.batch.reset(everyone).observation) for each in (envs, other)]
        np.testing.assert_array_equal(*found)
    envs.close()
    other.close()


def test_torch_and_numpy_agree():
    class InTorch(Drifter):
        array_library = "torch"

    found = []
    for task in (Drifter, InTorch):
        envs = tumble.make_vec(task, N, max_episode_steps=STEPS, autoreset_mode="SAME_STEP")
        envs.reset(seed=11)
        an_episode(envs, 50)
        found.append(memory_of(envs))
        envs.close()
    for name, value in found[0].items():
        np.testing.assert_allclose(value, found[1][name], atol=1e-5)


def test_a_place_that_is_no_number_leads_down():
    task = Drifter().bound(Drifter().load_model().mj, ArrayKind.of(torch.float64, "cpu"))
    memory = {
        "terrain_levels": np.array([2, 2, 0]),
        "terrain_types": np.array([1, 1, 1]),
        "env_origins": np.zeros((3, 3)),
        "command": np.ones((3, 2)),
    }
    qpos = np.array([[np.nan, 0, 0], [9.0, 0, 0], [np.inf, np.nan, 0]])
    last = Last(np.arange(3), 3, np.zeros(3, bool), np.ones(3, int), qpos, qpos, memory)
    start = task.levels.begin(task.reset(noise_of(3)), last, noise_of(3))
    assert start.memory["terrain_levels"].tolist() == [1, 3, 0]


def noise_of(n: int) -> Noise:
    return Noise(lambda: np.arange(n, dtype=np.int64))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_init_level": -1}, "max_init_level=-1: it must be 0"),
        ({"max_init_level": 2.5}, "max_init_level=2.5: it must be 0 or more, whole"),
        ({"episode_length_s": 0.0}, "episode_length_s=0.0"),
        ({"episode_length_s": np.inf}, "episode_length_s=inf: it must be above zero, and finite"),
        ({"command": np.nan}, "command=nan: a speed is not below zero"),
    ],
)
def test_impossible_numbers(options, message):
    task = Drifter().bound(Drifter().load_model().mj, ArrayKind.of(torch.float64, "cpu"))
    with pytest.raises(ValueError, match=message):
        TerrainLevels(TERRAIN, task, **options)


def test_patches_and_commands_that_are_not_there():
    class Wrong(Drifter):
        def reset_after(self, last, noise):
            return self.levels.begin(self.reset(noise), last, noise, "spwan")

    with pytest.raises(KeyError, match=r"^[\"']the terrain has no flat patches 'spwan'"):
        tumble.make_vec(Wrong, 2, max_episode_steps=STEPS)
