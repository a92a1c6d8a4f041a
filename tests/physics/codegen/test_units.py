"""Units against the kernel that Taichi compiles as one: the same bits, for models that differ in features.

A kernel as one takes 5 to 100 CPU seconds, so nearly all of these are slow tests.
"""

from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.model.features import Features
from tumble.physics.run import programs
from tumble.physics.run.compile.units import features_asked, units_of
from tumble.physics.run.programs import Program
from tumble.physics.run.taichi_kernel import TaichiKernel

from ..parity.catalogue import load, names
from .kept import FALLING

# -- Units against the kernel that Taichi compiles as one: the same bits, for models that differ in features
# A kernel as one takes 5 to 100 CPU seconds, so nearly all of these are slow tests.


_WORLD = "<mujoco><option{}/><worldbody><geom type='plane' size='1 1 1'{}/>{}</worldbody></mujoco>"
_HINGE = "<body pos='0 0 1'><joint axis='0 1 0'/><geom size='.1'/></body>"
_BALL, _BOX = (
    f"<body pos='0 0 1'><freejoint/><geom type='{kind}' size='.1 .1 .1'/></body>" for kind in ("sphere", "box")
)
MODELS = {
    "plain": _WORLD.format("", "", _HINGE),
    "ball joints": _WORLD.format("", "", _BALL),
    "hulls": _WORLD.format("", "", _BOX),
    "mixed precision": _WORLD.format("", " solref='.004 1'", _BOX),
    "conjugate gradients": _WORLD.format(" solver='CG'", "", _BALL),
}
FILES = Path(__file__).parents[2] / "models"
ENVS, STEPS = 20, 300  # more environments than lanes, and a tile that is not full; until all have touched the ground


def memory_after_steps(model, lanes, precision, kind):
    """Everything that the future depends on, and what the last evaluation found, from random states."""
    tumble.init(lanes=lanes, precision=precision, threads=1)
    solver = RigidSolver(model, ENVS)
    rng = np.random.default_rng(0)
    velocity = rng.normal(size=(ENVS, model.mj.nv))
    solver.set_state(qvel=velocity)
    for _ in range(STEPS):
        solver.step()
    assert isinstance(solver._driver._launches.kernel, kind)
    state = solver.state_dict()
    moved = np.abs(solver.qvel.numpy() - velocity)
    assert np.isfinite(moved).all() and moved.max() > 1e-3
    return {name: np.asarray(value) for name, value in flat(state).items()}


def flat(state, above=""):
    """Tensors of nested dictionaries, by their paths."""
    found = {}
    for name, value in state.items():
        found |= flat(value, f"{above}{name}/") if isinstance(value, dict) else {f"{above}{name}": value}
    return found


def model_of(name):
    if name == "plain":
        return Model.from_mjcf(FALLING)
    return Model.from_mjcf(MODELS[name] if name in MODELS else str(FILES / f"{name}.xml"))


@pytest.mark.parametrize("precision", ["32", "64"])
@pytest.mark.parametrize("lanes", [1, 4, 16])
@pytest.mark.parametrize(
    "name",
    ["plain", "ball joints", "hulls", "mixed precision", "conjugate gradients", "tendons", "equalities", "fluid"],
)
@pytest.mark.slow
def test_units_have_the_bits_of_one_kernel(monkeypatch, name, lanes, precision):
    expect_same_bits(monkeypatch, name, lanes, precision)


def test_a_small_model(monkeypatch):
    expect_same_bits(monkeypatch, "plain", 4, "32")


def expect_same_bits(monkeypatch, name, lanes, precision):
    if not programs.can_compile_apart():
        pytest.skip("units cannot be compiled here")
    model = model_of(name)
    apart = memory_after_steps(model, lanes, precision, Program)
    monkeypatch.setattr(programs, "can_compile_apart", lambda: False)
    together = memory_after_steps(model, lanes, precision, TaichiKernel)
    assert apart.keys() == together.keys()
    assert not [name for name in apart if apart[name].tobytes() != together[name].tobytes()]


# -- The parity catalogue's models share their units: few are compiled for it, and a new model adds a few


MOST_UNITS = 250
"""Units of 138 models in one precision; 230 were seen. Without sharing it would be 4,590."""
MOST_OF_A_MODEL = 10
"""Units that a model adds; 7 were seen."""


@pytest.fixture(scope="module")
def units():
    """By each model's name the units that it needs in one precision, as (stage, the features that it asks for)."""
    found = {}
    for name in (*names("packaged"), *names("purpose"), *names("random", 30)):
        has = Features.of(Model.from_mjmodel(load(name)), single=True)
        known = asdict(has)
        found[name] = {(unit, tuple(known[feature] for feature in features_asked(unit))) for unit in units_of(has)}
    return found


def test_all_models_together_need_few_units(units):
    together = len(set().union(*units.values()))
    assert together <= MOST_UNITS, (
        f"{len(units)} models need {together} units, {sum(map(len, units.values()))} unshared"
    )


def test_a_model_adds_few_units(units):
    """The most that any model needs beyond those of all others: what it compiles if it comes last."""
    alone = {
        name: own - set().union(*(other for n, other in units.items() if n != name)) for name, own in units.items()
    }
    assert max(map(len, alone.values())) <= MOST_OF_A_MODEL
