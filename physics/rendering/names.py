"""Errors about names that there are not."""

import difflib
from collections.abc import Sequence


def nearest(name: str, known: Sequence[str] | set[str]) -> str:
    """The tail of an error about an unknown name: what was probably meant, or all there is."""
    if not known:
        return ": there is none"
    close = difflib.get_close_matches(str(name), sorted(known), n=3, cutoff=0.4)
    return f"; nearest: {', '.join(close)}" if close else f"; there are: {', '.join(sorted(known))}"
