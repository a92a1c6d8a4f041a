"""Record transitions of MyoSuite's own tasks, for `test_parity.py`: `python record.py transitions.npz`.

It runs in an environment of its own, with Python 3.11:

    pip install mujoco==4.0.0 dm-control==1.0.50 gymnasium==0.29.1 numpy termcolor flatten-dict h5py
    pip install --no-deps myosuite==2.11.6

MyoSuite 2 asks for older versions of MuJoCo and dm_control; with these two it computes the same task on the physics
that Tumble has. What it imports and none of these tasks uses, a reader of films, is replaced by an empty module.

Everything is in double precision: MyoSuite's own observations and the excitations that it makes from float32 actions
are rounded to single precision, so the observation is taken from its dictionary and actions are handed in as float64.
"""

import os
import sys
import types

import mujoco
import numpy as np

TASKS = {
    "MyoReach": ("motorFingerReachRandom", "myoFingerReachRandom", "myoHandReachFixed", "myoHandReachRandom"),
    "MyoPose": (
        *("motorFingerPoseRandom", "myoFingerPoseRandom", "myoElbowPose1D6MRandom", "myoElbowPose1D6MExoFixed"),
        *("myoHandPoseFixed", "myoHandPoseRandom", "myoSarcHandPoseRandom", "myoFatiHandPoseRandom"),
        *("myoReafHandPoseRandom", "myoFatiElbowPose1D6MExoRandom", "myoTorsoExoPoseFixed"),
    ),
    "MyoKeyTurn": ("myoHandKeyTurnFixed", "myoHandKeyTurnRandom"),
    "MyoObjHold": ("myoHandObjHoldFixed", "myoHandObjHoldRandom"),
    "MyoPenTwirl": ("myoHandPenTwirlFixed", "myoHandPenTwirlRandom"),
    "MyoLegStand": ("myoLegStandRandom",),
    "MyoLegWalk": ("myoLegWalk",),
    "MyoLegTerrainWalk": ("myoLegHillyTerrainWalk", "myoLegStairTerrainWalk"),
}
"""The tasks of which transitions are kept, by Tumble's class."""

STEPS = (0, 1, 9)  # of an episode; the targets of odd ones are put near
RESETS = 300  # starts whose mean and deviation are kept


def myosuite():
    """Import MyoSuite, and return its Gymnasium."""
    os.environ["MUJOCO_GL"] = "disable"
    films = types.ModuleType("skvideo")
    films.io = types.ModuleType("skvideo.io")
    sys.modules |= {"skvideo": films, "skvideo.io": films.io}
    from dm_control.mujoco.wrapper.mjbindings import sizes

    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    for name, kept in (("mjmodel", model), ("mjdata", mujoco.MjData(model))):
        for field in [field for field in sizes.array_sizes[name] if not hasattr(kept, field)]:
            del sizes.array_sizes[name][field]
    import myosuite  # noqa: F401
    from myosuite.utils import gym

    return gym


def target_of(env) -> dict[str, np.ndarray]:
    """Return what an episode has placed: Tumble's memory, inputs and parameters."""
    model, placed = env.sim.model, {}
    if hasattr(env, "target_jnt_value"):
        placed["target"] = np.array(env.target_jnt_value, float)
    elif hasattr(env, "goal_sid"):
        placed |= {"target": model.site_pos[env.goal_sid].copy(), "object_size": model.geom_size[-1].copy()}
    elif hasattr(env, "target_obj_bid"):
        placed["mocap_quat"] = model.body_quat[env.target_obj_bid].copy()
    elif hasattr(env, "key_init_pos"):
        placed["key_pos"] = model.body_pos[-1].copy()
    elif env.target_sids:
        placed["target"] = model.site_pos[env.target_sids].ravel().copy()
    if getattr(env, "weight_bodyname", None):
        placed["load"] = np.array([model.body_mass[model.body_name2id(env.weight_bodyname)]])
    return placed


def come_near(env, rng) -> None:
    """Move what is wanted near to what is."""
    model, data, scale = env.sim.model, env.sim.data, rng.choice([0.2, 1.0, 4.0])
    if hasattr(env, "target_jnt_value"):
        k = len(env.target_jnt_value)
        env.target_jnt_value = data.qpos[:k] + scale * rng.normal(0, 0.15, k)
    elif hasattr(env, "goal_sid"):
        model.site_pos[env.goal_sid] = data.site_xpos[env.object_sid] + scale * rng.normal(0, 0.02, 3)
    elif hasattr(env, "target_obj_bid"):
        both = data.site_xpos[env.obj_t_sid] - data.site_xpos[env.obj_b_sid]
        axis = np.cross([0, 0, 1], both / np.linalg.norm(both))
        angle = np.arcsin(np.clip(np.linalg.norm(axis), 0, 1)) + scale * rng.normal(0, 0.2)
        mujoco.mju_axisAngle2Quat(model.body_quat[env.target_obj_bid], axis / np.linalg.norm(axis), angle)
    elif hasattr(env, "key_init_pos"):
        data.qpos[-1] = rng.uniform(0, 7)
    elif env.target_sids:
        tips = data.site_xpos[env.tip_sids]
        model.site_pos[env.target_sids] = tips + scale * rng.normal(0, 0.02, tips.shape)
    else:
        data.qvel[:2] = rng.normal(0, 1, 2)
    env.sim.forward()


def state_of(env, name: str) -> dict[str, np.ndarray]:
    """Return coordinates, velocities, activations."""
    data = env.sim.data
    return {
        f"{name}_{part}": np.array(getattr(data, part), float) for part in ("qpos", "qvel", "act", "qacc_warmstart")
    }


def observation(env) -> np.ndarray:
    """Return the observation in double precision."""
    seen = env.get_obs_dict(env.sim)
    return np.concatenate([np.ravel(seen[key]) for key in env.obs_keys])


def transition(env, step: int, action: np.ndarray) -> dict[str, np.ndarray]:
    """Take a step, and return all about it."""
    kept = {
        "count": np.array([step], float),
        "action": action.astype(np.float32),
        **state_of(env, "before"),
        **target_of(env),
    }
    if env.muscle_condition == "fatigue":
        tired = env.muscle_fatigue
        kept |= {
            name: np.array(getattr(tired, f"_{word}"))
            for name, word in zip(("active", "resting", "tired"), ("MA", "MR", "MF"), strict=True)
        }
    _, reward, done, _, info = env.step(action)
    if hasattr(env, "steps"):
        env.steps -= 1  # with which the observation was made
    kept |= {
        "observation": observation(env),
        "reward": np.array(reward),
        "done": np.array(done),
        "solved": np.ravel(info["solved"])[0],
    }
    if hasattr(env, "steps"):
        env.steps += 1
    return kept


def record(gym, name: str) -> dict[str, np.ndarray]:
    """Return transitions and starts of a task by the names of the numbers, each with its rows."""
    env, rng = gym.make(f"{name}-v0", seed=3).unwrapped, np.random.default_rng(3)
    env.sim.model.opt.tolerance, env.sim.model.opt.iterations = 1e-12, 200
    starts = []
    for _ in range(RESETS):
        env.reset()
        starts.append(observation(env))
    rows, step, action = [], 0, np.zeros(env.sim.model.nu)
    env.reset()
    while len(rows) < len(STEPS):
        action = np.float32(np.clip(0.7 * action + rng.normal(0, 0.5, len(action)), -1, 1)).astype(float)
        if step == STEPS[len(rows)]:
            if len(rows) % 2:
                come_near(env, rng)
            rows.append(transition(env, step, action))
        else:
            env.step(action)
        step += 1
    found = {key: np.stack([row[key] for row in rows]) for key in rows[0]}
    moved = np.std(starts, 0) > 1e-12
    if not moved.any():
        return found | {"start": starts[0]}
    return found | {"start_mean": np.float32(np.mean(starts, 0)), "start_deviation": np.float32(np.std(starts, 0))}


if __name__ == "__main__":
    gym = myosuite()
    numbers = {
        f"{name}/{key}": value for names in TASKS.values() for name in names for key, value in record(gym, name).items()
    }
    np.savez_compressed(sys.argv[1], **numbers)
    print({name: numbers[f"{name}/reward"].round(3) for names in TASKS.values() for name in names})
    print(os.path.getsize(sys.argv[1]))
