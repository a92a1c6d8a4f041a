"""Names near a mistaken one, for messages."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """Return "is A or B" with the names that come closest to one, or "are ..." with all."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    return f"is {' or '.join(close)}" if close else f"are {', '.join(names) or 'none'}"
