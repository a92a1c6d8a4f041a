"""Names that will go: they work, they warn where they are called, and they go in the version that was promised."""

import re
from pathlib import Path

import pytest

import tumble
from tumble.physics.machine.deprecated import deprecated, warn_deprecated

ROOT = Path(tumble.__file__).parent
ROOMS = ("assets", "envs", "physics", "scene", "soft", "terrain", "training", "viewer")


@deprecated("9.0", "new_name")
def old_name(x, y=0):
    """Return a sum."""
    return x + y


def with_an_argument(lanes=None, wide=None):
    if wide is not None:
        warn_deprecated("the argument wide", "9.0", "lanes")
    return lanes or wide


def test_an_old_name_works_and_warns_at_the_line_that_calls_it():
    with pytest.warns(DeprecationWarning, match=r"^old_name\(\) goes in Tumble 9\.0; use new_name$") as caught:
        assert old_name(1, y=2) == 3
    assert caught[0].filename == __file__ and old_name.__doc__ == "Return a sum."
    with pytest.warns(DeprecationWarning, match="the argument wide goes in Tumble 9.0; use lanes") as caught:
        assert with_an_argument(wide=4) == 4
    assert caught[0].filename == __file__


def test_nothing_outlives_the_version_in_which_it_goes():
    now = [int(number) for number in tumble.__version__.split(".")]
    call = re.compile(r"\b(?:deprecated\(|warn_deprecated\([^,]+, *)\"([\d.]+)\"")
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        if path.name != "deprecated.py":
            for goes in call.findall(path.read_text("utf-8")):
                assert [int(number) for number in goes.split(".")] > now, f"{path.relative_to(ROOT)}: {goes} is here"
