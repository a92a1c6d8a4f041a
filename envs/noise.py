"""Random draws for resets: counter-based, so that an environment's noise depends on nothing but (seed, episode).

Environment i of a batch seeded with s draws from (s + i, the number of episodes it began since then). There is no
generator whose state others could advance: the k-th number of an episode is a hash of (seed, episode, k). The hash is
SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), three multiplications
of 64-bit integers that numpy does for any number of environments at once. Normal draws are Box and Muller's, by our own
logarithm and sine, so that they too have the same bits on every machine and at every batch size.
"""

import math
from collections.abc import Sequence

import numpy as np

from .arrays import sin_cos

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio, made odd
_BLOCK = 32  # numbers hashed beyond those asked for: what a start asks for next comes at no cost of its own
_FEW = 64  # episodes, of which more than needed may be hashed; of more, as much again: velocities follow positions


def _mix(x: np.ndarray) -> np.ndarray:
    """Scramble uint64 numbers: SplitMix64's finaliser, a bijection (the products wrap modulo 2^64, as they should)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _log(x: np.ndarray) -> np.ndarray:
    """Natural logarithm of float64 numbers > 0, by the series of the inverse hyperbolic tangent."""
    mantissa, exponent = np.frexp(x)
    small = mantissa < math.sqrt(0.5)
    mantissa, exponent = np.where(small, 2 * mantissa, mantissa), np.where(small, exponent - 1, exponent)
    z = (mantissa - 1) / (mantissa + 1)
    square, series = z * z, np.zeros_like(z)
    for k in range(11, -1, -1):
        series = series * square + 1 / (2 * k + 1)
    return 2 * z * series + exponent * math.log(2)


class Noise:
    """The draws of one episode in each of k environments."""

    def __init__(self, seeds: np.ndarray, episodes: np.ndarray) -> None:
        """Begin at the first number of each episode.

        Args:
            seeds: (k,) uint64.
            episodes: (k,) uint64, how many episodes each environment began before this one since it was seeded.
        """
        self._key = _mix(_mix(seeds) + episodes * _GOLDEN)
        self._ahead: np.ndarray = np.zeros((len(seeds), 0))  # numbers hashed before they are asked for
        self._hashed = 0

    def _fractions(self, n: int) -> np.ndarray:
        """Draw (k, n) multiples of 2^-53 in [0, 1)."""
        if self._ahead.shape[1] < n:
            count = n + (_BLOCK if len(self._key) <= _FEW else n)
            steps = np.arange(self._hashed + 1, self._hashed + count + 1, dtype=np.uint64) * _GOLDEN
            more = (_mix(self._key + steps[:, None]) >> np.uint64(11)) * 2.0**-53
            self._hashed += count
            self._ahead = np.concatenate((self._ahead, more.T), 1) if self._ahead.size else more.T
        drawn, self._ahead = self._ahead[:, :n], self._ahead[:, n:]
        return drawn

    def uniform(self, low: float, high: float, n: int) -> np.ndarray:
        """Draw (k, n) float64 numbers evenly from [low, high)."""
        return low + (high - low) * self._fractions(n)

    def normal(self, n: int) -> np.ndarray:
        """Draw (k, n) float64 numbers from the normal distribution with mean 0 and variance 1."""
        pairs = (n + 1) // 2
        radius = np.sqrt(-2 * _log(1 - self._fractions(pairs)))
        sine, cosine = sin_cos(2 * math.pi * self._fractions(pairs))
        return np.concatenate((radius * cosine, radius * sine), 1)[:, :n]


class Streams:
    """The seed of every environment and how many of its episodes were drawn."""

    def __init__(self, num_envs: int) -> None:
        self.seeds: list[int | None] = [None] * num_envs
        self._folded = np.zeros(num_envs, np.uint64)
        self._episodes = np.zeros(num_envs, np.int64)

    def seed(self, seeds: Sequence[int | None], rows: np.ndarray) -> None:
        """Seed the environments in `rows` from the list of all environments' seeds; None leaves one as it is."""
        for row in rows.tolist():
            if (seed := seeds[row]) is not None:
                self.seeds[row] = seed
                # Seeds beyond 64 bits (numpy's entropy has 128) are folded rather than cut.
                self._folded[row] = (seed ^ (seed >> 64)) % 2**64
                self._episodes[row] = 0

    def noise(self, rows: np.ndarray, episodes: int = 1) -> Noise:
        """The noise of the next episodes of each of these environments, (k,) indices; k x `episodes` rows of draws."""
        numbers = (self._episodes[rows][:, None] + np.arange(episodes)).astype(np.uint64)
        return Noise(np.repeat(self._folded[rows], episodes), numbers.ravel())

    def count(self, rows: np.ndarray, episodes: np.ndarray | int) -> None:
        """Note that these environments, (k,) indices, each once, are so many episodes further; (k,) or a number."""
        self._episodes[rows] += episodes

    def state_dict(self) -> dict[str, list]:
        """Seeds and counts as plain numbers."""
        return {"seeds": list(self.seeds), "episodes": self._episodes.tolist()}

    def load_state_dict(self, state: dict[str, list]) -> None:
        """Go on where `state_dict` left off."""
        self.seed(state["seeds"], np.arange(len(self.seeds)))
        self._episodes[:] = state["episodes"]
