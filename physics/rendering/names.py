"""Errors about unknown names."""

import difflib
from collections.abc import Sequence


def nearest(name: str, known: Sequence[str] | set[str]) -> str:
    """The tail of an error about an unknown name: the likely meaning, or all known names."""
    if not known:
        return ": there is none"
    close = difflib.get_close_matches(str(name), sorted(known), n=3, cutoff=0.4)
    return f"; nearest: {', '.join(close)}" if close else f"; there are: {', '.join(sorted(known))}"
