"""Inputs of the solver that a task drives: mocap bodies, applied forces and equalities, from resets and steps."""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

import tumble
from tumble.envs import SingleEnv, StepResult
from tumble.envs.arrays import host
from tumble.physics import RigidSolver

from .own_tasks import Held, Pushed

NUM_ENVS, LIMIT, STEPS = 5, 9, 30
NAMES = ("mocap_pos", "mocap_quat", "xfrc_applied", "qfrc_applied", "eq_active")


class Watched(Pushed):
    """Keeps what its methods returned."""

    def __post_init__(self) -> None:
        """Begin with nothing."""
        super().__post_init__()
        self.said: list[Any] = []

    def bind(self) -> None:
        """Begin with nothing."""
        super().bind()
        self.said = []

    def reset(self, noise):
        """Note it."""
        self.said.append(super().reset(noise))
        return self.said[-1]

    def begin(self, state):
        """Note it."""
        self.said.append(super().begin(state))
        return self.said[-1]

    def step(self, state, action):
        """Note it."""
        self.said.append(super().step(state, action))
        return self.said[-1]


def drawn(steps: int = STEPS, num_envs: int = NUM_ENVS) -> np.ndarray:
    """Actions (steps, num_envs, 1)."""
    return np.random.default_rng(0).uniform(-1, 1, (steps, num_envs, 1)).astype(np.float32)


def inputs_of(solver: RigidSolver) -> dict[str, np.ndarray]:
    """All inputs, a copy."""
    return {name: getattr(solver, name).numpy() for name in NAMES}


def assert_equal(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> None:
    """All of them, to the bit."""
    for name in NAMES:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_they_stay_until_replaced_and_begin_anew_where_an_episode_does(mode):
    """In every environment after every step: what the task said last, or the model's own where it said nothing."""
    envs = tumble.make_vec(Watched, NUM_ENVS, max_episode_steps=LIMIT, autoreset_mode=mode, output="numpy")
    mj, said = envs.task.model, envs.task.said
    own = {
        "mocap_pos": mj.body_pos[[1]],
        "mocap_quat": mj.body_quat[[1]],
        "xfrc_applied": np.zeros((mj.nbody, 6)),
        "qfrc_applied": np.zeros(mj.nv),
        "eq_active": np.zeros(1, bool),
    }
    expected = {name: np.repeat(value[None], NUM_ENVS, axis=0) for name, value in own.items()}

    def take(given: Any, rows: np.ndarray) -> None:
        for name, value in given.inputs.items():
            expected[name][rows] = np.float32(value) if name != "eq_active" else value

    def begin(rows: np.ndarray) -> None:
        for name, value in own.items():
            expected[name][rows] = value
        start, begun = said[-2:]
        take(start, rows)
        take(begun, rows)

    everyone = np.arange(NUM_ENVS)
    envs.reset(seed=1, options={"elapsed_steps": np.arange(NUM_ENVS)})
    begin(everyone)
    assert_equal(inputs_of(envs.solver), expected)
    done, ends, pushed = np.zeros(NUM_ENVS, bool), 0, 0
    for step, action in enumerate(drawn()):
        resetting = done
        *_, terminated, truncated, _ = envs.step(action)
        done = terminated | truncated
        stepped = next(result for result in reversed(said) if isinstance(result, StepResult))
        take(stepped, everyone)
        anew = done if mode is AutoresetMode.SAME_STEP else resetting
        if mode is not AutoresetMode.DISABLED and anew.any():
            begin(np.flatnonzero(anew))
        assert_equal(inputs_of(envs.solver), expected)
        pushed += np.count_nonzero(expected["xfrc_applied"].any(axis=(1, 2)))
        mask = done.copy() if mode is AutoresetMode.DISABLED else np.zeros(NUM_ENVS, bool)
        if step % 7 == 3:
            mask[step % NUM_ENVS] = True
        if mask.any():
            envs.reset(options={"reset_mask": mask})
            begin(np.flatnonzero(mask))
            assert_equal(inputs_of(envs.solver), expected)
            done = done & ~mask
        ends += int(mask.sum() + anew.sum())
    assert ends > NUM_ENVS and pushed > NUM_ENVS
    envs.close()


def test_what_they_do_is_the_solvers():
    """A solver that is driven by hand, under the same inputs at the same times, has the same bits."""
    envs = tumble.make_vec(Watched, NUM_ENVS, edge=1e9, output="numpy")
    envs.reset(seed=2)
    start, begun = envs.task.said[-2:]
    by_hand = RigidSolver(envs.solver.model, NUM_ENVS)
    by_hand.reset(qpos=start.qpos, qvel=start.qvel)
    by_hand.set_inputs(**start.inputs)
    by_hand.set_inputs(**begun.inputs)
    still = RigidSolver(envs.solver.model, NUM_ENVS)
    still.reset(qpos=start.qpos, qvel=start.qvel)
    for action in drawn(12):
        envs.step(action)
        for solver in (by_hand, still):
            solver.ctrl = action
            solver.step(envs.task.frame_skip)
        np.testing.assert_array_equal(envs.solver.coordinates(), by_hand.coordinates())
        np.testing.assert_array_equal(envs.solver.get("xpos"), by_hand.get("xpos"))
        by_hand.set_inputs(**envs.task.said[-1].inputs)
    assert (abs(by_hand.qpos - still.qpos) > 1e-3).all()
    envs.close()


@pytest.mark.parametrize("num_envs", [1, 3])
def test_what_is_seen_first_is_where_the_inputs_put_it(num_envs):
    """The marker of `reset` in the first observation; that of `begin` in what the solver then tells."""

    class Late(Pushed):
        def begin(self, state):
            marker = self.xp.concat((state.qpos, 0.5 + 0 * state.qpos[:, :1]), axis=1)
            return super().begin(state)._replace(inputs={"mocap_pos": marker[:, None]})

    for task in (Pushed, Late):
        envs = tumble.make_vec(task, num_envs, output="numpy")
        observation, _ = envs.reset(seed=0)
        marker = envs.batch._memory.arrays["marker"]
        np.testing.assert_array_equal(observation[:, 4:7], marker)
        np.testing.assert_array_equal(observation[:, 7:10], marker)
        if task is Late:
            marker = np.concatenate((observation[:, :2], np.full((num_envs, 1), 0.5, np.float32)), axis=1)
        np.testing.assert_array_equal(envs.solver.get("xpos")[:, 1], marker)
        envs.step(np.zeros((num_envs, 1)))
        envs.close()


def test_a_solver_that_is_reset_under_inputs():
    """Derived quantities are of them, as after `forward`; other environments keep theirs; mistakes change nothing."""
    solver = RigidSolver(Pushed().load_model(), 4)
    rng = np.random.default_rng(0)
    given = {
        "mocap_pos": rng.standard_normal((2, 1, 3)),
        "mocap_quat": rng.standard_normal((2, 1, 4)),
        "xfrc_applied": rng.standard_normal((2, solver.model.mj.nbody, 6)),
        "qfrc_applied": rng.standard_normal(2),
        "eq_active": np.array([True]),
    }
    other = RigidSolver(solver.model, 4)
    qpos = rng.standard_normal((2, 2))
    solver.reset([1, 3], qpos, inputs=given)
    other.reset([1, 3], qpos)
    other.set_inputs([1, 3], **given)
    other.forward([1, 3])
    for name in ("xpos", "xquat", "qfrc_smooth", "qacc", "qfrc_constraint"):
        np.testing.assert_array_equal(solver.get(name), other.get(name), err_msg=name)
    assert_equal(inputs_of(solver), inputs_of(other))
    assert solver.qfrc_applied[1].any() and not solver.qfrc_applied[0].any()
    before = solver.state_dict()
    for wrong in ({"mocap_pos": np.zeros(2)}, {"push": np.zeros(2)}):
        with pytest.raises((ValueError, TypeError)):
            solver.reset([0], inputs=given | wrong)
    assert all(torch.equal(value, before[name]) for name, value in solver.state_dict().items())


def test_a_state_that_is_set_from_outside_gets_inputs_anew():
    """`begin` is asked where the state was changed, and what it says of inputs counts there alone."""
    envs = tumble.make_vec(Pushed, 3, output="numpy", gust=0.0)
    envs.reset(seed=0)
    before = envs.solver.qfrc_applied.numpy()
    place = np.float32([[0.2, -0.1]])
    envs.solver.set_state(qpos=place, envs_idx=[1])
    saved, twin = envs.state_dict(), tumble.make_vec(Pushed, 3, output="numpy", gust=0.0)
    twin.load_state_dict(saved)
    for made in (envs, twin):  # saved before the step that notices it
        made.step(np.zeros((3, 1)))
        np.testing.assert_array_equal(made.solver.qfrc_applied[1], 10 * place[0])
        np.testing.assert_array_equal(made.solver.qfrc_applied[::2], before[::2])
    assert torch.equal(envs.solver.coordinates(), twin.solver.coordinates())


def test_an_input_that_is_not_finite_ends_its_episode_alone():
    """A fault in the next step ends it; the episode after it has sound inputs."""
    envs, calm = (tumble.make_vec(Pushed, 4, output="numpy", edge=1e9) for _ in range(2))
    step = envs.task.step

    def broken(state, action):
        result = step(state, action)
        push = result.inputs["xfrc_applied"].copy()
        push[2] = np.nan
        return result._replace(inputs=result.inputs | {"xfrc_applied": push})

    for made in (envs, calm):
        made.reset(seed=0)
    envs.task.step = broken
    envs.step(np.zeros((4, 1)))
    calm.step(np.zeros((4, 1)))
    envs.task.step = step
    with pytest.warns(RuntimeWarning, match=r"environment 2, step 2 .*forces or mocap poses that the task returned"):
        observation, _, terminated, _, info = envs.step(np.zeros((4, 1)))
    expected, *_ = calm.step(np.zeros((4, 1)))
    assert terminated.tolist() == [False, False, True, False]
    assert info["final_info"]["fault"].tolist() == [0, 0, 1, 0]
    np.testing.assert_array_equal(np.delete(observation, 2, 0), np.delete(expected, 2, 0))
    *_, terminated, _, _ = envs.step(np.zeros((4, 1)))
    assert not terminated.any() and envs.solver.xfrc_applied.isfinite().all()


def test_in_torch_as_in_numpy():
    """A task that computes in torch; its numbers to rounding, its inputs too."""
    in_torch = type("InTorch", (Pushed,), {"array_library": "torch", "__module__": Pushed.__module__})
    one, other = (tumble.make_vec(task, NUM_ENVS, max_episode_steps=LIMIT) for task in (Pushed, in_torch))
    one.reset(seed=0)
    other.reset(seed=0)
    for action in drawn(15):
        for mine, theirs in zip(one.step(action)[:4], other.step(action)[:4], strict=True):
            np.testing.assert_allclose(host(theirs), host(mine), rtol=2e-5, atol=2e-5)
    for name in NAMES:
        np.testing.assert_allclose(getattr(other.solver, name), getattr(one.solver, name), rtol=2e-5, atol=2e-5)


def test_numbers_for_all_and_plain_lists():
    """An input without the axis of environments holds in all of them; a single environment takes it too."""

    class Windy(Held):
        def reset(self, noise):
            return super().reset(noise)._replace(inputs={"qfrc_applied": [0.1, -0.2]})

    for made in (tumble.make_vec(Windy, 3), SingleEnv(Windy)):
        made.reset(seed=0)
        made.step(np.zeros(made.action_space.shape))
        np.testing.assert_allclose(made.unwrapped.solver.qfrc_applied, [[0.1, -0.2]] * made.unwrapped.batch.num_envs)


def test_a_task_without_inputs_switches_nothing_on():
    """Steps of the others read no applied forces."""
    envs, driven = tumble.make_vec(Held, 2), tumble.make_vec(Pushed, 2)
    envs.reset(seed=0)
    envs.step(np.zeros((2, 2)))
    driven.reset(seed=0)
    assert not envs.solver._driver._launches.applied and driven.solver._driver._launches.applied
