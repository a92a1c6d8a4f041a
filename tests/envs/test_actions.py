"""Actions: torch or numpy; refused before anything moves when they are not as they should be; clipped as in v5."""

import gymnasium
import numpy as np
import pytest
import torch

import tumble

from ..cases import cases


@pytest.fixture(scope="module")
def envs():
    """Four hoppers."""
    made = tumble.make_vec("Hopper", 4)
    yield made
    made.close()


@pytest.fixture(scope="module")
def env():
    """One hopper."""
    made = gymnasium.make("tumble/Hopper-v0")
    yield made
    made.close()


def holed(value: float, env: int = 2, component: int = 1) -> np.ndarray:
    """Actions (4, 3) with one bad number."""
    actions = np.zeros((4, 3))
    actions[env, component] = value
    return actions


BAD = [
    (np.zeros((4, 2)), ValueError, r"shape \(4, 2\); needed is \(4, 3\), \(num_envs, controls\)"),
    (np.zeros(3), ValueError, r"shape \(3,\)"),
    (np.zeros((4, 3), bool), TypeError, "dtype bool; needed are real numbers"),
    (np.zeros((4, 3), object), TypeError, "dtype object"),
    (np.zeros((4, 3), complex), TypeError, "dtype complex128"),
    (holed(np.nan), ValueError, r"action of environment 2 has nan in component 1 \('leg'\)"),
    (holed(np.inf, 3, 0), ValueError, r"environment 3 has inf in component 0 \('thigh'\)"),
    (holed(-np.inf, 0, 2), ValueError, r"environment 0 has -inf in component 2 \('foot'\)"),
    (holed(1e300), ValueError, r"environment 2 has 1e\+300 .* finite in 32-bit precision"),
]


@cases("actions, error, words", BAD)
@cases("kind", ["numpy", "torch"])
def test_bad_actions_move_nothing(envs, actions, error, words, kind):
    """The error names environment and component; the state is as before."""
    envs.reset(seed=0)
    before = envs.unwrapped.solver.qpos
    if kind == "torch":
        if actions.dtype == object:
            pytest.skip("torch has no objects")
        actions = torch.from_numpy(actions)
        words = words.replace("int64", "torch.int64").replace("bool", "torch.bool")
        words = words.replace("complex128", "torch.complex128")
    with pytest.raises(error, match=words):
        envs.step(actions)
    assert torch.equal(envs.unwrapped.solver.qpos, before)


@pytest.mark.parametrize(
    ("action", "error", "words"),
    [
        (np.zeros(2), ValueError, r"shape \(2,\); needed is \(3,\), \(controls,\)"),
        (np.zeros((1, 3)), ValueError, r"shape \(1, 3\)"),
        (np.zeros(3, bool), TypeError, "dtype bool; needed are real numbers"),
        (np.zeros(3, object), TypeError, "dtype object"),
        (np.zeros(3, complex), TypeError, "dtype complex128"),
        (holed(np.nan)[2], ValueError, r"the action has nan in component 1 \('leg'\)"),
        (holed(1e300)[2], ValueError, r"the action has 1e\+300 in component 1 .* finite in 32-bit precision"),
    ],
)
def test_bad_actions_of_a_single_environment(env, action, error, words):
    """The same, without the number of the environment."""
    env.reset(seed=0)
    before = env.unwrapped.solver.qpos
    with pytest.raises(error, match=words):
        env.step(action)
    assert torch.equal(env.unwrapped.solver.qpos, before)


def test_all_kinds_of_good_actions_do_the_same(envs):
    """Torch and numpy, float16 to float64, contiguous or not, with gradients or read-only."""
    numbers = np.array([[0.5, -0.25, 0.125]] * 4)
    frozen = numbers.copy()
    frozen.flags.writeable = False
    kinds = [
        numbers,
        numbers.astype(np.float16),
        np.asfortranarray(numbers.astype(np.float32)),
        numbers[::-1],
        frozen,
        numbers.tolist(),
        torch.from_numpy(numbers),
        torch.from_numpy(numbers).half(),
        torch.from_numpy(numbers).T.contiguous().T,
        torch.from_numpy(numbers).float().requires_grad_(),
    ]
    results = []
    for kind in kinds:
        envs.reset(seed=0)
        results.append(envs.step(kind)[0])
    assert all(torch.equal(result, results[0]) for result in results)
    assert not results[-1].requires_grad


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_whole_numbers_are_actions(envs, env, dtype):
    """As in Gymnasium's tasks: they do what the floating-point numbers of the same value do."""
    whole = np.array([[0, 1, 1]] * 4, dtype)
    results = []
    for actions in (whole.astype(np.float32), whole, torch.from_numpy(whole), whole.tolist()):
        envs.reset(seed=0)
        results.append(envs.step(actions))
    for other in results[1:]:
        assert torch.equal(other[0], results[0][0]) and torch.equal(other[1], results[0][1])
    env.reset(seed=0)
    observation, reward, *_ = env.step(whole[0])
    np.testing.assert_array_equal(observation, results[0][0][0].numpy())
    assert reward == results[0][1][0].item()


def test_actions_are_not_changed(envs):
    """Nor kept: the caller may write to them."""
    actions = torch.full((4, 3), 2.0)
    envs.reset(seed=0)
    envs.step(actions)
    assert (actions == 2).all()


def test_out_of_range_is_clipped_in_its_effect_but_not_in_its_cost(envs):
    """As in v5: the motors saturate, the control cost does not."""
    moved, cost = [], []
    for size in (1.0, 3.0):
        envs.reset(seed=0)
        observation, *_, info = envs.step(torch.full((4, 3), size))
        moved.append(observation)
        cost.append(info["reward_ctrl"])
    assert torch.equal(*moved)
    assert torch.allclose(9 * cost[0], cost[1])
