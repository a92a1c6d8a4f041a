"""Pusher where it pushes: steps with the hand against the cylinder, which random episodes hardly ever see."""

import numpy as np
import torch

import tumble

from .reference import TIGHT, make_reference, step_from

N = 64
# GJK and EPA ends where a depth is known to `ccd_tolerance`: tight on both sides, as the constraint solver is.
SEARCH = {"ccd_tolerance": 1e-12, "ccd_iterations": 500}
# m, rad and their rates. v5 itself moves by up to 9e-8 where its start moves by 1e-9. Where the hand's core crosses the
# cylinder's axis all directions are as deep as each other, and the polytope is full before the depth is known to 1e-12:
# one pose of these is off by 4e-8 m in one contact, which makes 1.6e-6 of a velocity.
USUAL, WORST = 1e-7, 1e-5
HEIGHTS = (-0.31, -0.24)  # m, of a hand beside the cylinder


def pushing_states(env) -> np.ndarray:
    """Postures (N, nq) of the arm anywhere in its ranges, and the cylinder against the hand."""
    rng, found = np.random.default_rng(1), []
    model, data = env.model, env.data
    hand, cylinder = (model.body(name).id for name in ("tips_arm", "object"))
    place = data.body("goal").xpos.copy()
    while len(found) < N:
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
    qvel, action = rng.normal(0, 1, qpos.shape), rng.uniform(-2, 2, (N, 7))
    qvel[:, 7:] = 0
    results = [step_from(env, *state) for state in zip(qpos, qvel, action, strict=True)]
    envs = tumble.make_vec("Pusher", N, autoreset_mode="DISABLED", model_options=TIGHT | SEARCH)
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
