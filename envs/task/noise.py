"""Random draws of tasks: counter-based, so that an environment's noise depends on nothing but seed, episode and step.

Environment i of a batch seeded with s draws from (s + i, the number of episodes that it has begun since); at a step of
an episode, from the step's number too. There is no generator whose state others could advance: the k-th number of an
episode is a hash of (seed, episode, k), by `physics/base/draws.py` for any number of environments at once. Normal
draws are Box and Muller's, by our own logarithm and sine, so that they too have the same bits on every machine and at
every batch size.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...physics.base.draws import fractions, hashed_key, mix
from ..arrays import Array, ArrayKind, copy, host, log, namespace, sin_cos
from ..saved import require_counts, require_parts

_STEPS = 0x5851F42D4C957F2D  # Knuth's multiplier: separates the draws of steps from the draws of the start
_ASIDE = 0xD1342543DE82EF95  # Steele and Vigna's multiplier: separates the streams of one moment
_BLOCK = 32  # numbers hashed ahead of requests: the next draws of the same start then cost no hashing
# Of more environments than these, not `_BLOCK` numbers are hashed ahead but as many as were asked for: a start mostly
# draws as many velocities after its positions.
_FEW = 64


class Noise:
    """The random numbers of one moment, the start of an episode or a step in it, in each of n environments.

    A second draw depends on how many numbers the first one took, and on nothing else.
    """

    __slots__ = ("_ahead", "_hashed", "_key", "_make_key")

    def __init__(self, make_key: Callable[[], Array]) -> None:
        """Begin at the first number of a key, (n,) int64, that is made at the first draw: most steps draw nothing."""
        self._make_key = make_key
        self._key: Array = None
        self._ahead: Array = None  # (n, numbers hashed before they are asked for)
        self._hashed = 0

    def _fractions(self, n: int) -> Array:
        """Draw (num_envs, n) multiples of 2^-53 in [0, 1)."""
        if self._ahead is None or self._ahead.shape[1] < n:
            if self._key is None:
                self._key = self._make_key()
            key = self._key
            xp, count = namespace(key), n + (_BLOCK if len(key) <= _FEW else n)
            numbers = xp.arange(self._hashed + 1, self._hashed + count + 1, dtype=xp.int64, device=key.device)
            # Number by number, not environment by environment: a task's computation then runs along all environments.
            more = fractions(key, numbers[:, None]).T
            self._hashed += count
            self._ahead = more if self._ahead is None else xp.concat((self._ahead, more), axis=1)
        drawn, self._ahead = self._ahead[:, :n], self._ahead[:, n:]
        return drawn

    def uniform(self, low: float, high: float, n: int) -> Array:
        """Draw (num_envs, n) float64 numbers evenly from [low, high)."""
        return low + (high - low) * self._fractions(n)

    def normal(self, n: int) -> Array:
        """Draw (num_envs, n) float64 numbers from the normal distribution with mean 0 and variance 1."""
        pairs = (n + 1) // 2
        radius_squared = -2 * log(1 - self._fractions(pairs))
        xp = namespace(radius_squared)
        radius = xp.sqrt(radius_squared)
        sine, cosine = sin_cos(2 * math.pi * self._fractions(pairs))
        return xp.concat((radius * cosine, radius * sine), axis=1)[:, :n]

    def integers(self, low: int, high: int, n: int) -> Array:
        """Draw (num_envs, n) int64 numbers evenly from low, ..., high - 1; the range must be below 2^32.

        Raises:
            ValueError: there is no number in the range, or it is too large.
        """
        if not 0 < high - low < 2**32:
            raise ValueError(f"integers({low}, {high}): high must be above low, by less than 2**32")
        fractions = self._fractions(n)  # 53 bits: no number is likelier than another by more than 2^-21
        xp = namespace(fractions)
        return low + xp.astype(xp.floor(fractions * (high - low)), xp.int64)

    @property
    def position(self) -> int:
        """The numbers that each environment has drawn."""
        return self._hashed - (0 if self._ahead is None else self._ahead.shape[1])

    def skip(self, n: int) -> None:
        """Go on as if (num_envs, n) fractions had been drawn: `normal(k)` takes k rounded up to an even number."""
        ahead = 0 if self._ahead is None else self._ahead.shape[1]
        if n < ahead:
            self._ahead = self._ahead[:, n:]
        else:
            self._ahead, self._hashed = None, self._hashed + n - ahead

    def of(self, rows: Array) -> "Noise":
        """Return the noise of the environments `rows` (k,), from its present position; this one does not advance."""
        if self._key is None:
            self._key = self._make_key()
        part = Noise(lambda: self._key[rows])
        part._hashed = self.position
        return part

    def beside(self, stream: int) -> "Noise":
        """Return the noise of another stream, 1, 2, ..., of the same moment; draws from it leave this one as it is."""
        away = (stream * _ASIDE + 2**63) % 2**64 - 2**63  # as a signed number

        def make_key() -> Array:
            if self._key is None:
                self._key = self._make_key()
            return mix(self._key + away)

        return Noise(make_key)


class Streams:
    """The seed of every environment, how many episodes it has begun, and how many steps the present one has taken."""

    def __init__(self, num_envs: int, kind: ArrayKind) -> None:
        self._seeds = np.full(num_envs, None, object)  # Python's numbers, of any size
        self._kind = kind
        self._now = 0  # steps that the whole batch has taken
        self._seed_keys, self._episodes, self._begun, self._episode_keys = (
            kind.zeros((num_envs,), kind.xp.int64) for _ in range(4)
        )  # `_begun` is `_now` at the beginning of the present episode

    @property
    def seeds(self) -> list[int | None]:
        """The seed of every environment; None for an environment without a seed."""
        return self._seeds.tolist()

    @property
    def steps(self) -> Array:
        """Steps taken in the present episodes, (num_envs,) int64."""
        return self._now - self._begun

    def fresh(self, rows: Array) -> Array:
        """Return True for the environments of `rows` (k,) that began no episode since they were seeded, (k,)."""
        return self._episodes[rows] == 0

    def seed(self, seeds: Sequence[int | None], rows: Array) -> None:
        """Seed the environments in `rows` from the list of all environments' seeds; None leaves one as it is."""
        seeded = [row for row in host(rows).tolist() if seeds[row] is not None]
        if not seeded:
            return
        folded = np.zeros(len(seeded), np.uint64)
        for i, row in enumerate(seeded):
            seed = seeds[row]
            assert seed is not None
            self._seeds[row] = seed
            folded[i] = (seed ^ (seed >> 64)) % 2**64  # beyond 64 bits (numpy's entropy has 128): folded, not cut
        seeded_rows = self._kind.xp.asarray(seeded, device=self._kind.device)
        self._seed_keys[seeded_rows] = mix(self._kind.like(folded.view(np.int64)))
        self._episodes[seeded_rows] = 0

    def begin(self, rows: Array) -> Noise:
        """Begin the next episode of each of these environments, (k,) indices, each once; return its noise."""
        episodes = self._episodes[rows]
        key = hashed_key(self._seed_keys[rows], episodes)
        self._episodes[rows] = episodes + 1
        self._begun[rows] = self._now
        self._episode_keys[rows] = key
        return Noise(lambda: key)

    def advance(self) -> Noise:
        """Take a step in all environments; return its noise."""
        self._now += 1
        return Noise(self._step_key)

    def present(self, rows: Array) -> Noise:
        """Return the noise of the last step again, for the environments `rows` (k,)."""
        return Noise(lambda: self._step_key()[rows])

    def _step_key(self) -> Array:
        """Return the key from which the last step draws, (num_envs,) int64."""
        return hashed_key(self._episode_keys + _STEPS, self.steps)

    def state_dict(self) -> dict[str, Any]:
        """Seeds and counts as plain numbers."""
        counts = {"episodes": self._episodes, "steps": self.steps, "keys": self._episode_keys}
        return {"seeds": self.seeds, **{name: host(count).tolist() for name, count in counts.items()}}

    def check_state(self, state: Any) -> None:
        """Raise if the saved state is malformed, or of another number of environments.

        Raises:
            TypeError, ValueError: with the part that is wrong.
        """
        counts = ("episodes", "steps", "keys")
        require_parts("streams of noise, saved state", state, ("seeds", *counts))
        require_counts("the saved seed", state["seeds"], len(self._seeds), none=True)
        if wrong := [seed for seed in state["seeds"] if seed is not None and seed < 0]:
            raise ValueError(f"the saved seed {wrong[0]} is below 0")
        for name in counts:
            require_counts(f"the saved number of {name}", state[name], len(self._seeds))
            if wrong := [count for count in state[name] if not -(2**63) <= count < 2**63]:
                raise ValueError(f"the saved number of {name}, {wrong[0]}, has more than 64 bits")

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` left off; errors as in `check_state`, and then nothing is changed."""
        self.check_state(state)
        xp, device = self._kind.xp, self._kind.device
        self.seed(state["seeds"], np.arange(len(self._seeds)))
        episodes, steps, keys = (
            xp.asarray(state[name], dtype=xp.int64, device=device) for name in ("episodes", "steps", "keys")
        )
        self._episodes, self._begun, self._episode_keys = episodes, self._now - steps, keys

    def states(self, rows: Array | None) -> dict[str, Any]:
        """Return where the environments `rows` (k,), or all of them, draw from, as arrays (k,) for `put_states`."""
        rows_idx, counts = _chosen(rows), {"steps": self.steps, "episodes": self._episodes}
        keys = {"seed_keys": self._seed_keys, "episode_keys": self._episode_keys}
        arrays = {name: copy(array[rows_idx]) for name, array in (counts | keys).items()}
        return {"seeds": self._seeds[_on_host(rows_idx)].copy(), **arrays}

    def put_states(self, states: dict[str, Any], rows: Array | None, steps_alone: bool) -> None:
        """Continue the draws of other environments in the environments `rows` (k,) or all: as many, or one for all.

        Args:
            states: the result of `states`.
            rows: numbers of environments (k,); None for all.
            steps_alone: True: they keep their seeds and episodes; only the steps in the episode are taken from
                `states`.
        """
        rows_idx = _chosen(rows)
        self._begun[rows_idx] = self._now - self._kind.like(states["steps"])
        if not steps_alone:
            self._seeds[_on_host(rows_idx)] = states["seeds"]
            self._episodes[rows_idx] = self._kind.like(states["episodes"])
            self._seed_keys[rows_idx] = self._kind.like(states["seed_keys"])
            self._episode_keys[rows_idx] = self._kind.like(states["episode_keys"])


def _chosen(rows: Array | None) -> Any:
    """Return an index of the rows of an array; None: all of them."""
    return slice(None) if rows is None else rows


def _on_host(chosen: Any) -> Any:
    return chosen if isinstance(chosen, slice) else host(chosen)
