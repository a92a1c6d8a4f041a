"""What a stage may ask for: the walk through its code, and the error where it asks for what it does not name."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tumble.physics.base.math import spatial
from tumble.physics.base.stage import STAGES, Stage
from tumble.physics.model.state import reach
from tumble.physics.model.state.reach import reach_of
from tumble.physics.run import step
from tumble.physics.run.compile.units import TURN, features_asked, unit_reach

HERE = Path(__file__)


@pytest.fixture(autouse=True)
def looked_at(monkeypatch):
    """What stands here is looked at, as the package is."""
    monkeypatch.setattr(reach, "_PACKAGE", __name__.split(".")[0])


def in_a_global(work):
    return work.of_a_global


def decorated(work):
    return work.of_a_decorated_one


def decorator(work):
    return None


decorator.__wrapped__ = decorated
ROUTINES = {"a key": (in_a_global,), 3: [lambda work: work.of_a_list]}
WORDS = ("one word", ("another",))


class Base:
    def method(self, work):
        return work.of_a_base


class Kind(Base):
    column = "of a class"

    def method(self, work):
        return work.of_a_method

    @property
    def asked(self):
        return self.of_a_property

    @staticmethod
    def fixed(work):
        return work.of_a_static_method


def names_of(function):
    return reach_of(function).names


def test_attributes_and_words():
    def function(model, work):
        return getattr(work, "a word").here, model.first.second

    assert names_of(function) >= {"a word", "here", "first", "second"}


def test_globals_dictionaries_tuples_and_lists():
    def function(work):
        return ROUTINES, WORDS

    assert names_of(function) >= {"of_a_global", "of_a_list", "a key", "one word", "another"}


def test_closures_and_functions_inside():
    def outer(work):
        return work.of_a_closure

    def function(work):
        return outer(work), [(lambda x: x.of_a_lambda)(one) for one in work.of_a_comprehension]

    assert names_of(function) >= {"of_a_closure", "of_a_lambda", "of_a_comprehension"}


def test_decorated_functions():
    def function(work):
        return decorator(work)

    assert "of_a_decorated_one" in names_of(function)


def test_classes():
    def function(work):
        return Kind()

    assert names_of(function) >= {"of_a_method", "of_a_base", "of_a_property", "of_a_static_method", "of a class"}


def test_modules(monkeypatch):
    """Of a module that a function names, what it names of it."""
    monkeypatch.setattr(reach, "_PACKAGE", "tumble")

    def function(work):
        return spatial.Sym3(work)

    function.__module__ = "tumble"
    members = names_of(spatial.Sym3.__init__) | names_of(spatial.Sym3.parts)
    assert members and members <= names_of(function)
    assert not names_of(spatial.SpatialMotion.parts) <= names_of(function)


def test_a_walk_in_a_circle():
    def function(work):
        return work.of_a_circle, function

    assert "of_a_circle" in names_of(function)


def test_conditions_of_other_stages_but_not_their_code(monkeypatch):
    monkeypatch.setattr("tumble.physics.base.stage.STAGES", {})

    def function(model, work):
        return work.of_another_stage

    other = Stage(function, lambda has: has.of_a_condition)

    def calls(model, work):
        other(model, work)

    found = reach_of(calls)
    assert found.stages == {other} and "of_a_condition" in found.names and "of_another_stage" not in found.names


def test_others_packages_are_left_alone(monkeypatch):
    def function(work):
        return re.sub(work)

    assert "sub" in names_of(function) and "_compile" not in names_of(function)


def test_every_stage_is_called_by_the_turn_or_another(monkeypatch):
    monkeypatch.setattr(reach, "_PACKAGE", "tumble")
    called = {stage.name for name in (TURN, *STAGES) for stage in unit_reach(name).stages}
    assert called == set(STAGES)
    in_pipeline = {stage.name for stage in step.PIPELINE if isinstance(stage, Stage)}
    assert in_pipeline <= {stage.name for stage in unit_reach(TURN).stages}


def test_stages_ask_for_few_features(monkeypatch):
    """What makes units few: most stages are the same for most models."""
    monkeypatch.setattr(reach, "_PACKAGE", "tumble")
    asked = {name: len(features_asked(name)) for name in STAGES}
    assert sum(asked.values()) / len(asked) < 6 and max(asked.values()) <= 16


def test_what_is_not_named_is_refused():
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.physics.codegen.hidden_names"],
        cwd=HERE.parents[3],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    for stage, name in ("asks_for_a_feature", "hulls"), ("asks_for_a_field", "qacc"), ("asks_for_a_size", "nv"):
        said = f"the stage '{stage}' asks for '{name}', a name that state/reach.py does not find in its code"
        assert said in run.stdout and "write the name out" in run.stdout
    assert "names_all is compiled: True" in run.stdout
