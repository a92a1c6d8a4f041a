"""A step on a GPU costs no more than docs/how_it_works/gpu.md says; if it has to, write the table again and say why."""

import pytest

from .budget import ASSEMBLED, COUNTED, MODELS, ROOT, grown, measure, read_table, table, write
from .emulation import why_not
from .ptxas import find_ptxas

PAGE = ROOT / "docs" / "how_it_works" / "gpu.md"


@pytest.mark.slow
@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_a_step_costs_no_more_than_the_page_says(tmp_path):
    """What it executes, and, where there is a ptxas, what that makes of it."""
    figures = measure(tmp_path)
    more = grown(read_table(PAGE.read_text(encoding="utf-8")), figures)
    assert not more, f"{more}; if that has to be: python -m tests.cuda.budget --write docs/how_it_works/gpu.md"
    if find_ptxas() is None:
        pytest.skip("registers and spills were not looked at: ptxas is not to be found, TUMBLE_PTXAS may name it")
    assert all(set(ASSEMBLED) <= set(row) for row in figures.values())


def test_growth_is_seen_and_shrinking_allowed(tmp_path):
    row = {"contacts": 0.25} | {heading: 1000.0 for heading in (*COUNTED, *ASSEMBLED)}
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table({})}\nafter\n")
    write(page, {name: row for name in MODELS})
    assert page.read_text().startswith("before\n") and page.read_text().endswith("\nafter\n")
    there = read_table(page.read_text())
    assert there == {name: {h: 1000.0 for h in (*COUNTED, *ASSEMBLED)} for name in MODELS}
    assert grown(there, {"Ant": row | {"stores": 1099.0, "flops": 1.0}}) == []
    assert grown(there, {"Ant": row | {"stores": 1101.0}}) == ["Ant: stores 1,101, in the table 1,000"]
