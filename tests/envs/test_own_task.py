"""Tasks of a user's own behave as the registered ones do, whatever they observe, remember and do with actions."""

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from stable_baselines3.common.env_checker import check_env as check_sb3

import tumble
from tumble.envs import SingleEnv, Task

from .own_tasks import Held, Pointer, Pushed

OWN = pytest.mark.parametrize("task", [Pointer, Held, Pushed])
LIMIT = 9

# What the checkers advise against in tasks that are as they should be: unbounded observations, a small picture, angles
# as actions.
ADVICE = ("observation space m", "minimal resolution", "normalized")

IDENTITY = "mine/Own-v3"


def parts(value: Any) -> list[np.ndarray]:
    """All arrays of a result, in a fixed order."""
    if isinstance(value, dict):
        return [array for key in sorted(value) for array in parts(value[key])]
    if isinstance(value, tuple):
        return [array for part in value for array in parts(part)]
    return [np.asarray(value)]


def assert_same(one: Any, other: Any) -> None:
    """Two results are equal to the last bit."""
    for mine, theirs in zip(parts(one), parts(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def row(value: Any, index: int) -> Any:
    """What one environment sees of a batch's result."""
    return {key: part[index] for key, part in value.items()} if isinstance(value, dict) else value[index]


def draw_actions(task: type[Task], steps: int, seed: int = 0) -> list[Any]:
    """Actions for one environment."""
    env = SingleEnv(task)
    env.action_space.seed(seed)
    actions = [env.action_space.sample() for _ in range(steps)]
    env.close()
    return actions


@OWN
@pytest.mark.parametrize("check", [check_env, check_sb3])
def test_checkers(task, check):
    """Gymnasium's and Stable-Baselines3's find nothing but matters of taste."""
    tumble.register(IDENTITY, task)
    env = gymnasium.make(IDENTITY, render_mode="rgb_array").unwrapped
    del gymnasium.registry[IDENTITY]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        check(env)
    env.close()
    messages = {str(warning.message) for warning in seen if issubclass(warning.category, UserWarning)}
    assert not {message for message in messages if not any(advice in message for advice in ADVICE)}


@OWN
def test_same_bits_in_any_company(task):
    """Alone, and among 2, 9 and 33 at any index: observations, pictures among them, rewards and ends."""
    actions, seed = draw_actions(task, 40), 1234
    env = TimeLimit(SingleEnv(task), LIMIT)
    alone = [env.reset(seed=seed)[0]]
    for action in actions:
        observation, *rest, _ = env.step(action)
        if rest[1] or rest[2]:
            observation, _ = env.reset()
        alone.append((observation, *rest))
    env.close()
    for size in (2, 9, 33):
        index = size // 2
        envs = tumble.make_vec(task, size, max_episode_steps=LIMIT)
        envs.action_space.seed(size)
        assert_same(row(envs.reset(seed=seed - index)[0], index), alone[0])
        for action, wanted in zip(actions, alone[1:], strict=True):
            everyone = envs.action_space.sample()
            everyone[index] = action
            observation, *rest, _ = envs.step(everyone)
            assert_same((row(observation, index), *(part[index] for part in rest)), wanted)
        envs.close()


@OWN
@pytest.mark.parametrize("mode", AutoresetMode)
def test_step_by_step_like_sync_vector_env(task, mode):
    """Gymnasium's SyncVectorEnv of single environments, in every mode: everything returned, infos included."""
    n = 4
    theirs = SyncVectorEnv([lambda: TimeLimit(SingleEnv(task), LIMIT)] * n, autoreset_mode=mode)
    ours = tumble.make_vec(task, n, max_episode_steps=LIMIT, autoreset_mode=mode, output="numpy")
    ours.action_space.seed(1)
    assert_same(ours.reset(seed=5)[0], theirs.reset(seed=5)[0])
    rng, ends = np.random.default_rng(0), 0
    for step in range(40):
        action = ours.action_space.sample()
        mine, other = ours.step(action), theirs.step(action)
        assert_same(mine[:4], other[:4])
        assert_same_info(mine[4], other[4])
        done = other[2] | other[3]
        ends += done.sum()
        mask = done if mode is AutoresetMode.DISABLED else np.zeros(n, bool)
        if step % 7 == 3:
            mask = mask | (rng.random(n) < 0.4)
        if mask.any():
            options = {"reset_mask": mask}
            assert_same(ours.reset(options=dict(options))[0], theirs.reset(options=dict(options))[0])
    assert ends > 10
    ours.close()
    theirs.close()


def assert_same_info(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Same keys and masks, and same values where the masks are True; Gymnasium's final observations are objects."""
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        mask = theirs.get(f"_{key}")
        if key == "final_info":
            assert_same_info(ours[key], value)
        elif key.startswith("_"):
            np.testing.assert_array_equal(ours[key], value)
        else:
            for index in np.flatnonzero(mask):
                assert_same(row(ours[key], index), value[index])


@OWN
def test_saved_in_the_middle_of_an_episode(task, tmp_path):
    """What another environment loads goes on to the last bit: goals, noise and memory of later episodes too."""
    one, other = (tumble.make_vec(task, 5, max_episode_steps=LIMIT) for _ in range(2))
    one.action_space.seed(0)
    one.reset(seed=3)
    other.reset(seed=77)
    actions = [one.action_space.sample() for _ in range(30)]
    for action in actions[:13]:
        one.step(action)
    torch.save(one.state_dict(), tmp_path / "state.pt")
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    for action in actions[13:]:
        assert_same(one.step(action), other.step(action))
    one.close()
    other.close()


def test_a_state_of_another_kind_is_refused():
    """Of another task, another size, another version."""
    pointer, held, more = tumble.make_vec(Pointer, 2), tumble.make_vec(Held, 2), tumble.make_vec(Pointer, 3)
    for envs in (pointer, held, more):
        envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"Pointer, saved state: memory \[.*\] is missing; it is of another task"):
        pointer.load_state_dict(held.state_dict())
    with pytest.raises(ValueError, match="memory 'goal' has shape"):
        pointer.load_state_dict(more.state_dict())
    with pytest.raises(ValueError, match="another version of Tumble"):
        pointer.load_state_dict({"arena": {}})


def test_memory_begins_anew_where_an_episode_does():
    """Goals stay within an episode and change with it; the others' stay as they are."""
    envs = tumble.make_vec(Pointer, 6, max_episode_steps=5, reach=10.0)  # goals beyond the arm: only time ends episodes
    before, _ = envs.reset(seed=0, options={"elapsed_steps": [0, 1, 2, 3, 4, 0]})
    for _ in range(12):
        observation, _, _, truncated, _ = envs.step(np.full(6, 4))
        same = (observation["goal"] == before["goal"]).all(1)
        assert torch.equal(same, ~truncated)
        assert torch.equal(observation["last_action"][:, 0] == 4, torch.ones(6, dtype=torch.bool))
        before = observation
    envs.close()


def test_a_state_set_from_outside_begins_anew_and_keeps_its_goal():
    """`begin` is asked for the memory that follows from the state, and of those that were changed only."""
    envs = tumble.make_vec(Pointer, 3)
    goal = envs.reset(seed=0)[0]["goal"]
    memory = envs.unwrapped.batch._memory
    kept = memory.arrays["distance"].copy()
    asked = []
    task = envs.unwrapped.task
    begin = task.begin
    task.begin = lambda state: asked.append(begin(state)) or asked[-1]
    envs.unwrapped.solver.set_state(qpos=np.zeros((1, 2)), envs_idx=[1])
    observation, *_ = envs.step(np.full(3, 4))
    assert torch.equal(observation["goal"], goal)
    (result,) = asked
    tip = np.array([0.4, 0.0])
    np.testing.assert_allclose(result.memory["distance"], [np.linalg.norm(tip - goal[1].numpy())], rtol=1e-6)
    assert result.memory["distance"][0] != kept[1]
    envs.close()


def test_what_is_returned_is_the_callers():
    """Writing to observations, rewards, ends and infos, or to an action given, disturbs nothing."""
    quiet, rude = (tumble.make_vec(Pointer, 3, max_episode_steps=4, output="numpy") for _ in range(2))
    results = [envs.reset(seed=0) for envs in (quiet, rude)]
    for step in range(9):
        assert_same(*results)
        for array in parts(results[1]):
            array[...] = 0
        actions = [np.array([step % 9, 8, 0]) for _ in range(2)]
        results = [envs.step(action) for envs, action in zip((quiet, rude), actions, strict=True)]
        actions[1][:] = 3
    quiet.close()
    rude.close()


def test_noise_of_steps_differs_from_step_to_step():
    """The arm stands still, its measurement does not."""
    envs = tumble.make_vec(Pointer, 2, jitter=0.5)
    envs.reset(seed=0)
    seen = [envs.step(np.full(2, 4))[0]["arm"][:, :2] for _ in range(3)]
    assert (seen[0] != seen[1]).all() and (seen[1] != seen[2]).all() and (seen[0][0] != seen[0][1]).all()
    envs.close()


def test_control_at_every_physics_step():
    """The spring holds what one control for the whole step would let go: the reference is a solver driven by hand."""
    envs = tumble.make_vec(Held, 2, stiffness=9.0)
    envs.reset(seed=0)
    by_hand = type(envs.unwrapped.solver)(envs.unwrapped.solver.model, 2)
    target = torch.tensor([[0.7, -0.2], [1.0, 0.5]])
    for _ in range(20):
        observation, *_ = envs.step(target)
        for _ in range(5):
            by_hand.ctrl = 9.0 * (target - by_hand.qpos) - 0.3 * by_hand.qvel
            by_hand.step()
    assert torch.equal(observation, torch.cat((by_hand.qpos, by_hand.qvel), 1))
    envs.close()


@pytest.mark.parametrize(
    ("task", "action", "error", "words"),
    [
        (Pointer, np.array([0, 9]), ValueError, r"action of environment 1 is 9, which is not in Discrete\(9\)"),
        (Pointer, np.array([-1, 0]), ValueError, r"action of environment 0 is -1, which is not in Discrete\(9\)"),
        (Pointer, np.array([0.0, 1.0]), TypeError, r"needed are whole numbers, such as int64, for Discrete\(9\)"),
        (Pointer, np.zeros((2, 1), int), ValueError, r"shape \(2, 1\); needed is \(2,\)"),
        (Held, np.zeros((2, 3)), ValueError, r"shape \(2, 3\); needed is \(2, 2\), \(num_envs, the action space's"),
        (Held, np.array([[0, 0], [np.nan, 0]]), ValueError, "environment 1 has nan in component 0;"),
    ],
)
def test_wrong_actions(task, action, error, words):
    """The message names the environment and the space; nothing has moved. The same for a single environment."""
    envs, env = tumble.make_vec(task, 2), SingleEnv(task)
    envs.reset(seed=0)
    env.reset(seed=0)
    before = envs.unwrapped.solver.qpos
    for kind in (np.asarray, torch.as_tensor):
        with pytest.raises(error, match=words):
            envs.step(kind(action))
    assert torch.equal(envs.unwrapped.solver.qpos, before)
    if error is ValueError and "environment" in words:
        with pytest.raises(ValueError, match=r"the action (is|has)"):
            env.step(action[0 if "environment 0" in words else 1])
    envs.close()
    env.close()


def test_faults_of_tasks_with_blocks():
    """A state that is not finite ends its episode; nothing that is not finite is seen, bytes stay bytes."""
    envs = tumble.make_vec(Pointer, 3, autoreset_mode="DISABLED")
    envs.reset(seed=0)
    envs.unwrapped.solver.set_state(qvel=np.full((1, 2), np.nan), envs_idx=[1])
    with pytest.warns(RuntimeWarning, match="environment 1, step 1"):
        observation, reward, terminated, _, info = envs.step(np.full(3, 4))
    assert terminated.tolist() == [False, True, False] and info["fault"].tolist() == [0, 1, 0]
    assert all(np.isfinite(part).all() for part in parts((observation, reward)))
    assert observation["picture"].dtype == torch.uint8
    envs.close()


def test_registered_tasks_can_be_made_everywhere():
    """`register` gives a task a single and a vector environment, with options, a time limit and Gymnasium's spec."""
    tumble.register(IDENTITY, Pointer, max_episode_steps=7, reach=0.1)
    try:
        assert IDENTITY in tumble.envs.task_ids()
        env = gymnasium.make(IDENTITY, jitter=0.0)
        assert env.spec.max_episode_steps == 7
        assert (env.unwrapped.task.reach, env.unwrapped.task.jitter) == (0.1, 0.0)
        for made in (gymnasium.make_vec(IDENTITY, num_envs=3), tumble.make_vec(IDENTITY, 3, reach=0.2)):
            made.reset(seed=0)
            ends = [made.step(np.full(3, 4))[3].all() for _ in range(7)]
            assert ends == [False] * 6 + [True]
            made.close()
        env.close()
    finally:
        del gymnasium.registry[IDENTITY]
