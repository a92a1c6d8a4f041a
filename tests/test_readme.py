"""The README is true: its examples run as printed, its table of tasks is the registry's."""

import re
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest

import tumble  # noqa: F401 - registers the tasks

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def titled(example: str) -> str:
    """The first line of a program, which names it."""
    return example.split("\n", 1)[0]


def in_a_process(example: str, folder: Path) -> None:
    """Run a program as users do, in a fresh interpreter."""
    run = subprocess.run([sys.executable, "-c", example], cwd=folder, capture_output=True, text=True, timeout=500)
    assert run.returncode == 0, run.stderr


def test_the_first_example_runs_as_printed(tmp_path):
    in_a_process(EXAMPLES[0], tmp_path)


@pytest.mark.parametrize("example", EXAMPLES[1:], ids=titled)
def test_examples_run(example, tmp_path, monkeypatch):
    """With names of their own, in this process, which has the kernels."""
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {"__name__": "__main__"})


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES[1:], ids=titled)
def test_examples_run_as_printed(example, tmp_path):
    in_a_process(example, tmp_path)


def test_table_of_tasks_is_the_registry():
    rows = re.findall(r"^\| `(tumble/\S+)` \| .*?`(\S+)` \| (\d+) \| (\d+) \|$", TEXT, flags=re.MULTILINE)
    assert [row[0] for row in rows] == sorted(name for name in gym.registry if name.startswith("tumble/"))
    for task, twin, observations, actions in rows:
        assert twin == task.removeprefix("tumble/").replace("-v0", "-v5")
        env = gym.make(task)
        assert (env.observation_space.shape, env.action_space.shape) == ((int(observations),), (int(actions),))
        env.close()


def test_commands_shown_exist():
    """Every option of the `tumble` command that the README shows is one that it has."""
    import typer

    from tumble.training.cli import app

    commands = typer.main.get_command(app).commands
    shown = re.findall(r"^tumble (\w+)(.*?)(?:#|$)", TEXT, flags=re.MULTILINE)
    assert shown
    for name, rest in shown:
        known = {option for parameter in commands[name].params for option in parameter.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= known, name


def test_links_inside_the_repository_lead_somewhere():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", TEXT):
        assert (ROOT / target).exists(), target
