"""The survey keeps its comparisons, so that one that was stopped goes on where it was."""

from pathlib import Path

import pytest

from ..physics.parity.wild import Proof
from . import survey


@pytest.fixture
def proven(monkeypatch) -> list:
    """(path, states, exact) of every comparison that is made."""
    made: list = []

    def prove(path: Path, states: int, exact: bool) -> Proof:
        made.append((path.name, states, exact))
        return Proof(states, undecided=1, differing=2, worst={"qacc": 0.5}, why="")

    monkeypatch.setattr(survey, "prove", prove)
    return made


def test_a_survey_goes_on_where_it_was_stopped(tmp_path, proven):
    file, model = tmp_path / "records", Path("ant.xml")
    first = survey.Records(file, 20, exact=True).proof("package/ant.xml", model)
    again = survey.Records(file, 20, exact=True).proof("package/ant.xml", model)
    assert first == again and again.worst == {"qacc": 0.5}
    assert proven == [("ant.xml", 20, True)]


def test_comparisons_of_other_options_are_others(tmp_path, proven):
    file, model = tmp_path / "records", Path("ant.xml")
    for exact in (True, False, True):
        survey.Records(file, 20, exact).proof("package/ant.xml", model)
    assert proven == [("ant.xml", 20, True), ("ant.xml", 20, False)]


def test_records_without_states_compare_nothing(tmp_path, proven):
    assert survey.Records(tmp_path / "none", 0, exact=True).proof("package/ant.xml", Path("ant.xml")) is None
    assert survey.Records(None, 3, exact=True).proof("package/ant.xml", Path("ant.xml")).states == 3
    assert len(proven) == 1


REASONS = {
    "adhesion along contacts whose directions MuJoCo does not find again": (
        Proof(20, 0, 1, {"qfrc_actuator": 9e-9, "qacc_smooth": 1e-8}, beyond=("contact_frame", "qacc_smooth")),
        survey.SEARCHED,
    ),
    "a place, and an acceleration that follows from it": (
        Proof(20, 0, 1, {"contact_pos": 2e-7, "efc_J": 2e-7, "cacc": 1.2e-5}, beyond=("contact_pos", "cacc")),
        survey.SEARCHED,
    ),
    "an acceleration that follows from nothing": (
        Proof(20, 0, 1, {"qacc_smooth": 1e-8}, beyond=("qacc_smooth",)),
        survey.OTHERWISE,
    ),
    "an acceleration that is too far off to follow": (
        Proof(20, 0, 1, {"contact_pos": 2e-7, "qacc": 1e-2}, beyond=("contact_pos", "qacc")),
        survey.OTHERWISE,
    ),
    "another direction": (Proof(20, 0, 1, {"contact_frame": 1.0}, beyond=("contact_frame",)), survey.CONTACTS),
}


@pytest.mark.parametrize("what", REASONS)
def test_the_reason_is_what_the_others_follow_from(what):
    proof, reason = REASONS[what]
    assert survey.reason_of(proof) == reason


def test_the_page_counts_outcomes_and_the_file_beside_it_has_what_differs(tmp_path):
    known = {"a": Proof(20), "b": Proof(20, 3), "c": Proof(20, 0, 2, {"qacc": 0.5}), "d": Proof(0, why="nothing")}
    known["e"] = Proof(20, 0, 1, {"ten_J": 1e-7})
    models = [survey.Found("dm_control", name, frozenset(), proof) for name, proof in known.items()]
    text = survey.markdown(models, known)
    assert "**5 of 5 models load.**" in text
    for name in (survey.EQUAL, survey.UNDECIDED, survey.SEARCHED, survey.OTHERWISE):
        assert f"| {name} | 1 | 1 |" in text
    rows = list(survey.differing("exact", known.items()))
    assert [row["model"] for row in rows] == ["c", "e"] and rows[0]["largest errors"] == "qacc 5e-01"
    survey.write(tmp_path / "support.md", text, rows)
    assert (tmp_path / "support.md").read_text() == text
    assert len((tmp_path / "support.csv").read_text().splitlines()) == 3
    assert "Compared" not in survey.markdown(models[3:4], {})
