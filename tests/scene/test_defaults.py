"""Every default of the API that scenes follow is the same here, or stands in the table with a reason."""

from pathlib import Path

import pytest

from .defaults_table import REASONS, Row, page, rows

ROOT = Path(__file__).resolve().parents[2]
MANY = 1200
"""The data file has more defaults than this: it was read from the source whole."""


def test_a_default_is_equal_or_has_a_reason():
    """Oracle: the source of that API, as `genesis_defaults.txt` has it."""
    found = rows()
    assert len(found) > MANY
    for row in found:
        assert row.is_equal or len(row.why or "") > 5, f"{row.owner}: {row.name}: there {row.there}, here {row.here}"


def test_no_reason_is_left_of_what_is_equal_by_now():
    """A reason of a class goes before one for all of them."""
    needed = [row for row in rows() if not row.is_equal]
    used = {name if (name := f"{row.owner}.{row.name}") in REASONS else row.name for row in needed}
    assert used == set(REASONS)


EQUAL = [("100.0", "100"), ("[1, 2]", "(1.0, 2.0)"), ("gs.cone.flat", "'flat'")]
OTHER = [("600.0", "200.0"), ("None", None), ("(0.04, 0.08)", "None"), ("gs.cone.flat", "'round'")]


@pytest.mark.parametrize(
    ("there", "here", "equal"), [*((*pair, True) for pair in EQUAL), *((*pair, False) for pair in OTHER)]
)
def test_values_are_told_apart(there, here, equal):
    assert Row("Rigid", "rho", there, here).is_equal == equal


def test_the_page_is_made_from_the_table():
    assert (ROOT / "docs" / "reference" / "genesis_defaults.md").read_text("utf-8") == page()
