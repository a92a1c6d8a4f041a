"""The `tumble` command: what it prints, leaves behind, and says of mistakes. Real tasks, real engine."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys

import imageio.v3 as iio
import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import tumble
from tumble.envs.registry import TASKS, V5
from tumble.training.cli import app, main
from tumble.viewer.replay import read_page

from ..cases import cases

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


@pytest.mark.parametrize(
    ("command", "out"), [("render", "--out"), ("evaluate", "--video")], ids=["render", "evaluate --video"]
)
@pytest.mark.parametrize("name", ["picture.png", "film.mp4"])
def test_a_place_that_cannot_be_written_is_named_before_any_work(monkeypatch, capsys, tmp_path, command, out, name):
    """No temporary name, and nothing is imported or compiled in vain."""
    if (command, name) == ("evaluate", "picture.png"):
        pytest.skip("it writes films alone")
    (tmp_path / "file").touch()
    monkeypatch.setattr("tumble.training.cli.importing", None)  # cannot be called
    path = tmp_path / "file" / name
    message = mistake(monkeypatch, capsys, command, "Hopper", out, path)
    assert message == f"error: {path}: its folder cannot be made: a file has its name\n"


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    """A policy trained for a moment on InvertedPendulum, of which small pictures are taken: large ones take longer."""
    folder = tmp_path_factory.mktemp("runs") / "first"
    printed = invoke(*TRAIN, "--option", "width=128", "--option", "height=128", "--out", folder)
    assert "finished at step" in printed and f"tumble evaluate {folder}" in printed
    return folder


def test_list_shows_every_task_with_its_twin(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    printed = invoke("list")
    assert "dm_control 51" in printed and "dm_control/dog-run-v0" not in printed
    assert "dm_control/dog-run-v0" in invoke("list", "dm_control")
    for task in [f"tumble/{name}-v0" for name in TASKS]:
        row = next(line for line in printed.splitlines() if task in line)
        name = task.removeprefix("tumble/").removesuffix("-v0")
        if name in V5:
            assert row.split()[1] == f"{name}-v5"
            assert row.split()[-2:] == ["ppo", "sac"]
        else:
            assert row.split()[1] == str(TASKS[name].max_episode_steps)


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
    assert [score["environment"] for score in scores] == ["", "InvertedPendulum-v5"]
    assert "mujoco (Gymnasium's InvertedPendulum-v5)" in printed


def test_the_tasks_own_code_is_judged_in_mujoco_from_the_same_starts(run_folder):
    """As long as the pole stands or falls alike: Gymnasium's class draws other starts, the task's own code the same."""
    invoke("evaluate", run_folder, "--in", "tumble", "--in", "mujoco-task", "--episodes", 5)
    ours, theirs = (
        json.loads((run_folder / f"evaluation-{name}.json").read_text()) for name in ("tumble", "mujoco-task")
    )
    assert ours["lengths"] == theirs["lengths"] and theirs["environment"] == ""


def test_evaluate_a_variant_of_the_task(run_folder):
    """Without noise all start alike; the file of the run's own task is not touched."""
    invoke("evaluate", run_folder, "--episodes", 3)
    before = (run_folder / "evaluation-tumble.json").read_text()
    printed = invoke("evaluate", run_folder, "--episodes", 3, "--option", "reset_noise_scale=0.0")
    path = run_folder / "evaluation-tumble-reset_noise_scale=0.0.json"
    score = json.loads(path.read_text())
    assert str(path) in printed and score["options"] == {"reset_noise_scale": 0.0}
    assert len(set(score["returns"])) == 1 and (run_folder / "evaluation-tumble.json").read_text() == before


@pytest.mark.parametrize("simulator", ["tumble", "mujoco"])
def test_evaluate_films(run_folder, tmp_path, simulator):
    film = tmp_path / "film.mp4"
    invoke(
        "evaluate",
        run_folder,
        "--in",
        simulator,
        "--episodes",
        1,
        "--video",
        film,
        "--seconds",
        0.5,
        "--overlay",
        "terms",
    )
    assert film.read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize("simulator", ["tumble", "mujoco"])
def test_evaluate_records_a_replay(run_folder, tmp_path, simulator):
    """Of MuJoCo's motion too: the cart's place in the page is that of an evaluation's first steps, and moves."""
    place = tmp_path / "replay.html"
    invoke("evaluate", run_folder, "--in", simulator, "--episodes", 1, "--replay", place, "--seconds", 0.2)
    about, arrays = read_page(place.read_text("utf-8"))
    assert about["title"].startswith("InvertedPendulum-v0, ppo") and "reward" in about["curves"]
    assert len(arrays["pos"]) == 6 and np.ptp(arrays["pos"], axis=0).max() > 0
    np.testing.assert_allclose(np.diff(arrays["time"][:, 0]), 0.04, rtol=1e-5)


@pytest.mark.parametrize("command", [("evaluate", "--episodes", 1, "--view"), ("view",)])
def test_a_policy_is_viewed(run_folder, monkeypatch, command):
    """The page is one of two environments, in which the policy acts."""
    pytest.importorskip("viser")
    from tumble.viewer import Viewer, live

    seen = []

    def look(source, act, **options):
        viewer = Viewer(source, act, **{**options, "play": False})
        for _ in range(3):
            viewer._advance()
        seen.append((viewer.session.way, viewer.session.info["reward"].tolist(), viewer._stage.shown))
        viewer.close()

    monkeypatch.setattr(live, "view", look)
    invoke(command[0], run_folder, *command[1:], "--num-envs", 2)
    assert seen == [("policy", [1.0, 1.0], [0, 1])]  # the poles stand


def test_render_a_task_and_a_model(tmp_path):
    from PIL import Image

    picture = tmp_path / "task.png"
    invoke("render", "Hopper", "--out", picture, "--num-envs", 3, "--width", 64, "--height", 48)
    assert Image.open(picture).size == (128, 96)
    for count, side in ((4, 2), (20, 5)):  # render() of a vector environment shows 16 unless told otherwise
        invoke("render", "Hopper", "--out", picture, "--num-envs", count, "--width", 16, "--height", 16)
        tiles = np.asarray(Image.open(picture)).reshape(-(-count // side), 16, side, 16, 3).swapaxes(1, 2)
        assert (tiles.reshape(-1, 16, 16, 3).max(axis=(1, 2, 3)) > 0).sum() == count
    model = tmp_path / "ball.xml"
    model.write_text(
        "<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
        "<body pos='0 0 1'><freejoint/><geom size='0.2'/></body></worldbody></mujoco>"
    )
    film = tmp_path / "ball.mp4"
    invoke("render", model, "--out", film, "--seconds", 0.3, "--width", 64, "--height", 64)
    assert film.read_bytes()[4:8] == b"ftyp"
    gif = tmp_path / "ball.gif"
    several = ["--num-envs", 3, "--columns", 3, "--gap", 2, "--overlay", "time", "--overlay", "contacts", "--slow", 5]
    invoke("render", model, "--out", gif, "--seconds", 0.06, "--width", 64, "--height", 64, *several)
    assert Image.open(gif).size == (3 * 64 + 2 * 2, 64) and Image.open(gif).n_frames == 11  # ten in steps of 6 ms
    invoke("render", model, "--out", picture, "--num-envs", 4, "--spacing", 1, "--width", 64, "--height", 48)
    assert Image.open(picture).size == (64, 48)
    place = tmp_path / "ball.html"
    invoke("render", model, "--out", place, "--seconds", 0.3, "--num-envs", 2)
    about, arrays = read_page(place.read_text("utf-8"))
    fallen = arrays["pos"][0, 1, 0, 2] - arrays["pos"][-1, 1, 0, 2]
    assert about["envs"] == [0, 1] and fallen == pytest.approx(
        0.5 * 9.81 * 0.3**2, rel=0.02
    )  # steps of 2 ms, drag none
    invoke("render", model, "--out", picture, "--num-envs", 4, "--width", 64, "--height", 48)
    assert Image.open(picture).size == (128, 96)
    for what in (model, "InvertedPendulum"):
        invoke("render", what, "--out", picture, "--path", "--samples", 2, "--width", 32, "--height", 24)
        assert Image.open(picture).size == (32, 24) and np.asarray(Image.open(picture)).std() > 5


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["train", "Ant", "--lr", "1"], ["--set ppo.learning_rate=VALUE"]),
        (["train", "Ant", "--algo=sac", "--lr=1"], ["--set sac.learning_rate=VALUE"]),
        (["train", "Ant", "--ppo.lr", "1"], ["--set ppo.learning_rate=VALUE"]),
        (["train", "Ant", "--gae-lam", "1"], ["--set ppo.gae_lambda=VALUE"]),
        (["train", "Ant", "--n-steps", "1"], ["--set ppo.n_steps=VALUE", "--steps"]),
        (["train", "Ant", "--num-env", "1"], ["--num-envs"]),
        (["train", "Ant", "--sed", "1"], ["--seed", "--seeds", "--set"]),
        (["config", "Ant", "--num-envs", "1"], ["--set num_envs=VALUE"]),
    ],
)
def test_an_unknown_option_names_the_setting_or_option_that_is_meant(arguments, meant):
    """Options of the command that are spelt nearly so come before values of the configuration."""
    message = " ".join(re.sub("[│╭╮╰╯─]", "", invoke(*arguments, code=2)).split())
    option = arguments[-2] if arguments[-1] == "1" else arguments[-1].partition("=")[0]
    found = re.search(
        rf"No such option:? '?{option}'?[ .(]+(Possible options:|Did you mean)(?: one of:)? ([^?)]+)", message
    )
    assert found and found[2].replace("'", "") == ", ".join(meant), "words of older and newer versions of click"


@cases(
    "arguments, message",
    [
        (["train", "HalfCheeta"], "did you mean tumble/HalfCheetah-v0"),
        (["train"], "give a TASK"),
        (["train", "Ant", "--algo", "dqn"], "ppo, sac, td3"),
        (["train", "--config", "none.toml"], "none.toml: no such configuration file"),
        (["train", "--resume", "runs/none"], "no run folder"),
        (["train", "Ant", "--resume", "runs/none"], "leave out TASK"),
        (["evaluate", "runs/none"], "no run folder"),
        (["evaluate", "runs/none", "--video", "film.avi"], "must end in .mp4"),
        (["evaluate", "runs/none", "--option", "friction"], "write NAME=VALUE"),
        (["render", "Ant", "--out", "picture.bmp"], "must end in .png or .mp4"),
        (["render", "Ant", "--overlay", "rewards"], "no overlay 'rewards'; nearest: reward"),
        (["render", "none.xml"], "none.xml: no such model file"),
        (["render", "Walker"], "did you mean tumble/Walker2d-v0"),
        (["train", "me/No-v0"], "unknown task 'me/No-v0'; your task is named with its module or file"),
        (["train", "Ant", "--device", "cuda"], "torch finds no GPU on this machine; use --device cpu"),
        (["train", "Ant", "--device", "toaster"], "device 'toaster': there is cpu"),
        (
            ["render", "Hopper", "--camera", "nocam"],
            "Hopper-v0: the model has no camera 'nocam'; there are: track",
        ),
        (["render", "broken.xml"], "broken.xml: "),
        (["render", "ball.xml", "--camera", "nocam"], "ball.xml: the model has no camera 'nocam'"),
        (["train", "--resume", "runs/none", "--algo", "sac"], "leave out --algo"),
        (["train", "--resume", "runs/none", "--set", "seed=1"], "leave out --set"),
        (["train", "--resume", "runs/none", "--wandb", "p"], "leave out --wandb"),
        (["train", "--resume", "runs/none", "--evaluate-every", "5"], "leave out --evaluate-every"),
        (["train", "--config", "a.toml", "--algo", "sac"], "leave out --algo"),
        (["evaluate", "runs/none", "--num-envs", "4"], "give --video FILE.mp4"),
        (["train", "Ant", "--wandb", "project"], 'pip install "tumble[wandb]"'),
        (["train", "Ant", "--out", "broken.xml/run"], "broken.xml/run: Not a directory"),
    ],
)
def test_mistakes_are_explained(monkeypatch, capsys, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setitem(sys.modules, "wandb", None)
    (tmp_path / "broken.xml").write_text("<mujoco><worldbody><geom/></worldbody></mujoco>")
    body = "<body><freejoint/><geom size='1'/></body>"
    (tmp_path / "ball.xml").write_text(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    assert message in mistake(monkeypatch, capsys, *arguments)


def test_version():
    assert invoke("--version").split() == ["tumble", tumble.__version__]


def test_without_a_bar_the_folder_and_some_lines_are_printed(tmp_path):
    printed = invoke(*TRAIN, "--out", tmp_path / "run", "--set", "ppo.n_steps=16").splitlines()
    assert printed[0] == f"run folder: {tmp_path / 'run'}"
    lines = [line for line in printed if line.split()[1] == "steps"]
    assert 5 <= len(lines) <= 11 and lines[-1].startswith("2,048 steps (100 %), ") and "return" in lines[-1]


def contents(folder):
    """Every file of a folder with its bytes."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("steps", [["--steps", 1024], ["--steps", 2048], []], ids=["below", "equal", "none"])
def test_resuming_what_has_nothing_left_changes_nothing(tmp_path, steps):
    invoke(*TRAIN, "--out", tmp_path / "run")
    before = contents(tmp_path / "run")
    printed = invoke("train", "--resume", tmp_path / "run", *steps, "--no-progress")
    wanted = "--steps 1,024" if 1024 in steps else "2,048"
    assert "nothing to do" in printed and "stands at step 2,048" in printed and wanted in printed
    assert contents(tmp_path / "run") == before


def test_one_episode_has_no_standard_error(run_folder):
    printed = invoke("evaluate", run_folder, "--in", "tumble", "--in", "mujoco", "--episodes", 1)
    assert "nan" not in printed and "one episode has no standard error" in printed


def test_scores_are_printed_before_they_are_written(monkeypatch, capsys, run_folder, tmp_path):
    """A folder where the file should go stands for all that may go wrong: a full disk, a folder that is read-only."""
    copy = tmp_path / "run"
    shutil.copytree(run_folder, copy)
    (copy / "evaluation-tumble.json").unlink(missing_ok=True)
    (copy / "evaluation-tumble.json").mkdir()
    monkeypatch.setattr(sys, "argv", ["tumble", "evaluate", str(copy), "--episodes", "2"])
    with pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    assert stopped.value.code == 2 and "mean return" in out
    assert err.startswith("error: ") and "Is a directory" in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_refusals_of_the_system_end_in_a_line(monkeypatch, capsys, tmp_path, number):
    """The disk is full, or the folder may not be written to."""

    def refuse(self, path):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr("stable_baselines3.common.base_class.BaseAlgorithm.save", refuse)
    *before, message = mistake(monkeypatch, capsys, *TRAIN, "--out", tmp_path / "run").splitlines()
    assert "the checkpoint of step 2,048 could not be written" in message and os.strerror(number) in message
    assert ("make room on the disk" in message) == (number == errno.ENOSPC) and message.startswith("error: ")
    assert len(before) == 1 and "could not be written" in before[0] and "training goes on" in before[0]


def test_torchs_error_on_a_full_disk_ends_in_a_line(monkeypatch, capsys, tmp_path):
    def refuse(*arguments):
        raise RuntimeError("[enforce fail at inline_container.cc:858] . PytorchStreamWriter failed writing file\ntrace")

    monkeypatch.setattr(torch, "save", refuse)
    message = mistake(monkeypatch, capsys, *TRAIN, "--out", tmp_path / "run")
    assert "PytorchStreamWriter failed" in message and "is the disk full?" in message and "trace" not in message


def test_a_reader_that_leaves_is_no_error():
    """As in `tumble list | head -1`."""
    line = f"{sys.executable} -m tumble.training.cli config Ant | head -1"
    result = subprocess.run(line, shell=True, capture_output=True, text=True, timeout=60)
    errors = [line for line in result.stderr.splitlines() if not line.endswith(" s so far")]  # of a busy machine
    assert result.stdout.startswith("# ppo") and errors == []


@pytest.mark.parametrize("simulator", ["tumble", "mujoco"])
def test_a_film_shows_several_environments(run_folder, tmp_path, simulator):
    """Each in its place, until the last pole has fallen; those that fell before keep their last picture."""
    film = tmp_path / "film.mp4"
    place = run_folder / f"evaluation-{simulator}.json"
    place.unlink(missing_ok=True)
    invoke("evaluate", run_folder, "--in", simulator, "--episodes", 3, "--video", film, "--num-envs", 3)
    score = json.loads(place.read_text())
    frames = iio.imread(film).astype(int)
    assert len(frames) == min(max(score["lengths"]), 500), "20 s of 25 pictures a second"
    assert frames.shape[1:] == (256, 256, 3)
    height, width = 128, 128
    assert frames[:, height:, width:].max() < 30, "the fourth place is empty"
    places = [frames[:, :height, :width], frames[:, :height, width:], frames[:, height:, :width]]
    for place, length in zip(places, score["lengths"], strict=True):
        assert place[0].std() > 5
        assert np.abs(place[length - 1 :] - place[length - 1]).max(initial=0) < 60, "it keeps its last picture"
    assert not np.array_equal(places[0][0], places[1][0]) and not np.array_equal(places[1][0], places[2][0])


def test_an_unknown_simulator_is_explained(monkeypatch, capsys, run_folder):
    assert "choose tumble, mujoco, mujoco-task" in mistake(
        monkeypatch, capsys, "evaluate", run_folder, "--in", "bullet"
    )


def test_without_the_mujoco_extra_the_remedy_is_named(monkeypatch, capsys, run_folder):
    """Gymnasium's tasks need a window library that mujoco-core does not bring."""
    for name in [name for name in sys.modules if name.startswith("gymnasium.envs.mujoco")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "glfw", None)
    message = mistake(monkeypatch, capsys, "evaluate", run_folder, "--in", "mujoco", "--episodes", 1)
    assert "tumble[mujoco]" in message and "--in mujoco-task" in message


def test_one_of_several_processes_of_a_launcher_is_refused_in_a_sentence(monkeypatch, capsys, tmp_path, run_folder):
    """If the launcher does not say which process this is, or seeds are trained in processes too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORLD_SIZE", "4")
    before = sorted(run_folder.rglob("*"))
    for arguments in (TRAIN, ["train", "--resume", run_folder, "--steps", 10_000]):
        message = mistake(monkeypatch, capsys, *arguments)
        assert "error: RANK is '', and WORLD_SIZE is more than 1: a launcher such as torchrun sets both" in message
        assert message.count("\n") == 1
    for arguments in ([*TRAIN, "--seeds", "1-2"], [*TRAIN, "--seeds", "1-2", "--processes", "2"]):
        assert "several processes train one run, and --seeds" in mistake(monkeypatch, capsys, *arguments)
    assert list(tmp_path.iterdir()) == [] and sorted(run_folder.rglob("*")) == before


def test_the_command_is_installed():
    help_text = subprocess.run([sys.executable, "-m", "tumble.training.cli", "--help"], capture_output=True, text=True)
    assert all(command in help_text.stdout for command in ("list", "train", "evaluate", "render", "bench"))
