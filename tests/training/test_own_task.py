"""A user's own task through the `tumble` command, from a folder outside of the repository."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tumble.envs.registry import TASKS, V5
from tumble.training import evaluate
from tumble.training.cli import app, main
from tumble.training.commands.arguments import parse_options
from tumble.training.config import RunConfig
from tumble.training.errors import TumbleUserError
from tumble.training.learning import learner

TUMBLE = Path(sys.executable).with_name("tumble")  # as installed: unlike `python -m`, it does not look beside itself
TRAIN = ["--steps", "2048", "--num-envs", "16", "--no-progress"]


def shell(folder, *arguments, code=0):
    """Run the installed command in a folder; returns what it printed, errors included."""
    command = [str(TUMBLE), *map(str, arguments)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr


def invoke(*arguments):
    """Run the command in this process; returns what it printed."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False).output


def mistake(monkeypatch, capsys, *arguments):
    """Run the command as the shell does, expect exit code 2 and one line, and return that."""
    monkeypatch.setattr(sys, "argv", ["tumble", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    message = capsys.readouterr().err
    assert stopped.value.code == 2 and message.startswith("error: ") and len(message.splitlines()) == 1, message
    return message


def test_train_resume_evaluate_film_from_an_empty_folder(workshop, tmp_path, monkeypatch):
    """Trained beside its file; resumed, evaluated and filmed from another folder, as the run remembers where it is."""
    workshop.write("levers.py")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    printed = shell(workshop.folder, "train", "levers.py", *TRAIN, "--option", "weight=2", "--seed", 3)
    assert "no packaged ppo configuration for this task: training with the defaults" in printed
    assert "finished at step 2,048" in printed
    (run,) = (workshop.folder / "runs").iterdir()
    assert run.name.startswith("Lever-v0-ppo-3-2")
    config = RunConfig.load(run / "config.toml")
    assert config.task == f"{workshop.folder / 'levers.py'}:me/Lever-v0" and config.env == {"weight": 2}
    assert config.ppo == RunConfig("any", "ppo").ppo

    monkeypatch.chdir(elsewhere)
    printed = invoke("train", "--resume", run, workshop.folder / "levers.py", "--steps", 4096, "--no-progress")
    assert "finished at step 4,096" in printed
    film = elsewhere / "film.mp4"
    printed = shell(elsewhere, "evaluate", run, "--trust", "--episodes", 1, "--video", film, "--seconds", 0.3)
    assert "me/Lever-v0 after 4,096 steps" in printed and film.read_bytes()[4:8] == b"ftyp"
    score = json.loads((run / "evaluation-tumble.json").read_text())
    assert score["lengths"] == [20] and score["task"] == "me/Lever-v0" and score["mean"] < 0

    (workshop.folder / "levers.py").unlink()
    printed = shell(elsewhere, "evaluate", run, "--trust", code=2)
    assert "levers.py: no such file" in printed and "Traceback" not in printed


def test_options_reach_the_task_everywhere(workshop):
    """Those of the command line are kept with the run, and set where it learns and where it is evaluated and filmed."""
    workshop.write("levers.py")
    options = ["--option", "weight=2.5", "--option", "frame_skip=2", "--option", "model_options={timestep = 0.001}"]
    invoke("train", "levers:me/Lever-v0", "--out", "run", "--steps", 1, "--num-envs", 2, "--no-progress", *options)
    config = RunConfig.load(Path("run/config.toml"))
    assert config.env == {"weight": 2.5, "frame_skip": 2, "model_options": {"timestep": 0.001}}
    for envs in (learner.make_envs(config), evaluate.make_envs(config, "tumble", 3, render_mode="rgb_array")):
        task = envs.unwrapped.task
        assert (task.weight, task.frame_skip, task.dt) == (2.5, 2, 0.002)
        envs.close()


def test_render_takes_every_form(workshop):
    from PIL import Image

    workshop.write("levers.py")
    for what in ("levers.py", "levers:me/Lever-v0", f"{workshop.folder}/levers.py:lever"):
        picture = workshop.folder / "picture.png"
        invoke("render", what, "--out", picture, "--num-envs", 2, "--width", 32, "--height", 32, "--option", "weight=3")
        assert Image.open(picture).size == (64, 32)
        picture.unlink()


def test_list_shows_tasks_of_ones_own_and_cuts_no_name(workshop, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    workshop.write("levers.py", more='\ntumble.register("me/' + 70 * "Very" + 'LongLever-v0", Lever)\n')
    printed = invoke("list").splitlines()
    for name in V5:
        assert any(line.split()[:2] == [f"tumble/{name}-v0", f"{name}-v5"] for line in printed)
    for name, row in TASKS.items():
        if name not in V5:
            assert any(line.split()[:2] == [f"tumble/{name}-v0", str(row.max_episode_steps)] for line in printed)
    assert not any("me/" in line for line in printed)
    printed = invoke("list", "levers.py").splitlines()
    assert not any("tumble/" in line for line in printed)
    assert any(line.split() == ["levers.py:me/Lever-v0", "20"] for line in printed)
    assert any(line.split() == ["levers.py:me/" + 70 * "Very" + "LongLever-v0"] for line in printed)
    assert any("levers:me/Lever-v0" in line for line in invoke("list", "levers").splitlines())


def test_a_configuration_file_may_name_a_file(workshop):
    file = workshop.write("levers.py")
    config = RunConfig("levers.py", "ppo", total_steps=1, num_envs=2, env={"weight": 4.0, "frame_skip": 3})
    Path("mine.toml").write_text(config.to_toml())
    invoke("train", "--config", "mine.toml", "--out", "run", "--no-progress", "--option", "weight=5.0")
    kept = RunConfig.load(Path("run/config.toml"))
    assert kept.task == f"{file}:me/Lever-v0" and kept.env == {"weight": 5.0, "frame_skip": 3}


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        (("", ""), ["--option", "wieght=2"], "me/Lever-v0 has no option 'wieght'; did you mean weight"),
        (("", ""), ["--option", "max_episode_step=2"], "did you mean max_episode_steps?"),
        (("", ""), ["--option", "frameskip=2"], "did you mean frame_skip?"),
        (
            ("", ""),
            ["--option", "zzz=2"],
            "has no option 'zzz'; there are xml_file, frame_skip, ",
        ),
        (("", ""), ["--set", "env.wieght=2"], "me/Lever-v0 has no option 'wieght'; did you mean weight"),
        (("", ""), ["--set", "num_env=2"], "unknown key 'num_env'; did you mean 'num_envs'"),
        (("", ""), ["--option", "num_envs=2"], "num_envs is no option of the task; use --num-envs"),
        (("", ""), ["--option", "weight"], "write NAME=VALUE"),
        (("", ""), ["--option", "weight=much"], "weight must be a number, got 'much'"),
        (("", ""), ["--algo", "dqn"], "algo must be one of ppo, sac, td3"),
        (("lever.xml", "bar.xml"), [], "no model file bar.xml in"),
        (("noise.uniform(-0.1, 0.1, 1)", "noise.uniform(-0.1, 0.1, 2)"), [], "Lever.reset: qpos has shape (2, 2)"),
        (('{"off": -self.weight * off * off}', '{"off": off[:1]}'), [], "Lever.step: reward term 'off' has shape (1,)"),
        (("off = (", "off = 1 / 0 * ("), [], "levers.py:20: ZeroDivisionError: division by zero"),
    ],
)
def test_mistakes_end_in_a_line(workshop, monkeypatch, capsys, change, arguments, message):
    """Those of the command line, of the making, and of a step in the middle of training."""
    code = workshop.write("levers.py").read_text()
    workshop.write("levers.py", code.replace(*change) if change[0] else code)
    arguments = ["train", "levers.py", "--no-progress", "--num-envs", 2, "--steps", 1, *arguments]
    assert message in mistake(monkeypatch, capsys, *arguments)


def test_a_mistake_in_the_middle_of_training_loses_nothing(workshop, monkeypatch, capsys):
    """What was learnt until then is saved, and the run goes on when the file is mended."""
    code = workshop.write("levers.py").read_text()
    broken = code.replace("off = (", "CALLS.append(0)\n        assert len(CALLS) < 200, 'now'\n        off = (")
    workshop.write("levers.py", "CALLS = []\n" + broken)
    arguments = ["train", "levers.py", "--no-progress", "--num-envs", 2, "--steps", 2560, "--out", "run"]
    message = mistake(monkeypatch, capsys, *arguments)
    assert "levers.py:22: AssertionError: now. What was learnt in 256 steps is saved. When the mistake" in message
    assert message.endswith(f"go on: tumble train --resume run {workshop.folder / 'levers.py'}\n")
    workshop.write("levers.py", code)
    workshop.forget()
    printed = invoke("train", "--resume", "run", workshop.folder / "levers.py", "--steps", 512, "--no-progress")
    assert "finished at step 512" in printed


def test_rendering_with_mistakes(workshop, monkeypatch, capsys):
    workshop.write("levers.py")
    message = mistake(monkeypatch, capsys, "render", "levers.py", "--option", "wieght=3")
    assert "me/Lever-v0 has no option 'wieght'; did you mean weight" in message
    message = mistake(monkeypatch, capsys, "config", "levers.py", "--option", "wieght=3")
    assert "me/Lever-v0 has no option 'wieght'; did you mean weight" in message
    arguments = ["render", "lever.xml", "--option", "weight=3"]
    assert "lever.xml is a model" in mistake(monkeypatch, capsys, *arguments)
    assert "leave out --option" in mistake(monkeypatch, capsys, "train", "--resume", "x", "--option", "weight=3")


def test_it_is_judged_in_mujoco(workshop, monkeypatch, capsys):
    """By its own code over MuJoCo's C, from the same starts, and filmed there; what MuJoCo lacks is said."""
    workshop.write("levers.py")
    invoke("train", "levers.py", "--out", "run", "--steps", 1, "--num-envs", 2, "--no-progress")
    printed = invoke("evaluate", "run", "--trust", "--in", "tumble", "--in", "mujoco", "--episodes", 4)
    assert "the means agree: 0.0 % apart" in printed
    scores = [json.loads(Path(f"run/evaluation-{name}.json").read_text()) for name in ("tumble", "mujoco")]
    assert scores[0]["returns"] == pytest.approx(scores[1]["returns"], rel=1e-3)
    assert scores[1]["returns"] != scores[0]["returns"] and scores[1]["environment"] == ""
    filmed = ("--in", "mujoco-task", "--episodes", 1, "--video", "film.mp4", "--seconds", 0.2)
    invoke("evaluate", "run", "--trust", *filmed)
    assert Path("film.mp4").read_bytes()[4:8] == b"ftyp"
    code = workshop.folder / "levers.py"
    code.write_text(code.read_text().replace("weight: float", 'reads = ("con_dist",)\n    weight: float'))
    workshop.forget()
    message = mistake(monkeypatch, capsys, "evaluate", "run", "--trust", "--in", "mujoco", "--episodes", 1)
    assert "the quantity 'con_dist' is Tumble's own, MuJoCo does not have it" in message


def test_episodes_without_an_end_are_not_waited_for(workshop, monkeypatch, capsys):
    monkeypatch.setattr(evaluate, "LONGEST", 30)
    workshop.write("levers.py", more='\ntumble.register("me/Endless-v0", Lever)\n')
    invoke("train", "levers.py:me/Endless-v0", "--out", "run", "--steps", 1, "--num-envs", 2, "--no-progress")
    message = mistake(monkeypatch, capsys, "evaluate", "run", "--task", "levers.py", "--episodes", 2)
    assert "2 episodes have not ended after 30 steps" in message and "max_episode_steps" in message
    limited = ["--option", "max_episode_steps=25"]
    invoke("train", "levers.py:me/Endless-v0", "--out", "b", "--steps", 1, "--num-envs", 2, "--no-progress", *limited)
    invoke("evaluate", "b", "--task", "levers", "--episodes", 2)
    assert json.loads(Path("b/evaluation-tumble.json").read_text())["lengths"] == [25, 25]


def test_options_are_read_as_toml():
    given = ["a=1", "b=0.5", "c=true", "d=word", 'e="quoted = 1"', "f=[1, inf]", "g=", "h=1 # x", "i=2020-01-01"]
    parsed = parse_options([*given, "j={timestep = 0.001}", "k=two words", "l=5\nm=6"])
    assert parsed == {
        "a": 1,
        "b": 0.5,
        "c": True,
        "d": "word",
        "e": "quoted = 1",
        "f": [1, float("inf")],
        "g": "",
        "h": 1,
        "i": "2020-01-01",
        "j": {"timestep": 0.001},
        "k": "two words",
        "l": "5\nm=6",
    }
    assert type(parsed["a"]) is int and parse_options(None) == {}
    with pytest.raises(TumbleUserError, match="NAME=VALUE"):
        parse_options(["a-b=1"])


def test_tables_among_the_options_are_kept(tmp_path):
    config = RunConfig("tumble/Ant-v0", "ppo", env={"model_options": {"timestep": 0.001, "note": 'a "b"'}})
    (tmp_path / "config.toml").write_text(config.to_toml())
    assert RunConfig.load(tmp_path / "config.toml") == config
