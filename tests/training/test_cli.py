"""The `tumble` command: what it prints, leaves behind, and says of mistakes. Real tasks, real engine."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from tumble.training.cli import app, main
from tumble.training.tasks import task_ids

TRAIN = ["train", "InvertedPendulum", "--steps", "2048", "--num-envs", "16", "--no-progress"]


def invoke(*arguments, code=0):
    """Run the command in this process; returns what it printed."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


def mistake(monkeypatch, capsys, *arguments):
    """Run the command as the shell does, expect exit code 2, and return the message."""
    monkeypatch.setattr(sys, "argv", ["tumble", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    message = capsys.readouterr().err
    assert "Traceback" not in message
    return message


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A policy trained for a moment on InvertedPendulum."""
    folder = tmp_path_factory.mktemp("runs") / "first"
    printed = invoke(*TRAIN, "--out", folder)
    assert "finished at step" in printed and f"tumble evaluate {folder}" in printed
    return folder


def test_list_shows_every_task_with_its_twin(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    printed = invoke("list")
    for task in [task for task in task_ids() if task.startswith("tumble/")]:
        row = next(line for line in printed.splitlines() if task in line)
        assert row.split()[1] == task.removeprefix("tumble/").replace("-v0", "-v5")
        assert row.split()[-2:] == ["ppo", "sac"]


def test_train_leaves_config_curve_and_checkpoint(run_folder):
    assert 'task = "tumble/InvertedPendulum-v0"' in (run_folder / "config.toml").read_text()
    assert (run_folder / "progress.jsonl").read_text().count("\n") >= 1
    assert list((run_folder / "tensorboard").iterdir())
    assert [path.name for path in (run_folder / "checkpoints").iterdir()]


def test_resume_goes_on(run_folder):
    printed = invoke("train", "--resume", run_folder, "--steps", "4096", "--no-progress")
    assert "finished at step" in printed and int(printed.split("step ")[1].split()[0].replace(",", "")) >= 4096


def test_evaluate_in_both_simulators_writes_json(run_folder):
    printed = invoke("evaluate", run_folder, "--in", "tumble", "--in", "mujoco", "--episodes", 5)
    assert "the means" in printed
    scores = [json.loads((run_folder / f"evaluation-{name}.json").read_text()) for name in ("tumble", "mujoco")]
    for score in scores:
        assert score["episodes"] == len(score["returns"]) == 5
        assert score["mean"] == pytest.approx(sum(score["returns"]) / 5)
        # one a step while the pole stands, none for the step in which it falls
        standing = [length - (length < 1000) for length in score["lengths"]]
        assert score["returns"] == pytest.approx(standing)
    assert [score["simulator"] for score in scores] == ["tumble", "mujoco"]


@pytest.mark.parametrize("simulator", ["tumble", "mujoco"])
def test_evaluate_films(run_folder, tmp_path, simulator):
    film = tmp_path / "film.mp4"
    invoke("evaluate", run_folder, "--in", simulator, "--episodes", 1, "--video", film, "--seconds", 0.5)
    assert film.read_bytes()[4:8] == b"ftyp"


def test_render_a_task_and_a_model(tmp_path):
    from PIL import Image

    picture = tmp_path / "task.png"
    invoke("render", "Hopper", "--out", picture, "--num-envs", 3, "--width", 64, "--height", 48)
    assert Image.open(picture).size == (128, 96)
    model = tmp_path / "ball.xml"
    model.write_text(
        "<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
        "<body pos='0 0 1'><freejoint/><geom size='0.2'/></body></worldbody></mujoco>"
    )
    film = tmp_path / "ball.mp4"
    invoke("render", model, "--out", film, "--seconds", 0.3, "--width", 64, "--height", 64)
    assert film.read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "HalfCheeta"], "did you mean tumble/HalfCheetah-v0"),
        (["train"], "give a TASK"),
        (["train", "Ant", "--algo", "dqn"], "ppo, sac, td3"),
        (["train", "--config", "none.toml"], "none.toml: no such configuration file"),
        (["train", "--resume", "runs/none"], "no run folder"),
        (["train", "Ant", "--resume", "runs/none"], "leave out TASK"),
        (["evaluate", "runs/none"], "no run folder"),
        (["evaluate", "runs/none", "--video", "film.avi"], "must end in .mp4"),
        (["render", "Ant", "--out", "picture.bmp"], "must end in .png or .mp4"),
        (["render", "none.xml"], "none.xml: no such model file"),
        (["render", "Walker"], "did you mean tumble/Walker2d-v0"),
    ],
)
def test_mistakes_are_explained(monkeypatch, capsys, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert message in mistake(monkeypatch, capsys, *arguments)


def test_an_unknown_simulator_is_explained(monkeypatch, capsys, run_folder):
    assert "choose tumble or mujoco" in mistake(monkeypatch, capsys, "evaluate", run_folder, "--in", "bullet")


def test_without_the_mujoco_extra_the_remedy_is_named(monkeypatch, capsys, run_folder):
    """Gymnasium's tasks need a window library that mujoco-core does not bring."""
    for name in [name for name in sys.modules if name.startswith("gymnasium.envs.mujoco")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "glfw", None)
    message = mistake(monkeypatch, capsys, "evaluate", run_folder, "--in", "mujoco", "--episodes", 1)
    assert ".[mujoco]" in message


def test_the_command_is_installed():
    help_text = subprocess.run([sys.executable, "-m", "tumble.training.cli", "--help"], capture_output=True, text=True)
    assert all(command in help_text.stdout for command in ("list", "train", "evaluate", "render", "bench"))
