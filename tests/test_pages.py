"""The README and the pages in `docs` are true: their programs run as printed, their commands and tables are right."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import mujoco
import pytest
import torch

import tumble  # noqa: F401 - registers the tasks
from tumble.assets.packages import VARIABLE
from tumble.benchmarks import duels_page
from tumble.envs.arrays import ArrayKind
from tumble.envs.registry import SUITE, V5, make_task

from .cases import cases
from .physics.gradients import parity as gradients_parity
from .physics.parity import pairs_page, report
from .physics.parity.pairs import BESIDE, REACH
from .training import learning_page

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
ELSEWHERE = {
    "planning",  # test_page_programs.py
    "your_own_task",  # test_docs.py, test_page_programs.py
    "your_own_mechanism",  # test_mechanism_page.py
    "libraries",  # libraries
    "ray",  # libraries
    "training",  # training/test_policies_page.py
}
"""Pages whose programs other tests run."""


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def programs() -> list:
    """Every Python program of the pages that run here, named by page and number."""
    found = []
    for page in PAGES:
        if page.stem not in ELSEWHERE:
            for number, program in enumerate(re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)):
                learns = [pytest.mark.slow] if ".learn(" in program else []
                found.append(pytest.param(program, id=f"{name_of(page)}-{number}", marks=learns))
    return found


def in_a_process(program: str, folder: Path) -> None:
    """Run a program as users do, in a fresh interpreter."""
    run = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=500)
    assert run.returncode == 0, run.stderr


def test_the_first_program_runs_as_printed(tmp_path):
    (program, *_) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    assert len(program.splitlines()) <= 20
    in_a_process(program, tmp_path)


@pytest.mark.parametrize("program", programs()[1:])
def test_programs_run(program, tmp_path, monkeypatch):
    """With names of their own, in this process, which has the kernels."""
    monkeypatch.chdir(tmp_path)
    try:
        exec(compile(program, "page", "exec"), {"__name__": "__main__"})
    except FileNotFoundError as error:
        if VARIABLE not in str(error):
            raise
        pytest.skip(str(error))


@pytest.mark.slow
@pytest.mark.parametrize("program", programs()[1:])
def test_programs_run_as_printed(program, tmp_path):
    in_a_process(program, tmp_path)


NUMBER = r"[+-]?\d+(?:\.\d+)?"
STEP_OF_SHARES = 0.011  # between two pushes that the page tries: another processor's rounding may decide for the next
ROUNDED_FIGURES = 2  # percent and degrees, which the page rounds to whole ones


def printed_below(page: str) -> list[str]:
    """Return the lines that a page says its programs print."""
    return "".join(re.findall(r"```text\n(.*?)```", page, re.DOTALL)).splitlines()


def test_the_figures_of_cones_and_integrators(capsys):
    """The programs print what the page shows; MuJoCo's thrown box has the same energies."""
    page = (ROOT / "docs" / "physics.md").read_text("utf-8")
    names: dict = {}
    for name in ("cones", "spins"):
        names |= runpy.run_path(str(ROOT / "examples" / "physics" / f"{name}.py"))
    said, lines = capsys.readouterr().out.splitlines(), printed_below(page)
    assert [re.sub(NUMBER, "#", line) for line in said] == [re.sub(NUMBER, "#", line) for line in lines]
    for now, line in zip(said, lines, strict=True):
        for one, other in zip(re.findall(NUMBER, now), re.findall(NUMBER, line), strict=True):
            assert abs(float(one) - float(other)) <= (STEP_OF_SHARES if "." in other else ROUNDED_FIGURES), now
    for name, gained in re.findall(r"^(\w+), after .*? ([+-]\d+) %", page, flags=re.MULTILINE):
        mjm = mujoco.MjModel.from_xml_string(names["THROWN"].format(name, 0.002))
        data = mujoco.MjData(mjm)
        data.qvel[3:] = 20, 40, 10
        before = mjm.body_inertia[1] @ data.qvel[3:] ** 2
        mujoco.mj_step(mjm, data, 500)
        energy = 100 * (mjm.body_inertia[1] @ data.qvel[3:] ** 2) / before - 100
        assert abs(energy - int(gained)) <= ROUNDED_FIGURES, name


def test_table_of_gymnasiums_tasks_is_the_catalog():
    text = (ROOT / "docs" / "environments.md").read_text("utf-8")
    rows = re.findall(r"^\| `(tumble/\S+)` \| .*?`(\S+)` \| (\d+) \| (\d+) \|$", text, flags=re.MULTILINE)
    assert [row[0] for row in rows] == sorted(f"tumble/{name}-v0" for name in V5)
    for task, twin, observations, actions in rows:
        assert twin == task.removeprefix("tumble/").replace("-v0", "-v5")
        env = gym.make(task)
        assert (env.observation_space.shape, env.action_space.shape) == ((int(observations),), (int(actions),))
        env.close()


def test_table_of_the_control_suite_is_the_catalog():
    """Sizes of observations and actions, and the time of a step."""
    text = (ROOT / "docs" / "environments.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .*? \| (\d+|\(.*?\)) ?\w* \| (\d+) \| ([\d.]+) s \|", text, flags=re.MULTILINE)
    assert [row[0] for row in rows] == list(SUITE)
    for name, observation, actions, seconds in rows:
        task = make_task(name, {})
        task = task.bound(task.load_model().mj, ArrayKind.of(torch.float64, "cpu"))
        if view := task.cameras.get("pixels"):
            assert observation == f"({view.height}, {view.width}, 3)"
        else:
            assert sum(task.observation_structure.values()) == int(observation)
        assert (task.model.nu, task.dt) == (int(actions), pytest.approx(float(seconds)))


def test_pages_are_made_of_the_numbers_beside_them():
    parity, pairs = (ROOT / "docs" / "reference" / name for name in ("parity.md", "pairs.md"))
    assert learning_page.PAGE.read_text("utf-8") == learning_page.page(), "python -m tests.training.learning_page"
    kept = json.loads(duels_page.RECORD.read_text("utf-8"))
    assert duels_page.PAGE.read_text("utf-8") == duels_page.page(kept), "python -m tumble.benchmarks.duels_page"
    assert parity.read_text("utf-8") == report.page(report.read(parity))
    derivatives = parity.with_name("gradients_parity.md")
    assert derivatives.read_text("utf-8") == gradients_parity.page(gradients_parity.read(derivatives))
    kept = json.loads(pairs.with_suffix(".json").read_text("utf-8"))
    assert pairs.read_text("utf-8") == pairs_page.page(kept, REACH, BESIDE)
    assert not pairs_page.beyond(kept["mujoco"], kept["defaults"], kept["coal"])


@cases("page", PAGES, label=name_of)
def test_commands_shown_exist(page):
    """Every option of the `tumble` command that a page shows is one that it has."""
    import typer

    from tumble.training.cli import app

    commands = typer.main.get_command(app).commands
    text = page.read_text("utf-8")
    shown = re.findall(r"^tumble (\w+)(.*?)(?:#|$)", text, flags=re.MULTILINE)
    shown += re.findall(r"`tumble (\w+)([^`]*)`", text)
    assert shown or page != README
    for name, rest in shown:
        if name != "bench":  # its options are its own parser's
            known = {option for parameter in commands[name].params for option in parameter.opts}
            assert set(re.findall(r"(?<!\S)--[\w-]+", rest)) <= known, f"{name_of(page)}: tumble {name}{rest}"


@cases("page", PAGES, label=name_of)
def test_links_inside_the_repository_lead_somewhere(page):
    prose = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)#\s]+)[^)]*\)", prose):
        assert (page.parent / target).exists(), target


def test_every_page_is_in_the_site():
    """The navigation of mkdocs.yml names each page once, those of the root's files (`.ci/site_hooks.py`) too."""
    named = re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), flags=re.MULTILINE)
    made = ["index.md", "contributing.md", "changelog.md"]
    assert sorted(named) == sorted([*made, *(name_of(page).removeprefix("docs/") for page in PAGES[1:])])


def test_contributing_names_files_that_exist_and_answers_in_one_row():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = re.findall(r"^\| (an? .*?|some.*?) \| .* \| .* \|$", text, re.MULTILINE)
    assert len(rows) > 20
    named = set(re.findall(r"`((?:\w+/)+\w*(?:\.\w+)?)`", text))
    assert len(named) > 40 and not {path for path in named if not (ROOT / path).exists()}
