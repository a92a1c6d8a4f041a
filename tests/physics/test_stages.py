"""What stages declare to load and store is what they do, in every kernel."""

import dataclasses
from collections.abc import Iterator

import pytest
import taichi as ti

from tumble.physics import Model
from tumble.physics.base.math import Lanes
from tumble.physics.base.stage import STAGES
from tumble.physics.machine.taichi_thread import in_taichis_thread
from tumble.physics.model.features import Features
from tumble.physics.model.state.declared import fields_named, read_by, written_by
from tumble.physics.run.compile.units import features_asked
from tumble.physics.run.pipeline_table import pipeline_markdown, shown_stages

from ..test_architecture import ROOT
from .parity.catalogue import everything, load
from .recording import Recorder, Seen
from .starts import run_with

pytestmark = pytest.mark.filterwarnings("ignore:.*Calling non-taichi function")
NAMES = [field.name for field in dataclasses.fields(Features)]
ALL, NONE = (Features(**dict.fromkeys(NAMES, value)) for value in (True, False))
BASES = (ALL, dataclasses.replace(ALL, cg=False), NONE)
"""Most code is in the kernels of the first two; in the last is what stands in the place of optional code."""


def different(name: str, features: Iterator[Features]) -> list[Features]:
    """Of sets of features those with which a stage has different code each."""
    stage, kept = STAGES[name], {}
    for has in features:
        if stage.wanted(has):
            kept.setdefault(tuple(getattr(has, feature) for feature in features_asked(name)), has)
    return list(kept.values())


def one_by_one(name: str) -> Iterator[Features]:
    """Sets with all features but one, and with one alone."""
    yield from BASES
    for base in BASES:
        for feature in features_asked(name):
            yield dataclasses.replace(base, **{feature: not getattr(base, feature)})


def seen(
    names: list[str], sets: dict[str, list[Features]], width: int, single: bool, enough: dict[str, Seen] | None = None
) -> dict[str, Seen]:
    """Return what stages load and store under all their sets of features, or under as many as show `enough`."""
    run_with("32" if single else "64")

    def trace() -> dict[str, Seen]:
        recorder = Recorder(Lanes(width, ti.f32 if single else ti.f64))
        return {name: recorder.seen_with(name, sets[name], enough and enough[name]) for name in names}

    return in_taichis_thread(trace)


def declared(names: list[str]) -> dict[str, Seen]:
    """What they say."""
    return {name: Seen(set(read_by(STAGES[name])), set(written_by(STAGES[name]))) for name in names}


def excess(more: dict[str, Seen], less: dict[str, Seen]) -> dict[str, list[set[str]]]:
    """What fields the first have that the second do not have, by stage."""
    found = {name: [a - b for a, b in zip(more[name], less[name], strict=True)] for name in more}
    return {name: sets for name, sets in found.items() if any(sets)}


def test_stages_load_and_store_what_they_declare():
    """With sets of features in which nearly all code is; stages that hide some there, with others until it is seen."""
    names = sorted(STAGES)
    found = seen(names, {name: different(name, iter(BASES)) for name in names}, 4, single=True)
    assert not excess(found, declared(names)), "loaded and stored, but not declared"
    hiding = sorted(excess(declared(names), found))
    others = {name: different(name, one_by_one(name)) for name in hiding}
    found = seen(hiding, others, 4, single=True, enough=declared(hiding))
    assert not excess(found, declared(hiding)), "loaded and stored, but not declared"
    assert not excess(declared(hiding), found), "declared, but with no features loaded and stored"


@pytest.mark.slow
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("width", [1, 4])
def test_nor_do_they_more_for_any_model_of_the_catalogue(width, single):
    """Nor in double precision, nor with one lane, which has code of its own."""
    models = {Features.of(Model.from_mjmodel(load(name)), single) for _, name in everything(30)}
    plain = {} if single else {"mixed_precision": False}
    sets = {
        name: different(name, (dataclasses.replace(has, **plain) for has in (*models, *one_by_one(name))))
        for name in STAGES
    }
    assert not excess(seen(sorted(STAGES), sets, width, single), declared(sorted(STAGES)))


def test_a_declaration_names_fields_that_there_are():
    assert fields_named(("xpos", "wrap_* xquat")) >= {"xpos", "xquat", "wrap_from", "wrap_arc"}
    for wrong in ("xpso", "xpos_rest", "parameters", "slop_*"):
        with pytest.raises(ValueError, match="has no field of this name"):
            fields_named(wrong)


def test_the_page_of_the_pipeline_is_up_to_date():
    assert sorted(stage.name for stage in shown_stages()) == sorted(STAGES)
    assert (ROOT / "docs" / "reference" / "pipeline.md").read_text(encoding="utf-8") == pipeline_markdown()
