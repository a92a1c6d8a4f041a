"""The programs in `examples` run, each to the end, where it says that it came out as it should."""

import re
import runpy
from pathlib import Path

import gymnasium as gym
import imageio.v3 as iio
import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.physics.machine.runtime import init
from tumble.scene import machine

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples"
ALONE = ["ground", "grasp", "drone", "randomization", "sensors"]
"""Programs that have scenes of their own; all others have the same one, and so the same kernels."""
SHARED = ["hello_robot", "pictures", "control", "parallel", "two_links"]
AGREE = 1e-5
"""Ten actions: observations of a task are in single precision, and velocities are up to some 20 rad/s."""


@pytest.fixture(autouse=True)
def single_precision(monkeypatch):
    """Programs begin in single precision; the seed that they choose is theirs alone."""
    init(precision="32")
    monkeypatch.setitem(machine._chosen, "seed", 0)


@pytest.mark.filterwarnings("ignore:gs.gpu")
@pytest.mark.parametrize("name", [*SHARED, *ALONE])
def test_a_program_runs(name, tmp_path, monkeypatch, capsys):
    """Its own assertions say that the robot has done it."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out
    if name == "pictures":
        assert len(iio.imread("around.mp4")) == 6
    if name == "sensors":
        assert len(Path("feet.csv").read_text().splitlines()) == 61
    gs.destroy()


def test_no_program_is_left_out():
    assert {path.stem for path in FOLDER.glob("*.py")} == {*SHARED, *ALONE, "walking"}
    assert len([*SHARED, *ALONE]) == 10


def test_the_guide_names_every_program():
    page = (ROOT / "docs" / "scenes.md").read_text("utf-8")
    assert set(re.findall(r"\| \[(\w+)\.py\]\(\.\./examples/\1\.py\)", page)) == {*SHARED, *ALONE, "walking"}


def test_a_policy_sees_and_moves_a_robot_of_a_scene_as_that_of_its_task():
    """Ten actions at random, in double precision: beside the task in MuJoCo."""
    init(precision="64")
    task = gym.make("tumble/QuadrupedFlat-v0", simulator="mujoco")
    seen, _ = task.reset(seed=3)
    module = runpy.run_path(str(FOLDER / "walking.py"))
    scene, robot = module["build"](1)
    data = task.unwrapped.solver
    qpos, qvel = (data.get(name).numpy().reshape(-1).copy() for name in ("qpos", "qvel"))
    qpos[2] += 1.0  # in the air: the task fuses feet with calves, by which MuJoCo's contacts are a little softer
    data.set_state(qpos[None], qvel[None])
    robot.set_qpos(qpos)
    robot.set_dofs_velocity(qvel)
    command, rng = torch.as_tensor(seen[None, 33:36]).double(), np.random.default_rng(0)
    action = np.zeros((1, 12), np.float32)
    for _ in range(10):
        found = module["observe"](robot, command, torch.as_tensor(action).double())[0].numpy()
        assert np.abs(found - seen).max() < AGREE
        action = rng.uniform(-1, 1, (1, 12)).astype(np.float32)
        seen, *_ = task.step(action[0])
        robot.control_dofs_position(module["STAND"] + 0.5 * torch.as_tensor(action), module["JOINTS"])
        scene.step()
    assert np.abs(seen[21:33]).max() > 0.5  # it moves
    task.close()
    scene.close()


@pytest.mark.slow
def test_a_policy_that_has_just_been_trained_walks(tmp_path, monkeypatch, capsys):
    """The program, with a run of its command but for the number of steps."""
    from typer.testing import CliRunner

    from tumble.training.cli import app

    monkeypatch.chdir(tmp_path)
    trained = CliRunner().invoke(app, ["train", "QuadrupedFlat", "--steps", "1", "--out", "runs/walk"])
    assert trained.exit_code == 0, trained.output
    (run,) = Path("runs").rglob("config.toml")
    monkeypatch.setattr("sys.argv", ["walking.py", str(run.parent)])
    runpy.run_path(str(FOLDER / "walking.py"), run_name="__main__")
    assert capsys.readouterr().out.count("asked for") == 4
