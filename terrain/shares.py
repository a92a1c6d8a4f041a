"""Shares of columns, or of environments, for kinds of ground."""

from collections.abc import Sequence

import numpy as np

from .checks import positive


def share_out(proportions: Sequence[float], count: int) -> np.ndarray:
    """Return how many of `count` each proportion gets: at least one, and the rest by the largest remainders.

    Args:
        proportions: above zero; their sum may be any.
        count: whole number of things, at least as many as there are proportions.

    Returns:
        (len(proportions),) int, of sum `count`.

    Raises:
        ValueError: a proportion is not above zero, or there are too few things.
    """
    wanted = np.array([positive("proportion", each) for each in proportions])
    if count < len(wanted):
        raise ValueError(f"{count} cannot be shared among {len(wanted)} kinds: each needs at least one")
    wanted = wanted / wanted.sum() * count
    given = np.maximum(np.floor(wanted + 1e-9), 1.0).astype(int)
    while given.sum() < count:
        given[np.argmax(wanted - given)] += 1
    while given.sum() > count:
        given[np.argmin(np.where(given > 1, wanted - given, np.inf))] -= 1
    return given
