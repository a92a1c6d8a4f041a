"""The page about tasks on scenes is true: its task pushes a cube, and its commands train, evaluate and draw it."""

import contextlib
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import gymnasium as gym
import imageio.v3 as iio
import numpy as np
import pytest

import tumble
from tumble.training import task_source
from tumble.training.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "scenes.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The page's code of a language."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return found


@contextlib.contextmanager
def as_in_a_new_process(folder: Path) -> Iterator[pytest.MonkeyPatch]:
    """Work in a folder with the page's files, and forget afterwards what was imported and registered there."""
    for name in ("slider.xml", "push.py"):
        (folder / name).write_bytes((ROOT / "examples" / "tasks" / name).read_bytes())
    registered = dict(gym.registry)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [str(folder), *sys.path])
        patch.setattr(task_source, "_imported", {})
        yield patch
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(folder)):
            del sys.modules[name]
    gym.registry.clear()
    gym.registry.update(registered)


def test_a_paddle_pushes_cubes_of_two_sizes(tmp_path):
    """In MuJoCo, whose kernels need no compiling; the same in Tumble is `tests/scene/test_tasks.py`."""
    with as_in_a_new_process(tmp_path):
        import push

        envs = tumble.make_vec("me/Push-v0", num_envs=4, simulator="mujoco")
        observation, _ = envs.reset(seed=0)
        sizes = envs.unwrapped.solver.get_parameters("geom_size")[:, envs.unwrapped.task.cube.geoms.start, 0]
        assert sizes.tolist() == [0.04, 0.04, 0.06, 0.06] and issubclass(push.Push, tumble.envs.Task)
        rewards = 0.0
        for _ in range(60):
            before = observation
            aim = np.clip(20 * (0.23 - np.asarray(before)[:, :1]) - 3 * np.asarray(before)[:, 3:4], -1, 1)
            observation, reward, *_ = envs.step(aim.astype(np.float32))
            rewards = reward
        assert (np.asarray(observation)[:, 1] > 0.2).all() and (np.asarray(rewards) > -0.1).all()


@pytest.mark.slow
def test_the_commands_train_evaluate_and_draw(tmp_path):
    with as_in_a_new_process(tmp_path) as patch:
        for command in block("sh").replace("100_000", "4_096").splitlines():
            patch.setattr(sys, "argv", shlex.split(command))
            with pytest.raises(SystemExit) as stopped:
                main()
            assert not stopped.value.code, command
        assert {"evaluation-tumble.json", "evaluation-mujoco.json"} <= {
            f.name for f in (tmp_path / "runs" / "push").iterdir()
        }
        assert iio.imread(tmp_path / "push.png").std() > 10
