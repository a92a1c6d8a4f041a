"""The same tasks in MuJoCo: against Tumble in double precision, against Gymnasium's own classes, and by themselves."""

import importlib
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.env_checker import check_env as check_sb3

import tumble
from tumble.envs import SimVectorEnv, SingleEnv, registry
from tumble.envs.arrays import host
from tumble.envs.in_mujoco.solver import MujocoSolver

from ..cases import cases
from .own_tasks import Held, Pointer, Pushed
from .reference import TASKS, TIGHT, assert_same_info, make_reference, make_sync
from .test_changes import Kicked
from .test_randomised import Varied
from .test_scans import Scanning

NEWTON = TIGHT | {"solver": "newton"}  # the humanoids' file asks for PGS, which Tumble does not have
DEFAULT = ("Hopper", "InvertedDoublePendulum", "Humanoid")
SOME = [task if task in DEFAULT else pytest.param(task, marks=pytest.mark.slow) for task in TASKS]
N, STEPS = 3, 12
CLOSE = 1e-6  # relative to the size of the number: both solvers end at a tolerance of 1e-12, and contacts are chaotic


def error(ours: Any, theirs: Any) -> float:
    """The largest difference, relative to the size of the number, absolute below 1."""
    ours, theirs = (np.asarray(host(part), float) for part in (ours, theirs))
    return float((np.abs(ours - theirs) / (1 + np.abs(theirs))).max(initial=0))


def parts(value: Any) -> list[np.ndarray]:
    """All arrays of a result, in a fixed order."""
    if isinstance(value, dict):
        return [array for key in sorted(value) for array in parts(value[key])]
    if isinstance(value, tuple):
        return [array for part in value for array in parts(part)]
    return [np.asarray(host(value))]


def assert_close(one: Any, other: Any, tolerance: float = CLOSE) -> None:
    """Two results agree: bools and bytes to the bit."""
    for mine, theirs in zip(parts(one), parts(other), strict=True):
        if mine.dtype.kind == "f":
            assert error(mine, theirs) < tolerance
        else:
            np.testing.assert_array_equal(mine, theirs)


def both(task: Any, n: int = N, **options: Any) -> tuple[SimVectorEnv, SimVectorEnv]:
    """The same environments in Tumble and in MuJoCo."""
    return tuple(
        tumble.make_vec(task, n, simulator=simulator, output="numpy", **options).unwrapped
        for simulator in ("tumble", "mujoco")
    )


def follow(ours: SimVectorEnv, theirs: SimVectorEnv, steps: int, tolerance: float = CLOSE) -> int:
    """Reset and step both alike, and compare all that is returned; return how many episodes ended."""
    begun = [envs.reset(seed=11) for envs in (ours, theirs)]
    assert_close(*begun, tolerance)
    ours.action_space.seed(3)
    ends = 0
    for _ in range(steps):
        action = ours.action_space.sample()
        mine, other = ours.step(action), theirs.step(action)
        assert_close(mine, other, tolerance)
        ends += int((other[2] | other[3]).sum())
    return ends


@pytest.mark.parametrize("name", SOME)
def test_every_task_takes_the_same_steps(name, double_precision):
    """Observations, rewards, ends and infos, from starts of the same bits, as long as no episode ends."""
    ours, theirs = both(name, model_options=NEWTON, autoreset_mode="DISABLED")
    for envs in (ours, theirs):
        envs.reset(seed=5)
    np.testing.assert_array_equal(ours.solver.coordinates(), theirs.solver.coordinates())
    ours.action_space.seed(0)
    for step in range(STEPS):
        action = (0.1 if "Pendulum" in name else 1.0) * ours.action_space.sample()  # poles fall under larger ones
        mine, other = ours.step(action), theirs.step(action)
        assert_close(mine, other)
        if (other[2] | other[3]).any():
            assert step >= 4
            break
    ours.close()
    theirs.close()


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("mode", AutoresetMode)
def test_gymnasiums_own_class_says_the_same(name, mode):
    """In every autoreset mode, with episodes that end by falls and by the time limit, and the settings of the file."""
    limit = 6
    theirs = make_sync(name, N, limit, mode, {})
    ours = tumble.make_vec(
        name, N, max_episode_steps=limit, autoreset_mode=mode, simulator="mujoco", model_options=NEWTON, output="numpy"
    )
    first, other = ours.reset(seed=5), theirs.reset(seed=5)
    assert_close(first[0], other[0])
    ours.action_space.seed(0)
    ends = 0
    for _ in range(20):
        action = ours.action_space.sample()
        mine, other = ours.step(action), theirs.step(action)
        assert_close(mine[:4], other[:4])
        if mode is not AutoresetMode.SAME_STEP and name != "HumanoidStandup":
            assert_same_info(mine[4], other[4])
        done = other[2] | other[3]
        ends += int(done.sum())
        if mode is AutoresetMode.DISABLED and done.any():
            options = {"reset_mask": done}
            assert_close(ours.reset(options=dict(options))[0], theirs.reset(options=dict(options))[0])
    assert ends >= N
    ours.close()
    theirs.close()


def test_the_files_settings_are_kept():
    """The humanoid's PGS and its iterations: Gymnasium's class without any change takes the same steps to the bit."""
    reference = make_reference("Humanoid", solver={})
    reference.model.opt.solver = tumble.make_vec("Humanoid", simulator="mujoco").unwrapped.task.model.opt.solver
    envs = tumble.make_vec("Humanoid", 1, simulator="mujoco", output="numpy")
    envs.reset(seed=1)
    data = envs.unwrapped.solver.worlds[0].data
    reference.set_state(data.qpos.copy(), data.qvel.copy())
    assert envs.unwrapped.solver.worlds[0].model.opt.iterations == reference.model.opt.iterations == 50
    action = np.full((1, 17), 0.1, np.float32)
    for _ in range(5):
        assert_close(envs.step(action)[0][0], reference.step(action[0])[0], 1e-9)
    envs.close()


@pytest.mark.parametrize("task", [Pointer, Held, Pushed, Varied, Scanning, Kicked])
def test_tasks_of_a_users_own(task, double_precision):
    """Pictures, memory, noise, control in every physics step, inputs, parameters, rays, kicks; episodes that end."""
    ours, theirs = both(task, max_episode_steps=9, model_options=TIGHT)
    ends = follow(ours, theirs, 25, 1e-4 if task is Varied else CLOSE)
    assert ends >= 2 * N
    for name, kept in ours.batch._memory.arrays.items():
        assert_close(kept, theirs.batch._memory.arrays[name])
    ours.close()
    theirs.close()


def page(name: str) -> str:
    """A page of the docs."""
    return (Path(__file__).resolve().parents[2] / "docs" / name).read_text(encoding="utf-8")


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """The tasks of the docs' pages, imported from a folder with their files; and forgotten after."""
    crane, examples = page("your_own_task.md"), Path(__file__).resolve().parents[2] / "examples" / "tasks"
    windy = next(code for code in blocks(crane, "python") if "class Windy" in code)
    files = {"crane.xml": blocks(crane, "xml")[0], "crane.py": blocks(crane, "python")[0], "windy.py": windy}
    files |= {name: (examples / name).read_text("utf-8") for name in ("dog.xml", "rough.py")}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    registered = dict(gymnasium.registry)
    yield lambda name: getattr(importlib.import_module(name), name.capitalize())
    for name in ("crane", "windy", "rough"):
        sys.modules.pop(name, None)
    gymnasium.registry.clear()
    gymnasium.registry.update(registered)


def blocks(text: str, language: str) -> list[str]:
    """The code of a language on a page, in order."""
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize("name", ["crane", "windy", "rough"])
def test_the_tasks_of_the_docs(name, pages, double_precision):
    """A crane with a mocap target, gusts of wind, and a robot on a terrain with levels, where MuJoCo's contacts are."""
    ours, theirs = both(pages(name), max_episode_steps=15, model_options={"tolerance": 1e-12, "hfield": "mujoco"})
    assert follow(ours, theirs, 35) >= 2 * N
    if name == "rough":
        assert theirs.solver.worlds[0].data.ncon > 0
        np.testing.assert_array_equal(*(envs.batch._memory.arrays["terrain_levels"] for envs in (ours, theirs)))
    ours.close()
    theirs.close()


OF_MATTER = ("Pour", "Scoop", "Knead")  # MuJoCo has no matter: tests/envs/soft
OTHERS = [task for task in registry.TASKS if task not in registry.V5 and task not in OF_MATTER]


@cases("name", OTHERS)
def test_every_other_task_of_the_package_runs(name):
    """Sensors, terrains, goals, pictures, parameters: nothing that MuJoCo lacks; starts depend on the seed alone."""
    envs = tumble.make_vec(name, 2, simulator="mujoco", output="numpy")
    first = envs.reset(seed=1)[0]
    envs.action_space.seed(0)
    for _ in range(2):
        observation, reward, *_, info = envs.step(envs.action_space.sample())
        assert all(np.isfinite(part).all() for part in parts(observation)) and np.isfinite(reward).all()
        assert "fault" not in info
    for mine, other in zip(parts(first), parts(envs.reset(seed=1)[0]), strict=True):
        np.testing.assert_array_equal(mine, other)
    envs.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_every_other_task_takes_the_same_steps(name, double_precision):
    """The first steps, before contacts of hulls, whose corners each simulator chooses, part the ways."""
    ours, theirs = both(name, 2, model_options=TIGHT | {"hfield": "mujoco"})
    follow(ours, theirs, 3, 1e-4)
    ours.close()
    theirs.close()


def test_snapshots(double_precision):
    """Taken, restored, and branched into the others, which then go on alike."""
    envs = tumble.make_vec(Varied, 3, simulator="mujoco", output="numpy", autoreset_mode="DISABLED").unwrapped
    envs.reset(seed=0)
    actions = np.random.default_rng(0).uniform(-1, 1, (9, 3, 3))
    for action in actions[:3]:
        envs.step(action)
    taken = envs.snapshot()
    once = [envs.step(action)[:4] for action in actions[3:6]]
    envs.restore(taken)
    for action, kept in zip(actions[3:6], once, strict=True):
        for mine, other in zip(envs.step(action)[:4], kept, strict=True):
            np.testing.assert_array_equal(mine, other)
    envs.branch(1)
    for action in actions[6:]:
        observation = envs.step(np.repeat(action[:1], 3, axis=0))[0]
        np.testing.assert_array_equal(observation, observation[[1, 1, 1]])
    envs.close()


def test_seeds_and_company():
    """An environment has the same bits alone and among others, and a seed gives the same episodes again."""
    few, many = (tumble.make_vec(Pushed, n, simulator="mujoco", max_episode_steps=7, output="numpy") for n in (1, 4))
    alone = few.reset(seed=8)[0]
    np.testing.assert_array_equal(many.reset(seed=6)[0][2], alone[0])
    for k in range(15):
        action = np.full((4, 1), np.sin(k), np.float32)
        np.testing.assert_array_equal(many.step(action)[0][2], few.step(action[:1])[0][0])
    np.testing.assert_array_equal(few.reset(seed=8)[0], alone)
    few.close()
    many.close()


def test_precision_and_device_are_mujocos():
    """Double, on the processor, whatever Tumble's solver has; torch where the task or the user wants it."""
    in_torch = type("InTorch", (Pushed,), {"array_library": "torch", "__module__": Pushed.__module__})
    for task in (Pushed, in_torch):
        envs = tumble.make_vec(task, 2, simulator="mujoco")
        observation, _ = envs.reset(seed=0)
        assert observation.dtype == torch.float64 and envs.single_observation_space.dtype == np.float64
        assert envs.step(np.zeros((2, 1)))[1].dtype == torch.float64
        envs.close()


@pytest.mark.parametrize("check", [check_env, check_sb3])
def test_single_environments_pass_the_checkers(check):
    env = SingleEnv(Held, simulator="mujoco", render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(env)
    env.close()
    made = gymnasium.make("tumble/Reacher-v0", simulator="mujoco")
    assert isinstance(made.unwrapped.solver, MujocoSolver)
    made.close()


def test_pictures_are_of_mujocos_state(double_precision):
    """Tumble draws what MuJoCo has; where both have the same state, the pictures are the same."""
    ours, theirs = both("Hopper", 2, render_mode="rgb_array", width=64, height=48)
    for envs in (ours, theirs):
        envs.reset(seed=0)
        envs.step(np.zeros((2, 3), np.float32))
    for mine, other in zip(ours.render(), theirs.render(), strict=True):
        assert np.mean(np.abs(mine.astype(int) - other) > 2) < 0.01 and mine.std() > 5
    ours.close()
    theirs.close()
