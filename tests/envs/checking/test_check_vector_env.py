"""`check_vector_env` finds what is broken by the check that is for it, and passes what is right."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict
from gymnasium.vector import AutoresetMode
from typer.testing import CliRunner

import tumble
from tumble.envs import registry
from tumble.envs.checking import CHECKS, NonconformanceError
from tumble.envs.checking.report import FAILED, NOT_APPLICABLE, NOTED, PASSED
from tumble.training.cli import app, main

from ...cases import cases
from ..own_tasks import Pointer, Pushed
from .walkers import BROKEN, Walkers

NAMES = [check.name for check in CHECKS]
ALSO = {
    "the metadata says NEXT_STEP in every mode": {"final infos", "disabled"},
    "the reset comes a step late": {"time limit"},
}
"""Further checks that find the same."""


def checked(envs: Any, **options: Any) -> Any:
    return tumble.check_vector_env(envs, raise_on_failure=False, **options)


def failed(report: Any) -> set[str]:
    return {result.name for result in report.failures}


@cases("wrong", BROKEN)
def test_what_is_broken_is_found_by_its_check(wrong):
    """By no other, and with words that say what was seen and what to do."""
    name, kind = BROKEN[wrong]
    with pytest.raises(NonconformanceError) as caught:
        tumble.check_vector_env(kind)
    report = caught.value.report
    assert failed(report) == {name} | ALSO.get(wrong, set()), report
    result = report[name]
    assert result.seen and result.do and result.because and result.requires
    assert result.seen in str(report).replace("\n", " ") or len(result.seen) > 60


def test_every_check_finds_something():
    """But those that note, and `spec`, which needs the registry: its test is below."""
    assert {check for check, _ in BROKEN.values()} == {*NAMES} - {"use after close", "spec"}
    assert len(BROKEN) >= 30


def test_what_is_right_passes():
    report = tumble.check_vector_env(Walkers)
    assert {result.name for result in report.results if result.status != PASSED} == {"spec"}
    assert [result.name for result in report.results] == NAMES
    assert not report.failures and not report.notes
    assert report.summary() == f"Walkers: {len(NAMES) - 1} passed, 0 failed, 0 noted, 1 not applicable"


class Blind(Walkers):
    """Nothing can be seen, not even a reset."""

    def observe(self):
        """Nothing."""
        return np.zeros((self.num_envs, 2), np.float32)


def test_observations_may_be_constant():
    """A bandit observes nothing that a reset could change, and passes."""
    assert not checked(Blind).failures


class Uneven(Walkers):
    """Environments see with offsets of their places, as robots on the columns of a terrain do."""

    def observe(self):
        """Shrink all."""
        observation = super().observe()
        observation *= 1 - 0.1 * np.arange(self.num_envs)[:, None]
        return observation


def test_environments_may_differ_by_place():
    assert not checked(Uneven).failures


@pytest.mark.parametrize("mode", AutoresetMode)
def test_given_environments_are_checked_as_they_are(mode):
    """Checks that need others do not apply; the environments stay open."""
    envs = Walkers(max_episode_steps=12, autoreset_mode=mode)
    report = tumble.check_vector_env(envs)
    assert not envs.closed
    told = {result.name for result in report.passed}
    only = {
        "NEXT_STEP": {"next step", "ignored actions"},
        "SAME_STEP": {"final observations", "final infos", "same step"},
        "DISABLED": {"disabled"},
    }
    for name, checks in only.items():
        assert checks <= told if name == mode.name else not checks & told
    assert report["modes agree"].status == report["close"].status == NOT_APPLICABLE
    assert "give an id or a function" in report["close"].seen


class Fast(gymnasium.Env):
    """An environment of one, with a Dict observation and an info."""

    observation_space = Dict({"a": Box(0, 1, (2,)), "b": Box(0, 1, (1,))})
    action_space = Box(-1, 1, (2,))
    metadata = {"render_modes": []}  # noqa: RUF012

    def reset(self, *, seed=None, options=None):
        """Draw."""
        super().reset(seed=seed)
        return {"a": self.np_random.random(2, np.float32), "b": self.np_random.random(1, np.float32)}, {"begun": 1}

    def step(self, action):
        """Draw."""
        seen = {"a": self.np_random.random(2, np.float32), "b": self.np_random.random(1, np.float32)}
        return seen, float(action[0]), bool(seen["b"][0] > 0.97), False, {"seen": seen["a"], "words": "x"}


@pytest.mark.parametrize("identity", ["CartPole-v1", "mine/Fast-v0"])
@pytest.mark.parametrize("vectorization", ["sync", pytest.param("async", marks=pytest.mark.slow)])
def test_gymnasiums_own_pass(identity, vectorization):
    gymnasium.register("mine/Fast-v0", Fast, max_episode_steps=9)
    try:
        report = tumble.check_vector_env(identity, vectorization_mode=vectorization)
    finally:
        del gymnasium.registry["mine/Fast-v0"]
    away = {result.name for result in report.results if result.status == NOT_APPLICABLE}
    assert away <= {"infos", "render"}
    assert [note.name for note in report.notes] == (["use after close"] if vectorization == "sync" else [])


@pytest.mark.parametrize(
    ("identity", "wrapper"),
    [
        ("FrozenLake-v1", None),
        ("Blackjack-v1", None),
        ("CartPole-v1", gymnasium.wrappers.vector.RecordEpisodeStatistics),
        ("CartPole-v1", gymnasium.wrappers.vector.FlattenObservation),
        (
            "CartPole-v1",
            lambda envs: gymnasium.wrappers.vector.TransformObservation(envs, halved, Box(-99, 99, (3, 4))),
        ),
    ],
)
def test_gymnasiums_whole_numbers_and_wrappers_pass(identity, wrapper):
    """Final observations are Python's ints; an episode's statistics have one mask; a spec has no wrappers."""

    def make(autoreset_mode=AutoresetMode.NEXT_STEP, max_episode_steps=12):
        modes = {"autoreset_mode": autoreset_mode}
        options = {"vectorization_mode": "sync", "vector_kwargs": modes, "max_episode_steps": max_episode_steps}
        envs = gymnasium.make_vec(identity, 3, **options)
        return envs if wrapper is None else wrapper(envs)

    assert not checked(make).failures


class Rolled(gymnasium.vector.VectorActionWrapper):
    """Gives each environment the action of its neighbour."""

    def actions(self, actions):
        """Roll."""
        return np.roll(actions, 1)


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("task", ["gymnasium", "ours"])
def test_actions_that_reach_the_wrong_environment(task, count):
    """Nothing else is wrong; under NEXT_STEP the neighbour of one that is reset shows it too."""

    def make():
        if task == "ours":
            return Rolled(tumble.make_vec(Pointer, count, output="numpy"))
        return Rolled(gymnasium.make_vec("CartPole-v1", count, vectorization_mode="sync"))

    report = checked(make)
    assert failed(report) - {"ignored actions"} == {"own actions"}
    assert "give environment i row i" in report["own actions"].do
    assert not checked(lambda: make().env).failures


def test_pictures_of_some_environments_are_noted():
    """Those that `render_envs` names are shown, 16 by default; a picture that is missing among them is found."""

    def make(**options):
        return tumble.make_vec(Pointer, 17, width=8, height=8, **options)

    report = checked(make, steps=8)
    assert not report.failures
    assert report["render"].status == NOTED and "shows the 16 of 17 environments" in report["render"].seen

    class Few(Walkers):
        render_envs = (0, 2)

        def render(self):
            return super().render()[:1]

    assert "returned 1 of them; 2 environments are to be shown" in checked(Few)["render"].seen


def halved(observations: Any) -> Any:
    return observations * np.float32(0.5)


def test_gymnasiums_cart_pole_of_its_own_kind():
    """It does all but this: `close` leaves `closed` False (Gymnasium 1.4.0)."""
    report = checked("CartPole-v1", vectorization_mode="vector_entry_point")
    assert failed(report) <= {"close"}
    assert "a list is refused" in report["list of seeds"].seen
    assert report["partial reset"].status == NOTED and "ignores options['reset_mask']" in report["partial reset"].seen
    assert "cannot be made with autoreset_mode=" in report["same step"].seen or report["final observations"].seen


def test_arrays_that_are_used_again_as_documented_are_noted():
    def make(autoreset_mode=AutoresetMode.NEXT_STEP):
        return gymnasium.make_vec(
            "CartPole-v1", 3, vectorization_mode="sync", vector_kwargs={"copy": False, "autoreset_mode": autoreset_mode}
        )

    report = tumble.check_vector_env(make)
    assert report["fresh arrays"].status == NOTED and "copy=False" in report["fresh arrays"].seen


@pytest.mark.parametrize(("task", "output"), [(Pushed, "torch"), (Pointer, "numpy")])
def test_ours_pass(task, output):
    """In all modes; with inputs, memory, Dict observations and pictures."""

    def make(**options):
        return tumble.make_vec(task, 3, output=output, **options)

    report = tumble.check_vector_env(make, steps=40)
    assert not report.notes
    assert {result.name for result in report.results if result.status == NOT_APPLICABLE} <= {"spec", "ignored actions"}


@pytest.mark.slow
@pytest.mark.parametrize("task", registry.TASKS)
def test_every_task_passes(task):
    report = tumble.check_vector_env(f"tumble/{task}-v0", raise_on_failure=False)
    assert not report.failures, report


def test_a_registered_task_passes():
    report = tumble.check_vector_env("tumble/Hopper-v0", steps=40, width=16, height=16)
    assert {result.name for result in report.results if result.status != PASSED} == set()


class Misnamed(Walkers):
    """Forgets how many it was made with."""

    def __init__(self, num_envs=2, **options):
        super().__init__(2, **options)


def test_a_spec_that_makes_others_is_found():
    gymnasium.register("mine/Walkers-v0", entry_point=Fast, vector_entry_point=Walkers)
    try:
        envs = gymnasium.make_vec("mine/Walkers-v0", num_envs=3)
        assert checked(envs)["spec"].status == PASSED
        envs.spec.kwargs["num_envs"] = 2
        result = checked(envs)["spec"]
        assert result.status == FAILED and "num_envs is 2 and was 3" in result.seen
        envs.spec.kwargs["other"] = lambda: None
        assert "pickle" in checked(envs)["spec"].seen
    finally:
        del gymnasium.registry["mine/Walkers-v0"]


def test_skipped_checks():
    name, kind = BROKEN["pictures are floats"]
    report = tumble.check_vector_env(kind, skip=[name])
    assert report[name].status == NOT_APPLICABLE and report[name].seen == "skipped"
    with pytest.raises(ValueError, match="there is no check 'colors'; there are attributes, batched"):
        tumble.check_vector_env(kind, skip=["colors"])


@pytest.mark.parametrize(
    ("envs", "words"),
    [
        (3, "expected a gymnasium VectorEnv, an id such as 'CartPole-v1', or a function that makes one, not int"),
        (lambda: gymnasium.make("CartPole-v1"), "expected a gymnasium.vector.VectorEnv, and this is "),
    ],
)
def test_what_is_no_vector_environment_is_refused(envs, words):
    with pytest.raises(TypeError, match=words):
        tumble.check_vector_env(envs)
    with pytest.raises(TypeError, match=r"options \['width'\] are for an id or a function"):
        tumble.check_vector_env(Walkers(), width=3)
    with pytest.raises(ValueError, match="steps=3: at least 8"):
        tumble.check_vector_env(Walkers, steps=3)


def test_it_needs_no_engine():
    """It runs where neither torch nor Taichi is loaded, and loads neither."""
    program = (
        "import sys, tumble\n"
        "tumble.check_vector_env('CartPole-v1', vectorization_mode='sync')\n"
        "assert not {'torch', 'taichi', 'mujoco'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_command(monkeypatch, capsys):
    """It prints the report, and its exit code says whether a check failed; mistakes are one sentence."""
    outcome = CliRunner().invoke(app, ["check", "CartPole-v1", "--vectorization-mode", "sync", "--skip", "infos"])
    assert outcome.exit_code == 0 and "infos" in outcome.output and "0 failed" in outcome.output.splitlines()[0]
    _, kind = BROKEN["pictures are floats"]
    gymnasium.register("mine/Broken-v0", entry_point=Fast, vector_entry_point=kind)
    try:
        outcome = CliRunner().invoke(app, ["check", "mine/Broken-v0", "--steps", "30"])
    finally:
        del gymnasium.registry["mine/Broken-v0"]
    assert outcome.exit_code == 1 and "\nrender: with render_mode" in outcome.output
    for arguments, words in ((["CartPol-v1"], "CartPol"), (["CartPole-v1", "--skip", "x"], "there is no check 'x'")):
        monkeypatch.setattr(sys, "argv", ["tumble", "check", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == 2 and words in capsys.readouterr().err


def test_the_page_names_every_check():
    page = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "checks.md").read_text(encoding="utf-8")
    for check in CHECKS:
        assert f"\n| {check.name} | {check.requires} |\n" in page
