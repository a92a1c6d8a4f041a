"""Flat names are members of parts, and the stubs that declare them for editors are up to date."""

from types import SimpleNamespace

import pytest

from tumble.physics.base.flat_names import flat_names

from .flat_names import CLASSES, stub_of


@pytest.mark.parametrize("place", CLASSES)
def test_stubs_are_current(place):
    """Else: `python -m tests.flat_names`."""
    path, text = stub_of(place)
    assert path.read_text() == text


@flat_names(part="value method other=value")
class Named:
    """A class with one part."""

    def __init__(self):
        self.part = SimpleNamespace(value=1, method=lambda *given, **named: (given, named))


def test_names_are_read_called_and_written():
    """The part has what is written; the class gives the name's place."""
    named = Named()
    assert named.value == named.other == 1 and named.method(2, key=3) == ((2,), {"key": 3})
    named.other = 4
    assert named.part.value == 4 and "other" not in vars(named)
    assert Named.other.__doc__ == "`part.value`."
    with pytest.raises(AttributeError, match="lost"):
        flat_names(part="lost")(type("Other", (Named,), {}))().lost  # noqa: B018


def test_a_name_is_given_once():
    with pytest.raises(TypeError, match=r"Named\.value: the name is taken"):
        flat_names(other="value")(Named)
