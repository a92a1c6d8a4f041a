"""The parity catalogue's models share their units: few are compiled for it, and a new model adds a few."""

from dataclasses import asdict

import pytest

from tumble.physics.model.features import Features
from tumble.physics.model.model import Model
from tumble.physics.run.compile.units import features_asked, units_of

from ..parity.catalogue import load, names

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
