"""One environment step from the same state under the same action: ours and Gymnasium's v5 agree in everything said.

In float64 with both solvers at tolerance 1e-12 to 1e-6, relative to the size of the number. In float32 the errors are
those of single precision on a chaotic step of up to 20 evaluations; they are bounded in the median and printed.
"""

import numpy as np
import pytest
import torch

import tumble

from .reference import (
    NEVER_TERMINATE,
    NEVER_TOUCH,
    TASKS,
    TIGHT,
    Pairs,
    draw_pairs_of_defaults,
    make_reference,
    step_from,
)

# -- One environment step from the same state under the same action: ours and Gymnasium's v5 agree in everything said
# In float64 with both solvers at tolerance 1e-12 to 1e-6, relative to the size of the number. In float32 the errors are
# those of single precision on a chaotic step of up to 20 evaluations; they are bounded in the median and printed.


N = 1000
UNNAMED = {"HumanoidStandup": {"reward_survive"}}  # part of v5's reward that its info leaves out


def step_ours(name: str, pairs: Pairs, options: dict | None = None, model_options: dict = TIGHT) -> tuple:
    """Put every pair into an environment of its own and take one step."""
    envs = tumble.make_vec(
        name, len(pairs.reward), autoreset_mode="DISABLED", model_options=model_options, **(options or {})
    )
    envs.reset(seed=0)
    solver = envs.unwrapped.solver
    solver.set_state(*(torch.as_tensor(part, dtype=solver.dtype) for part in (pairs.qpos, pairs.qvel)))
    observation, reward, terminated, _, info = envs.step(pairs.action)
    envs.close()
    return observation.numpy(), reward.numpy(), terminated.numpy(), {key: value.numpy() for key, value in info.items()}


def error(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Difference relative to the size of the number, absolute below 1."""
    return np.abs(ours - theirs) / (1 + np.abs(theirs))


@pytest.fixture(params=TASKS)
def drawn(request) -> tuple[str, Pairs]:
    """A task and its pairs."""
    return request.param, draw_pairs_of_defaults(request.param, N)


def test_pairs_are_worth_comparing(drawn):
    """At least a tenth terminates and half touches, where the task permits."""
    name, pairs = drawn
    assert len(pairs.reward) == N
    assert name in NEVER_TERMINATE or pairs.terminated.mean() >= 0.1
    assert name in NEVER_TOUCH or pairs.touching.mean() >= 0.5
    assert (np.abs(pairs.action) > np.abs(pairs.action).max() / 1.5).any()


def test_float64(drawn, double_precision):
    """Observation, reward, each term, termination and info to 1e-6."""
    name, pairs = drawn
    observation, reward, terminated, info = step_ours(name, pairs)
    assert observation.dtype == np.float64
    assert error(observation, pairs.observation).max() < 1e-6
    assert error(reward, pairs.reward).max() < 1e-6
    assert (terminated == pairs.terminated).all()
    assert set(pairs.info) == {key for key in info if not key.startswith("_")} - UNNAMED.get(name, set())
    for key, theirs in pairs.info.items():
        assert info[f"_{key}"].all()
        assert error(info[key], theirs).max() < 1e-6, key


def test_float32(drawn, record_property):
    """Report the errors of single precision; half of the steps are good to a few thousandths of the number."""
    name, pairs = drawn
    observation, reward, terminated, info = step_ours(name, pairs, model_options={"tolerance": 1e-6, "iterations": 100})
    assert observation.dtype == np.float32
    worst = error(observation, pairs.observation).max(axis=1)
    report = {
        "observation": worst,
        "reward": error(reward, pairs.reward),
        **{key: error(info[key], theirs) for key, theirs in pairs.info.items() if "reward" in key or "penalty" in key},
    }
    for key, errors in report.items():
        print(f"{name:24s}{key:20s} median {np.median(errors):.1e}  99 % {np.quantile(errors, 0.99):.1e}")
        record_property(f"{key} median", float(np.median(errors)))
    agree = (terminated == pairs.terminated).mean()
    print(f"{name:24s}terminations that agree {agree:.4f}")
    assert np.median(worst) < 5e-3
    assert agree > 0.99


# -- Pusher where it pushes: steps with the hand against the cylinder, which random episodes hardly ever see


PUSHERS = 64
# GJK and EPA ends where a depth is known to `ccd_tolerance`: tight on both sides, as the constraint solver is.
SEARCH = {"ccd_tolerance": 1e-12, "ccd_iterations": 500}
# m, rad and their rates. v5 itself moves by up to 9e-8 where its start moves by 1e-9. Where the hand's core crosses the
# cylinder's axis all directions are as deep as each other, and the polytope is full before the depth is known to 1e-12:
# one pose of these is off by 4e-8 m in one contact, which makes 1.6e-6 of a velocity.
USUAL, WORST = 1e-7, 1e-5
HEIGHTS = (-0.31, -0.24)  # m, of a hand beside the cylinder


def pushing_states(env) -> np.ndarray:
    """Postures (PUSHERS, nq) of the arm anywhere in its ranges, and the cylinder against the hand."""
    rng, found = np.random.default_rng(1), []
    model, data = env.model, env.data
    hand, cylinder = (model.body(name).id for name in ("tips_arm", "object"))
    place = data.body("goal").xpos.copy()
    while len(found) < PUSHERS:
        qpos = np.zeros(model.nq)
        qpos[:7] = rng.uniform(*model.jnt_range[:7].T)
        env.set_state(qpos, np.zeros(model.nv))
        if not HEIGHTS[0] < data.xpos[hand, 2] < HEIGHTS[1]:
            continue
        qpos[8:6:-1] = data.xpos[hand, :2] - place[:2] + rng.uniform(-0.1, 0.1, 2)
        env.set_state(qpos, np.zeros(model.nv))
        touched = {frozenset(model.geom_bodyid[contact.geom].tolist()) for contact in data.contact[: data.ncon]}
        if any(cylinder in bodies and 0 not in bodies for bodies in touched):
            found.append(qpos)
    return np.array(found)


def test_the_hand_pushes_as_in_v5(double_precision):
    """Observation and every term after a step, and the cylinder has moved."""
    env = make_reference("Pusher", solver=TIGHT | SEARCH)
    rng, qpos = np.random.default_rng(2), pushing_states(env)
    qvel, action = rng.normal(0, 1, qpos.shape), rng.uniform(-2, 2, (PUSHERS, 7))
    qvel[:, 7:] = 0
    results = [step_from(env, *state) for state in zip(qpos, qvel, action, strict=True)]
    envs = tumble.make_vec("Pusher", PUSHERS, autoreset_mode="DISABLED", model_options=TIGHT | SEARCH)
    envs.reset(seed=0)
    envs.unwrapped.solver.set_state(torch.as_tensor(qpos), torch.as_tensor(qvel))
    observation, reward, _, _, info = envs.step(action)
    moved = np.linalg.norm(envs.unwrapped.solver.qpos[:, 7:9].numpy() - qpos[:, 7:9], axis=1)
    envs.close()
    assert np.median(moved) > 1e-4
    wanted = np.array([result[0] for result in results])
    errors = np.abs(observation.numpy() - wanted).max(axis=1)
    print(f"observation: median {np.median(errors):.1e}, worst {errors.max():.1e}")
    assert np.quantile(errors, 0.95) < USUAL and errors.max() < WORST
    np.testing.assert_allclose(reward.numpy(), [result[1] for result in results], atol=WORST)
    for key in results[0][3]:
        np.testing.assert_allclose(info[key].numpy(), [result[3][key] for result in results], atol=WORST, err_msg=key)
