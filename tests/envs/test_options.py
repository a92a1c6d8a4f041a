"""The constructor options of the v5 tasks: same names, same defaults, same effect."""

import inspect
from dataclasses import MISSING, fields

import gymnasium
import numpy as np
import pytest
import torch
from scipy import stats

import tumble
from tumble import assets
from tumble.envs import SingleEnv
from tumble.envs.registry import V5, make_task
from tumble.wrappers import NormalizeObservation

from ..cases import cases
from .reference import TIGHT, draw_pairs, make_reference

# -- The constructor options of the v5 tasks: same names, same defaults, same effect


RUNNERS = ("HalfCheetah", "Hopper", "Walker2d", "Ant", "Humanoid", "Swimmer")
PLANAR = ("Hopper", "Walker2d")
OWN_STARTS = ("Reacher", "Pusher")  # without an option for their noise
RENDERING = ("default_camera_config", "xml_file")  # ours name our own camera and file

VARIATIONS = [
    *[(name, {"exclude_current_positions_from_observation": False}) for name in RUNNERS],
    *[(name, {"forward_reward_weight": 2.5, "ctrl_cost_weight": 0.25}) for name in RUNNERS],
    *[(name, {"terminate_when_unhealthy": False, "healthy_reward": 3.0}) for name in RUNNERS[1:5]],
    *[(name, {"healthy_z_range": (1.1, 1.3), "healthy_angle_range": (-0.05, 0.1)}) for name in PLANAR],
    *[(name, {"frame_skip": 2}) for name in V5],
    ("InvertedDoublePendulum", {"healthy_reward": 4.0}),
    ("Hopper", {"healthy_state_range": (-3.0, 2.0)}),
    ("Ant", {"contact_cost_weight": 0.1, "contact_force_range": (-0.2, 0.5), "healthy_z_range": (0.5, 0.8)}),
    ("Ant", {"include_cfrc_ext_in_observation": False, "main_body": 4}),
    ("Humanoid", {"contact_cost_weight": 1e-3, "contact_cost_range": (0.5, 2.0), "healthy_z_range": (1.2, 1.5)}),
    ("Humanoid", {"include_cinert_in_observation": False, "include_cvel_in_observation": False}),
    ("Humanoid", {"include_qfrc_actuator_in_observation": False, "include_cfrc_ext_in_observation": False}),
    ("HumanoidStandup", {"impact_cost_weight": 1e-3, "impact_cost_range": (0.5, 2.0), "ctrl_cost_weight": 2.0}),
    ("HumanoidStandup", {"exclude_current_positions_from_observation": False, "include_cvel_in_observation": False}),
    ("Reacher", {"reward_dist_weight": 3.0, "reward_control_weight": 0.5}),
    ("Pusher", {"reward_dist_weight": 3.0, "reward_near_weight": 2.0, "reward_control_weight": 0.5}),
]


def v5_parameters(name: str) -> dict[str, inspect.Parameter]:
    """The constructor parameters of a v5 class."""
    creator = gymnasium.envs.registration.load_env_creator(gymnasium.spec(f"{name}-v5").entry_point)
    skipped = ("self", "kwargs")
    return {key: value for key, value in inspect.signature(creator).parameters.items() if key not in skipped}


@cases("name", V5)
def test_same_options_and_defaults(name):
    """Every option of the v5 class is an option of ours with the same default, and the other way round."""
    ours = {option.name: option.default for option in fields(make_task(name, {}))}
    theirs = v5_parameters(name)
    assert set(ours) == set(theirs)
    for option, parameter in theirs.items():
        if option not in RENDERING:
            assert ours[option] is not MISSING
            assert ours[option] == parameter.default, option


@cases("name", V5)
def test_same_default_camera(name):
    """The free camera is that of v5."""
    module = inspect.getmodule(gymnasium.envs.registration.load_env_creator(gymnasium.spec(f"{name}-v5").entry_point))
    ours = make_task(name, {}).camera
    theirs = getattr(module, "DEFAULT_CAMERA_CONFIG", {})  # Swimmer's has none
    assert set(ours) == set(theirs)
    for key, value in theirs.items():
        np.testing.assert_allclose(ours[key], value, err_msg=key)


@pytest.mark.parametrize(
    ("name", "options"), VARIATIONS, ids=lambda value: value if isinstance(value, str) else "+".join(value)
)
def test_same_effect(name, options, double_precision):
    """With the option set on both sides one step agrees in observation, reward, its terms and termination."""
    pairs = draw_pairs(name, 40, options)
    envs = tumble.make_vec(name, 40, autoreset_mode="DISABLED", model_options=TIGHT, **options)
    envs.reset(seed=0)
    envs.unwrapped.solver.set_state(torch.as_tensor(pairs.qpos), torch.as_tensor(pairs.qvel))
    observation, reward, terminated, _, info = envs.step(pairs.action)
    np.testing.assert_allclose(observation.numpy(), pairs.observation, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(reward.numpy(), pairs.reward, rtol=1e-6, atol=1e-6)
    assert (terminated.numpy() == pairs.terminated).all()
    for key in pairs.info:
        if key.startswith("reward"):
            np.testing.assert_allclose(info[key].numpy(), pairs.info[key], rtol=1e-6, atol=1e-6, err_msg=key)
    envs.close()


@pytest.mark.parametrize("name", [name for name in V5 if name not in OWN_STARTS])
def test_reset_noise_scale(name, double_precision):
    """Starts spread as v5's do: same mean and deviation of every coordinate, zero noise gives the reference."""
    env = make_reference(name, {"reset_noise_scale": 0.3})
    theirs = np.array([np.concatenate(_start(env)) for _ in range(400)])
    envs = tumble.make_vec(name, 400, reset_noise_scale=0.3)
    envs.reset(seed=0)
    solver = envs.unwrapped.solver
    ours = torch.cat((solver.qpos, solver.qvel), 1).numpy()
    # 400 draws of deviation up to 0.3: the mean is known to 0.015, the deviation to 0.011; five of those.
    np.testing.assert_allclose(ours.mean(0), theirs.mean(0), atol=0.1)
    np.testing.assert_allclose(ours.std(0), theirs.std(0), atol=0.075)
    envs.close()
    still = tumble.make_vec(name, 1, reset_noise_scale=0)
    still.reset(seed=0)
    np.testing.assert_array_equal(still.unwrapped.solver.qpos[0].numpy(), env.init_qpos)
    assert not still.unwrapped.solver.qvel.any()
    still.close()


def drawn_starts(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A thousand starts of ours and of v5, each (1000, nq + nv)."""
    env = make_reference(name)
    theirs = np.array([np.concatenate(_start(env)) for _ in range(1000)])
    envs = tumble.make_vec(name, 1000)
    envs.reset(seed=0)
    ours = torch.cat((envs.unwrapped.solver.qpos, envs.unwrapped.solver.qvel), 1).numpy()
    envs.close()
    return ours, theirs


def assert_same_distribution(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Column by column, by Kolmogorov's and Smirnov's test."""
    for column, wanted in zip(ours.T, theirs.T, strict=True):
        assert stats.ks_2samp(column, wanted).pvalue > 1e-4


def with_polar(state: np.ndarray, columns: slice | list[int], place: slice) -> np.ndarray:
    """The moving coordinates, and distance and direction of a place in the plane."""
    plane = state[:, place].T
    return np.column_stack((state[:, columns], np.hypot(*plane), np.arctan2(*plane)))


def test_reacher_starts(double_precision):
    """Its starts have no option: arm and target are distributed as v5's, the target's distance and direction too."""
    ours, theirs = drawn_starts("Reacher")
    moving, target = slice(0, 6), slice(2, 4)
    assert_same_distribution(with_polar(ours, moving, target), with_polar(theirs, moving, target))
    assert np.hypot(*ours[:, target].T).max() < 0.2 and not ours[:, 6:].any()


def test_pusher_starts(double_precision):
    """Cylinder and the arm's velocities are distributed as v5's; no cylinder at the goal, everything else at zero."""
    ours, theirs = drawn_starts("Pusher")
    moving, cylinder = [7, 8, *range(11, 18)], slice(7, 9)
    assert_same_distribution(with_polar(ours, moving, cylinder), with_polar(theirs, moving, cylinder))
    assert np.hypot(*ours[:, cylinder].T).min() > 0.17
    resting = np.delete(ours, moving, axis=1)
    assert not resting.any() and not np.delete(theirs, moving, axis=1).any()


def _start(env: gymnasium.Env) -> tuple[np.ndarray, np.ndarray]:
    """Reset the v5 task and return its state."""
    env.reset()
    return env.data.qpos.copy(), env.data.qvel.copy()


@pytest.mark.parametrize("name", V5)
def test_reset_observation(name, double_precision):
    """From the same start the v5 task observes the same, contact forces (zero at a reset) included."""
    env = gymnasium.make(f"tumble/{name}-v0")
    observation, info = env.reset(seed=5)
    solver, theirs = env.unwrapped.solver, make_reference(name)
    qpos, qvel = solver.qpos[0].numpy(), solver.qvel[0].numpy()
    theirs.reset_model = lambda: (theirs.set_state(qpos, qvel), theirs._get_obs())[1]
    wanted, wanted_info = theirs.reset()
    np.testing.assert_allclose(observation, wanted, rtol=1e-9, atol=1e-9)
    assert set(info) == set(wanted_info)
    for key, value in wanted_info.items():
        np.testing.assert_allclose(info[key], value, atol=1e-9, err_msg=key)
    env.close()


def test_wrong_options_are_named():
    """An unknown option is answered with the nearest ones; a wrong value with what it must be."""
    with pytest.raises(
        TypeError, match=r"Ant got an unexpected keyword argument 'ctrl_cost'; there is ctrl_cost_weight"
    ):
        make_task("Ant", {"ctrl_cost": 1})
    with pytest.raises(TypeError, match=r"Hopper: healthy_z_range must be a pair of numbers"):
        make_task("Hopper", {"healthy_z_range": 0.7})
    with pytest.raises(TypeError, match=r"Hopper: ctrl_cost_weight must be a number, got 'high'"):
        make_task("Hopper", {"ctrl_cost_weight": "high"})
    with pytest.raises(ValueError, match=r"no task 'Anti'; there is Ant"):
        make_task("Anti", {})
    with pytest.raises(ValueError, match="frame_skip is 0"):
        tumble.make_vec("Ant", 1, frame_skip=0)
    with pytest.raises(FileNotFoundError, match=r"Packaged models: ant\.xml"):
        tumble.make_vec("Ant", 1, xml_file="aunt.xml")


@pytest.mark.parametrize(
    ("name", "options", "error", "words"),
    [
        ("Ant", {"frame_skip": 2.5}, TypeError, r"Ant: frame_skip must be a whole number, got 2\.5"),
        ("Ant", {"frame_skip": "5"}, TypeError, r"Ant: frame_skip must be a whole number, got '5'"),
        ("Ant", {"healthy_reward": float("nan")}, ValueError, "Ant: healthy_reward is nan; .* a number, and not NaN"),
        ("Hopper", {"healthy_z_range": (0.7, np.nan)}, ValueError, "Hopper: healthy_z_range is .* not NaN"),
        ("Hopper", {"reset_noise_scale": float("nan")}, ValueError, "reset_noise_scale is nan"),
        ("Hopper", {"reset_noise_scale": -0.1}, ValueError, r"\(reset_noise_scale\) has scale -0\.1"),
        ("HalfCheetah", {"reset_noise_scale": -0.1}, ValueError, r"HalfCheetah: .* \(reset_noise_scale\) has scale -0"),
        ("Ant", {"reset_noise_scale": float("inf")}, ValueError, "has scale inf; it must be finite"),
    ],
)
def test_numbers_without_a_meaning(name, options, error, words):
    """Fractional counts, NaN, and noise of a negative or endless scale are refused when environments are made."""
    with pytest.raises(error, match=words):
        tumble.make_vec(name, 1, **options)


def test_own_model_file(tmp_path, double_precision):
    """`xml_file` takes a path, as in v5."""
    own = tmp_path / "heavy_ant.xml"
    own.write_text(assets.find("ant.xml").read_text().replace('density="5"', 'density="50"'))
    envs = tumble.make_vec("Ant", 1, xml_file=str(own))
    masses = envs.unwrapped.solver.model.mj.body_mass
    plain = tumble.make_vec("Ant", 1).unwrapped.solver.model.mj.body_mass
    np.testing.assert_allclose(masses, 10 * plain)


def test_model_options():
    """`model_options` override the file's."""
    envs = tumble.make_vec("Hopper", 1, model_options={"timestep": 0.001})
    assert envs.unwrapped.solver.model.mj.opt.timestep == 0.001
    assert envs.metadata["render_fps"] == 250


# -- Options of `reset` that nothing would look at are refused, with those there are


@pytest.fixture(scope="module")
def envs():
    return tumble.make_vec("InvertedPendulum", 2)


def test_unknown_options_of_vector_environments(envs):
    """The error lists the known ones, through a wrapper too; nothing was reset."""
    before, _ = envs.reset(seed=0)
    for options in ({"mask": np.ones(2, bool)}, {"reset_mask": np.ones(2, bool), "mask": 1}):
        for made in (envs, NormalizeObservation(envs)):
            with pytest.raises(ValueError, match=r"no option 'mask'; vector .* take 'reset_mask', 'elapsed_steps'"):
                made.reset(options=options)
    with pytest.raises(TypeError, match="options must be a dictionary or None, got list"):
        envs.reset(options=["reset_mask"])
    now, _ = envs.reset(options={"reset_mask": np.zeros(2, bool)})
    np.testing.assert_array_equal(now, before)
    envs.reset(options={})
    envs.reset(options=None)


def test_unknown_options_of_single_environments():
    """All are refused but an empty dictionary, which Gymnasium's checkers and SyncVectorEnv pass."""
    env = SingleEnv("InvertedPendulum")
    words = r"no option 'low', 'high'; single .* take none \(vector environments take 'reset_mask', 'elapsed_steps'\)"
    with pytest.raises(ValueError, match=words):
        env.reset(options={"low": -0.1, "high": 0.1})
    with pytest.raises(TypeError, match="options must be a dictionary or None, got int"):
        env.reset(options=3)
    env.reset(options={})
    many = gymnasium.vector.SyncVectorEnv([lambda: SingleEnv("InvertedPendulum")] * 2, autoreset_mode="Disabled")
    many.reset(seed=0)
    many.reset(options={"reset_mask": np.array([True, False])})
    many.close()
