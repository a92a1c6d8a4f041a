"""The comparison of pairs sees: MuJoCo equals itself, what is made wrong differs; and its verdict on Tumble."""

import numpy as np
import pytest

import tumble

from ..test_convex_pairs import poses, theirs
from . import pairs_defaults
from .pairs import CLOSED, Asked, Scene, compare_sets, measure
from .pairs_page import beyond, page

POSES = 12


@pytest.fixture(scope="module")
def mujocos() -> tuple[Scene, Asked]:
    """MuJoCo's contacts on both sides."""
    scene = Scene.of_the_table()
    mjm = scene.model("enable")
    qpos = poses(mjm, scene.names, POSES, far=0.1)
    yours = theirs(mjm, qpos)
    return scene, Asked(mjm, qpos, None, yours, yours)


def spoilt(asked: Asked, change) -> Asked:
    """With every set of contacts on Tumble's side changed."""
    return asked._replace(mine=[{k: change(contacts) for k, contacts in both.items()} for both in asked.mine])


def test_mujoco_equals_itself(mujocos):
    rows, differ = compare_sets(*mujocos)
    assert not differ and all(row["at_pose"] == row["touching"] > 0 for row in rows)
    assert max(max(row["worst"]) for row in rows) == 0


@pytest.mark.parametrize(
    "column, wrong, closed_only", [(0, 1e-8, True), (0, 1e-4, False), (2, 1e-4, False), (5, 0.01, False)]
)
def test_a_wrong_number_differs(mujocos, column, wrong, closed_only):
    """Beyond the bars, which are narrower for closed forms."""
    scene, asked = mujocos

    def change(contacts):
        return contacts + wrong * np.eye(7)[column]

    rows, _ = compare_sets(scene, spoilt(asked, change))
    for row in rows:
        assert row["differ"] == (row["touching"] if row["closed"] or not closed_only else 0), row["pair"]


def test_a_missing_contact_differs(mujocos):
    def without_one(contacts):
        """All but the first and what stands at its place: two contacts at one place count as one."""
        kept = contacts[np.abs(contacts - contacts[0]).max(axis=1) > CLOSED[1]]
        return kept if len(kept) else None

    rows, differ = compare_sets(mujocos[0], spoilt(mujocos[1], without_one))
    assert len(differ) == sum(row["touching"] for row in rows)


@pytest.mark.slow
def test_tumble_is_within_every_bar():
    """The page has 2,000 poses a pair."""
    try:
        rows, defaults = measure(200), pairs_defaults.rows(200)
    finally:
        tumble.init(precision="32")
    assert len(rows) == 27 and all(row["touching"] > 50 for row in rows)
    assert not beyond(rows, defaults, [])
    assert beyond([{**rows[0], "differ": 1}], [], []) and beyond([], [{**defaults[0], "differ": 1}], [])
    assert "**coal" not in page({"version": "4", "mujoco": rows, "defaults": defaults}, 0.01, 8)
