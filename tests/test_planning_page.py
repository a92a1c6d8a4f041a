"""The page about planning is true: its planner swings the pole up and walks with the dog, by copies of environments."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = (DOCS / "planning.md").read_text(encoding="utf-8")
EXAMPLES = DOCS.parent / "examples" / "tasks"


@pytest.fixture(scope="module")
def programs() -> Iterator[tuple]:
    """The examples' three files as modules; they are forgotten afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
        import mppi
        import planned_walk
        import swing_up

        yield mppi, swing_up, planned_walk
    for name in ("mppi", "planned_walk", "swing_up"):
        del sys.modules[name]


def test_the_calls_run_as_printed():
    """The first program of the page; what it restores is what it took."""
    program, *_ = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    names: dict = {}
    exec(compile(program, "page", "exec"), names)
    assert names["observations"].shape == (64, 11)
    names["envs"].close()


def test_the_planner_is_as_short_as_promised():
    promised = int(re.search(r"a controller of (\d+) lines", PAGE).group(1))
    assert len((EXAMPLES / "mppi.py").read_text("utf-8").splitlines()) <= promised


def test_the_pole_is_swung_up(programs):
    """In 4 s, with fewer sequences than on the page; the motor cannot lift it at once."""
    mppi, swing_up, _ = programs
    planner = mppi.Planner(swing_up.SwingUp(), samples=48, horizon=50, sigma=0.7)
    upright = np.array([planner.act()[3]["upright"] for _ in range(200)])
    planner.envs.close()
    assert upright[:20].max() < 0.5 and upright[-40:].min() > 0.98


def test_the_dog_walks(programs):
    """It stands up to its height and goes ahead for a second."""
    mppi, _, walk = programs
    planner = mppi.Planner(walk.Walk(), samples=48, horizon=25, knots=6, sigma=0.3)
    steps = [planner.act() for _ in range(55)]
    places = [info["place"] for *_, info in steps]
    planner.envs.close()
    assert not any(terminated for _, _, terminated, _ in steps)
    assert places[-1] > 0.2 and places[-1] - places[45] > 0.04
    assert min(info["height"] for *_, info in steps) > 0.25
