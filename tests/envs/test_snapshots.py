"""Snapshots go on to the last bit: all environments or some, put back or branched into others, in all modes."""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode

import tumble
from tumble.envs.arrays import host

from .own_tasks import Counter, Held, Pointer, Pushed

N = 6


class PushedInTorch(Pushed):
    """The puck, whose task computes in torch on a CPU too, as on a GPU."""

    array_library = "torch"


@pytest.fixture
def make():
    """Make vector environments that are closed in the end."""
    made = []

    def make(task: Any = Pushed, num_envs: int = N, **options: Any) -> Any:
        made.append(tumble.make_vec(task, num_envs, **({"max_episode_steps": 9} | options)))
        return made[-1]

    yield make
    for envs in made:
        envs.close()


def rows_of(value: Any) -> list[np.ndarray]:
    """All arrays of a result, (num_envs, ...) each, in a fixed order."""
    if isinstance(value, dict):
        return [array for key in sorted(value) for array in rows_of(value[key])]
    if isinstance(value, tuple | list):
        return [array for part in value for array in rows_of(part)]
    return [host(value)]


def assert_same(one: Any, other: Any, rows: Any = slice(None)) -> None:
    """Equal to the last bit in some environments."""
    mine, theirs = rows_of(one), rows_of(other)
    assert len(mine) == len(theirs)
    for here, there in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(here[rows], there[rows])


def go_on(envs: Any, actions: np.ndarray) -> list[Any]:
    """Observations, rewards and flags of steps under actions (steps, num_envs, nu), with resets where they are needed.

    Infos are left out, whose keys depend on what happens in any environment.
    """
    found = []
    for action in actions:
        found.append(envs.step(action)[:4])
        if envs.autoreset_mode is AutoresetMode.DISABLED:
            done = host(found[-1][2]) | host(found[-1][3])
            found.append(envs.reset(options={"reset_mask": done})[0])
    return found


def some_actions(envs: Any, steps: int, seed: int = 0) -> np.ndarray:
    envs.action_space.seed(seed)
    return np.stack([envs.action_space.sample() for _ in range(steps)])


def begun(make: Any, *arguments: Any, **options: Any) -> Any:
    """Environments whose episodes are at different steps."""
    envs = make(*arguments, **options)
    envs.reset(seed=5, options={"elapsed_steps": np.arange(envs.num_envs) % envs.max_episode_steps})
    go_on(envs, some_actions(envs, 5))
    return envs


@pytest.mark.parametrize("output", ["torch", "numpy"])
@pytest.mark.parametrize("mode", AutoresetMode)
def test_restored_environments_go_on_with_the_same_bits(make, mode, output, each_precision):
    """Over several episodes: memory, inputs, noise, warm starts, time limits; infos too."""
    envs = begun(make, autoreset_mode=mode, output=output)
    snapshot, actions = envs.snapshot(), some_actions(envs, 25, 1)
    expected = go_on(envs, actions)
    go_on(envs, some_actions(envs, 4, 2))
    before = envs.restore(snapshot)
    assert type(before) is (torch.Tensor if output == "torch" else np.ndarray)
    assert_same(before, snapshot.observation[""])
    assert_same(go_on(envs, actions), expected)
    envs.restore(snapshot)  # what was stepped has not written to it
    assert_same(go_on(envs, actions), expected)


@pytest.mark.parametrize("mode", ["SAME_STEP", "NEXT_STEP"])
def test_some_are_restored_and_the_others_go_on(make, mode):
    """The bits of the named are those from the snapshot on; the others' are as if nothing had happened."""
    envs, twin = (begun(make, autoreset_mode=mode) for _ in range(2))
    named, others = [4, 1], [0, 2, 3, 5]
    snapshot = envs.snapshot(named)
    assert len(snapshot) == 2
    actions, later = some_actions(envs, 7, 1), some_actions(envs, 20, 2)
    expected, _ = go_on(envs, later), envs.restore(twin.snapshot())
    go_on(envs, actions), go_on(twin, actions)
    envs.restore(snapshot)
    found = go_on(envs, later)
    assert_same(found, expected, named)
    assert_same(found, go_on(twin, later), others)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_a_finished_environment_waits_for_its_reset_again(make, mode):
    envs = begun(make, autoreset_mode=mode, max_episode_steps=3)
    envs.reset(seed=1, options={"elapsed_steps": np.array([0, 2, 0, 2, 0, 0])})
    done = host(envs.step(some_actions(envs, 1)[0])[3])
    assert done.tolist() == [False, True] * 2 + [False] * 2
    snapshot, action = envs.snapshot(), some_actions(envs, 1, 1)[0]
    if mode is AutoresetMode.DISABLED:
        envs.reset()
        envs.restore(snapshot, None)
        with pytest.raises(ResetNeeded, match=r"environments \[1, 3\] have finished"):
            envs.step(action)
        envs.branch(0)
        envs.step(action)
        return
    expected = envs.step(action)
    envs.restore(snapshot)
    found = envs.step(action)
    assert_same(found, expected)
    if mode is AutoresetMode.NEXT_STEP:
        assert host(found[1])[done].tolist() == [0, 0]
        envs.branch(3, [0, 5])
        assert not host(envs.step(action)[2]).any(), "what has been reset goes on"
        envs.restore(snapshot)
        envs.branch(3, [0, 5])
        assert host(envs.step(action)[1])[[0, 5]].tolist() == [0, 0]


@pytest.mark.parametrize("task", [Pushed, PushedInTorch, Pointer, Held])
def test_copies_under_the_same_actions_are_the_same(make, task):
    """With the same noise, over several episodes, and seeds too."""
    envs = begun(make, task)
    whole = task is not Pointer
    observation = envs.branch(2)
    for part in rows_of(observation):
        assert (part == part[2]).all() and len(part) == N
    assert len(set(envs.np_random_seed)) == 1
    actions = np.repeat(some_actions(envs, 22, 3)[:, 2:3], N, axis=1)
    for found in go_on(envs, actions):
        for part in rows_of(found):
            np.testing.assert_array_equal(part, np.broadcast_to(part[2:3], part.shape))
    assert whole or envs.snapshot().observation.keys() == {"arm", "goal", "last_action", "picture"}


def test_copies_with_noise_of_their_own(make):
    """They start alike and draw differently; memory is the original's, seeds are their own."""
    envs = begun(make)
    twin = begun(make)
    seeds, marker = envs.np_random_seed, host(envs.batch._memory.arrays["marker"]).copy()
    envs.branch(1, [3, 4], noise="own")
    assert envs.np_random_seed == seeds
    now = host(envs.batch._memory.arrays["marker"])
    assert (now[[3, 4]] == marker[1]).all() and (now[[0, 2, 5]] == marker[[0, 2, 5]]).all()
    assert host(envs.episode_lengths)[[3, 4]].tolist() == [int(host(twin.episode_lengths)[1])] * 2
    action = np.zeros((N, 1), np.float32)
    found, expected = rows_of(envs.step(action)[0])[0], rows_of(twin.step(action)[0])[0]
    np.testing.assert_array_equal(found[[0, 1, 2, 5]], expected[[0, 1, 2, 5]])
    drawn = host(envs.batch._memory.arrays["marker"])
    assert not np.array_equal(drawn[3], drawn[4])
    again = begun(make)
    again.branch(1, [3, 4], noise="own")
    assert_same(again.step(action)[0], found)


def test_one_environment_plans_for_another_batch(make):
    """A snapshot of one goes to all of a batch that was never reset, as wide as it is."""
    real, plan = begun(make, Pushed, 1), make(Pushed, 7, autoreset_mode="NEXT_STEP")
    plan.restore(real.snapshot(), range(7))
    actions = some_actions(real, 3)
    for action in actions:
        mine, theirs = real.step(action)[0], plan.step(np.repeat(action, 7, axis=0))[0]
        np.testing.assert_array_equal(np.broadcast_to(host(mine), (7, host(mine).shape[1])), host(theirs))


def test_numbers_of_the_model_go_along(make):
    """Those of environments' own are copied, and go back to the model's where the snapshot had none."""
    envs = begun(make)
    snapshot = envs.snapshot()
    mass = envs.task.model.body_mass * np.linspace(0.5, 2, N)[:, None]
    envs.solver.set_parameters("body_mass", mass)
    heavy = envs.snapshot([5])
    envs.branch(0, [2])
    found = envs.solver.get_parameters("body_mass").numpy()
    np.testing.assert_array_equal(found[[0, 1, 2, 5]], mass[[0, 1, 0, 5]])
    actions = np.repeat(some_actions(envs, 12)[:, :1], N, axis=1)
    expected = go_on(envs, actions)
    envs.restore(heavy, [1, 3])
    np.testing.assert_array_equal(envs.solver.get_parameters("body_mass").numpy()[[1, 3]], mass[[5, 5]])
    for (observation, *_), wanted in zip(go_on(envs, actions), expected, strict=True):
        np.testing.assert_array_equal(host(observation)[[1, 3]], host(wanted[0])[[5, 5]])
    envs.restore(snapshot)
    np.testing.assert_array_equal(
        envs.solver.get_parameters("body_mass"), np.broadcast_to(envs.task.model.body_mass, mass.shape)
    )


def test_a_state_set_from_outside_is_noticed_after_a_restore(make):
    """`begin` makes the memory there anew in the next step, as without the snapshot between."""
    results = []
    for planned in (False, True):
        envs = begun(make, Pointer)
        envs.solver.set_state(np.full((1, 2), 0.4), np.zeros((1, 2)), [1])
        if planned:
            snapshot = envs.snapshot()
            envs.step(some_actions(envs, 1)[0])
            envs.restore(snapshot)
        results.append(go_on(envs, some_actions(envs, 3, 7)))
    assert_same(*results)


def test_another_model_is_refused_by_name(make):
    """Steps of another length, and whatever else is a number of the model; equal models of two batches are one."""
    envs, alike = (make(Counter, 2, simulator="mujoco") for _ in range(2))
    for made in (envs, alike):
        made.reset(seed=0)
    before = envs.state_dict()
    for options, words in (
        ({"timestep": 0.01}, r"its timestep is 0\.01, and here 0\.0"),
        ({"gravity": (0, 0, -3)}, "its gravity differs"),
    ):
        other = make(Counter, 2, simulator="mujoco", model_options=options)
        other.reset(seed=0)
        for use in (envs.restore, alike.restore):
            with pytest.raises(ValueError, match=f"the snapshot is of another model: {words}.*make both with the same"):
                use(other.snapshot())
    assert_same(list(envs.state_dict()["batch"]["solver"].values()), list(before["batch"]["solver"].values()))
    assert_same(envs.restore(alike.snapshot()), alike.restore(alike.snapshot()))


def test_what_is_refused(make):
    """In one sentence, and nothing has changed then."""
    envs, other, fewer = begun(make), begun(make, Pointer), begun(make, Pushed, 4)
    with pytest.raises(ResetNeeded, match="before the first reset"):
        make().snapshot()
    with pytest.raises(ResetNeeded, match="restore all environments, or call reset"):
        make().restore(envs.snapshot([0]))
    before = envs.state_dict()
    wrong = [
        (lambda: envs.restore(other.snapshot()), ValueError, "the snapshot is of the task Pointer, and .* do Pushed"),
        (lambda: envs.restore(fewer.snapshot()), ValueError, "of 4 environments, and 6 are to go on from it"),
        (lambda: envs.restore(envs.snapshot([0, 1]), [2, 2]), ValueError, "an environment is named twice"),
        (lambda: envs.restore(envs.state_dict()), TypeError, "expected what snapshot.. returned, not dict"),
        (lambda: envs.restore(envs.snapshot(), noise="new"), ValueError, "noise='new': there is same and own"),
        (lambda: envs.snapshot([6]), IndexError, "there is no environment 6"),
        (lambda: envs.branch(0, [-1]), IndexError, "there is no environment -1"),
        (lambda: envs.branch([0, 1]), ValueError, "one environment is copied, by its number"),
        (lambda: envs.snapshot("all"), ValueError, "expected whole numbers"),
    ]
    for call, kind, words in wrong:
        with pytest.raises(kind, match=words) as caught:
            call()
        assert "\n" not in str(caught.value)
    after = envs.state_dict()
    for name in ("memory", "counters"):
        assert torch.equal(after["batch"]["solver"][name], before["batch"]["solver"][name])
    late = make(autoreset_mode="NEXT_STEP", max_episode_steps=1)
    late.reset()
    late.step(some_actions(late, 1)[0])
    with pytest.raises(ValueError, match="have finished and wait for their reset, which SAME_STEP makes"):
        envs.restore(late.snapshot())
    envs.close()
    with pytest.raises(ClosedEnvironmentError):
        envs.snapshot()
