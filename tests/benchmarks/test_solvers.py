"""The comparison of solvers: what it names is there, from 14 to 400 dofs."""

import pytest

from tumble.benchmarks.main import BENCHMARKS
from tumble.benchmarks.solvers import KINDS, build


def test_its_models_span_the_dofs_that_the_choice_is_about():
    names = BENCHMARKS["solvers"].defaults["models"]
    dofs = {name: build(name).compile().nv for name in names}
    assert min(dofs.values()) == 14 and 380 <= max(dofs.values()) <= 400
    assert {name.rpartition("-")[0] for name in names} == set(KINDS)
    assert len([n for n in dofs.values() if 20 < n < 200]) > 5


@pytest.mark.parametrize("name", ["chain", "worms-3", "ants-none", "ants-0"])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match=r"no model .* chain-8"):
        build(name)
