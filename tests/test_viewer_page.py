"""The page about viewers is true: its programs run, and its files are as small as it says."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = (DOCS / "pictures.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```py\n(.*?)```", PAGE.partition("## Replay")[2], flags=re.DOTALL)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """The names that the page's programs leave behind, run in turn in a folder of their own."""
    found: dict = {"folder": tmp_path_factory.mktemp("page")}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(found["folder"])
        exec(compile(PROGRAMS[0], "page", "exec"), found)
        yield found
    found["envs"].close()


def test_replays_are_recorded_and_small(names):
    page = (names["folder"] / "hoppers.html").read_text("utf-8")
    assert "<title>Hoppers at random</title>" in page and "http://" not in page and "https://" not in page
    replay = names["replay"]
    assert replay.frames == 50 and replay.envs == [0] and "reward_forward" in replay.curves
    shown = len(replay.html())
    assert shown < 150_000  # 0.13 MB of an ant's ten seconds: four times as many frames, three times as many geoms


def test_the_view_runs_and_ends(names):
    pytest.importorskip("viser")
    exec(compile(PROGRAMS[1], "page", "exec"), names)
    assert names["time"] >= 0


def test_a_scene_shows_its_own_steps(names):
    pytest.importorskip("viser")
    exec(compile(PROGRAMS[2], "page", "exec"), names)
    assert names["scene"].t == 30 and not names["scene"].viewer.is_alive()
