"""The same bits in batches of any size, and the promises of vector environments, for tasks of several kinds."""

import numpy as np
import pytest

import tumble

NAMES = ("pick-place-v3", "door-open-v3", "handle-press-v3", "bin-picking-v3")
STEPS = 12


def played(name: str, num_envs: int) -> np.ndarray:
    """Return all that the first environment gives, one number after the other."""
    envs = tumble.make_vec(f"metaworld/{name}", num_envs, output="numpy")
    first, _ = envs.reset(seed=3)
    actions = np.random.default_rng(0).uniform(-1, 1, (STEPS, 64, 4)).astype(np.float32)
    given = [first[0]]
    for action in actions[:, :num_envs]:
        observation, reward, *_, info = envs.step(action)
        given += [observation[0], reward[:1], *(value[:1] for key, value in info.items() if key[0] != "_")]
    envs.close()
    return np.concatenate(given)


@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])])
def test_same_bits_in_any_batch(name):
    alone = played(name, 1)
    for num_envs in (5, 64):
        np.testing.assert_array_equal(played(name, num_envs), alone)


@pytest.mark.parametrize("name", ["push-v3"])
def test_as_vector_environments_are(name):
    tumble.check_vector_env(f"metaworld/{name}", simulator="mujoco")


def test_success_may_end_episodes():
    goal = np.array([[0.0, 0.6, 0.02, 0.0, 0.6, 0.15]])
    envs = tumble.make_vec(
        "metaworld/reach-v3", 2, output="numpy", simulator="mujoco", goals=goal, terminate_on_success=True
    )
    envs.reset(seed=1)
    _, _, terminated, _, info = envs.step(np.zeros((2, 4), np.float32))
    assert terminated.all() and info["final_info"]["success"].all()
    envs.close()


def test_goals_of_a_wrong_shape_are_refused():
    with pytest.raises(ValueError, match=r"goals has shape \(3, 3\); needed is \(k, 6\)"):
        tumble.make_vec("metaworld/reach-v3", 1, simulator="mujoco", goals=np.zeros((3, 3)))
