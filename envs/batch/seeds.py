"""Gymnasium's rules for seeds: one number for all (environment i gets s + i), a list, or none."""

import operator
from typing import Any

import numpy as np
from gymnasium.error import Error


def spread_seeds(seed: Any, num_envs: int) -> list[int | None]:
    """Return a seed for each environment, None for environments that keep their seed.

    Raises:
        ValueError: a list of the wrong length.
        gymnasium.error.Error: a seed that is no whole number or negative.
    """
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, list | tuple | np.ndarray):
        if len(seed) != num_envs:
            raise ValueError(
                f"a list of seeds must have one for each environment: num_envs={num_envs}, got {len(seed)}"
            )
        return [None if single is None else _checked(single) for single in seed]
    first = _checked(seed)
    return [first + i for i in range(num_envs)]


def fresh_seed() -> int:
    """Return a seed from the machine's entropy, below 2^63."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))


def _checked(seed: Any) -> int:
    """Return a seed as Python's whole number, or refuse it."""
    try:
        number = operator.index(seed)
    except TypeError as error:
        raise Error(f"a seed must be a whole number, got {seed!r} of type {type(seed).__name__}") from error
    if number < 0:
        raise Error(f"a seed must be zero or more, got {number}")
    return number
