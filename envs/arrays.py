"""Arrays as tasks see them: the Python array API standard, in numpy where the solver lies on a CPU, in torch elsewhere.

A task is written once in the functions of the standard (https://data-apis.org/array-api), which it finds in `self.xp`:
numpy itself, or torch behind `array-api-compat`. This module has functions that the standard lacks. An environment's
results must have the same bits in a batch of any size, and there a library's own sum, norm, sine or matrix product will
not do: numpy chooses their order and their code by the shape and layout of the whole array. The functions here compute
in a fixed order, and only with + - * /, roots, comparisons and rounding, whose results IEEE 754 fixes exactly.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, reduce
from typing import Any, NamedTuple

import numpy as np
import torch

from ..physics.base.array_api import Array, namespace

_NUMPY_BOOL = np.dtype(np.bool_)


# π/2 in two pieces: the first has 8 bits, so that its product with a small whole number is exact in float32 too.
_HALF_PI_HIGH = 1.5703125
_HALF_PI_LOW = 0.00048382679489661923132169163975144
_TYPES = (np.float64, np.float32)
_FEW = 8  # numbers that are computed sooner one by one
_SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(9)]
_COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(9)]
_SINH = [1 / math.factorial(2 * k + 1) for k in range(7)]
_COSH = [1 / math.factorial(2 * k) for k in range(7)]

# ln 2 in two pieces, likewise: the first has 15 bits.
_LN2_HIGH = 0.693145751953125
_LN2_LOW = 1.42860682030941723212e-6
_EXPONENTIAL = [1 / math.factorial(k) for k in range(15)]
_SMALLEST = -1022  # the exponent of the smallest normal float64


class ArrayKind(NamedTuple):
    """The library, precision and device of a batch's arrays, with the conversions to and from them."""

    xp: Any  # the library, in the names of the array API standard
    dtype: Any  # the solver's precision, as the library names it
    device: Any

    @classmethod
    def of(cls, dtype: torch.dtype, device: str, library: str | None = None) -> "ArrayKind":
        """Return the kind for a solver: numpy on a CPU, torch elsewhere.

        Args:
            dtype: the solver's precision.
            device: where the solver lies.
            library: "torch" for torch on a CPU too; None for numpy there.

        Raises:
            ValueError: no such library.
        """
        if library not in (None, "torch"):
            raise ValueError(f"array_library={library!r}: it is 'torch', or None to let the device choose")
        if library is None and device == "cpu":
            return cls(np, np.dtype(np.float64 if dtype == torch.float64 else np.float32), "cpu")
        import array_api_compat.torch as xp

        return cls(xp, dtype, torch.device(device))

    @property
    def in_numpy(self) -> bool:
        """True if the arrays are numpy's."""
        return self.xp is np

    @property
    def boolean(self) -> Any:
        """The type of masks."""
        return _NUMPY_BOOL if self.in_numpy else torch.bool

    def lies_on(self, device: torch.device) -> bool:
        """Return True if arrays of this kind lie where torch's tensors on a device do."""
        return torch.device(self.device) == device

    def numbers(self, values: Any) -> Array:
        """Convert numbers to an array of this kind; without a copy where they are one already."""
        if self.in_numpy:
            return np.asarray(values, self.dtype)
        return torch.as_tensor(values, dtype=self.dtype, device=self.device)

    def like(self, values: Any) -> Array:
        """Convert an array of any library to this one, and floating-point numbers to this precision."""
        array = torch.as_tensor(values, device=self.device) if not self.in_numpy else np.asarray(values)
        return self.numbers(array) if self.xp.isdtype(array.dtype, "real floating") else array

    def from_tensor(self, tensor: torch.Tensor) -> Array:
        """Return an array of this kind that shares the memory of a tensor on this device."""
        return tensor.numpy() if self.in_numpy else tensor

    def to_tensor(self, array: Array) -> torch.Tensor:
        """Return a tensor that shares the memory of an array of this kind."""
        return torch.from_numpy(array) if self.in_numpy else array

    def zeros(self, shape: tuple[int, ...], dtype: Any = None) -> Array:
        """Return zeros; `dtype` is the solver's precision unless given."""
        return self.xp.zeros(shape, dtype=dtype or self.dtype, device=self.device)


# -- for tasks --------------------------------------------------------------------------------------------------------


def clip(x: Array, low: float, high: float) -> Array:
    """Limit to [low, high] elementwise; NaN stays NaN. The standard's own clip takes three times as long in numpy."""
    if isinstance(x, torch.Tensor):
        return x.clamp(low, high)  # the standard's would first copy both bounds to the device
    xp = namespace(x)
    return xp.minimum(xp.maximum(x, low), high)


def row_sum(x: Array) -> Array:
    """Add up the last axis, (..., k) -> (...), by halving: in the same order for any batch."""
    if isinstance(x, np.ndarray) and x.shape[-1] > 3 and len(x) > 1:
        x = np.asfortranarray(x)  # so that an addition runs along all environments, not along a few numbers of each
    size, odd = x.shape[-1], None
    while size > 1:
        if size % 2:
            last = x[..., size - 1]
            odd = last if odd is None else odd + last
        size //= 2
        x = x[..., :size] + x[..., size : 2 * size]
    return x[..., 0] if odd is None else x[..., 0] + odd


def row_norm(x: Array) -> Array:
    """Euclidean length along the last axis, (..., k) -> (...)."""
    return namespace(x).sqrt(row_sum(x * x))


def row_all(mask: Array) -> Array:
    """Return True where a mask is True all along the last axis, (..., k) -> (...)."""
    if isinstance(mask, np.ndarray):
        return np.logical_and.reduce(mask, -1)  # np.all spends 3 us in Python first, a tenth of a Hopper's step
    return namespace(mask).all(mask, axis=-1)


def all_finite(x: Array) -> Array:
    """Return True where every number along the last axis is finite, (..., k) -> (...)."""
    return row_all(namespace(x).isfinite(x))


def sin_cos(x: Array) -> tuple[Array, Array]:
    """Return (sin x, cos x) for x in radians, good to two roundings for |x| < 1e4.

    The angle is brought into ±π/4 by whole quarter turns; there Taylor's series needs nine terms, in float32 five.
    A few numbers in numpy are computed one by one, by the same operations: a call of numpy takes as long as ten.
    """
    if isinstance(x, np.ndarray) and x.size <= _FEW and x.dtype in _TYPES and np.isfinite(x).all():
        angles = x.ravel().tolist() if x.dtype == np.float64 else [*x.ravel()]  # float, or numpy's float32
        pairs = np.array([_sin_cos_of_number(angle) for angle in angles]).reshape(*x.shape, 2)
        return pairs[..., 0], pairs[..., 1]
    xp = namespace(x)
    quarters = xp.round(x * (2 / math.pi))
    small = (x - quarters * _HALF_PI_HIGH) - quarters * _HALF_PI_LOW
    square = small * small
    terms = 9 if x.dtype == xp.float64 else 5
    sine, cosine = small * _polynomial(_SINE[:terms], square), _polynomial(_COSINE[:terms], square)
    quarter = quarters % 4
    odd = quarter % 2 == 1
    sine, cosine = xp.where(odd, cosine, sine), xp.where(odd, sine, cosine)
    return xp.where(quarter >= 2, -sine, sine), xp.where((quarter == 1) | (quarter == 2), -cosine, cosine)


def _sin_cos_of_number(x: Any) -> tuple[Any, Any]:
    """Return (sin x, cos x) of a float or a float32, in its precision, with the bits of `sin_cos`."""
    number = type(x)
    quarters = number(math.copysign(round(float(x * (2 / math.pi))), x))
    small = (x - quarters * _HALF_PI_HIGH) - quarters * _HALF_PI_LOW
    square = small * small
    highest = 8 if number is float else 4
    sine, cosine = number(_SINE[highest]), number(_COSINE[highest])
    for k in range(highest - 1, -1, -1):
        sine, cosine = sine * square + _SINE[k], cosine * square + _COSINE[k]
    sine *= small
    quarter = quarters % 4
    if quarter % 2 == 1:
        sine, cosine = cosine, sine
    return -sine if quarter >= 2 else sine, -cosine if quarter in (1, 2) else cosine


def exp(x: Array) -> Array:
    """Return e^x, good to two roundings; beyond the range of normal numbers it stays at their ends, NaN stays NaN.

    The exponent is brought into ±ln(2)/2 by whole octaves; there Taylor's series needs 15 terms, in float32 nine.
    """
    xp = namespace(x)
    double = x.dtype == xp.float64
    x = clip(x, *((-708.0, 709.0) if double else (-87.0, 88.0)))
    octaves = xp.round(x * (1 / math.log(2)))
    octaves = xp.where(xp.isnan(x), 0, octaves)
    rest = (x - octaves * _LN2_HIGH) - octaves * _LN2_LOW
    places = xp.reshape(xp.astype(octaves, xp.int64) - _SMALLEST, (-1,))
    power = xp.reshape(xp.take(_powers_of_two(xp, x.dtype, x.device), places), x.shape)
    return _polynomial(_EXPONENTIAL[: 15 if double else 9], rest) * power


@cache
def _powers_of_two(xp: Any, dtype: Any, device: Any) -> Array:
    """Return 2^k for all k from `_SMALLEST` on that a float64 can hold; out of the type's range 0 or infinite."""
    with np.errstate(all="ignore"):
        return xp.asarray([2.0**k for k in range(_SMALLEST, 1024)], dtype=dtype, device=device)


def log(x: Array) -> Array:
    """Return the natural logarithm of positive numbers, good to some roundings.

    The exponent is split off; of the rest, from √½ to √2, the series of the inverse hyperbolic tangent needs 12 terms.
    """
    xp = namespace(x)
    mantissa, exponent = xp.frexp(x)  # not in the standard, but in both libraries
    small = mantissa < math.sqrt(0.5)
    mantissa, exponent = xp.where(small, 2 * mantissa, mantissa), xp.where(small, exponent - 1, exponent)
    z = (mantissa - 1) / (mantissa + 1)
    square, series = z * z, z * 0
    for k in range(11, -1, -1):
        series = series * square + 1 / (2 * k + 1)
    return 2 * z * series + xp.astype(exponent, x.dtype) * math.log(2)


def tanh(x: Array) -> Array:
    """Return the hyperbolic tangent, good to some roundings: series at x / 32, then the rule of the double angle."""
    small = clip(x, -20, 20) * (1 / 32)
    square = small * small
    sinh, cosh = small * _polynomial(_SINH, square), _polynomial(_COSH, square)
    value = sinh / cosh
    for _ in range(5):
        value = 2 * value / (1 + value * value)
    return value


def _polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """Evaluate the sum of coefficients[k] x^k by Horner's rule."""
    *lower, highest = coefficients
    return reduce(lambda value, c: value * x + c, reversed(lower), x * 0 + highest)


# -- for batches ------------------------------------------------------------------------------------------------------


def host(x: Array) -> np.ndarray:
    """Return an array as numpy's, without a copy where it lies on the CPU."""
    return x if isinstance(x, np.ndarray) else x.cpu().numpy()


def copy(x: Array) -> Array:
    """Return a copy that shares no memory with the array."""
    return x.copy() if isinstance(x, np.ndarray) else x.clone()


def owns_data(x: Array) -> bool:
    """Return True if an array owns its memory, instead of being a part of another's."""
    return x.flags.owndata if isinstance(x, np.ndarray) else not x._is_view()


def indices(mask: Array, count: int | None = None) -> Array:
    """Indices (k,) at which a mask (n,) is True; on a device that is waited for, unless it is known how many."""
    if count is None or isinstance(mask, np.ndarray):
        return namespace(mask).nonzero(mask)[0]
    return torch.argsort(mask.to(torch.uint8), descending=True, stable=True)[:count]


def zeros_like_rows(like: Array, n: int) -> Array:
    """Return n rows of zeros, otherwise like an array (m, ...)."""
    return namespace(like).zeros((n, *like.shape[1:]), dtype=like.dtype, device=like.device)


def only_rows(x: Array, rows: Array) -> Array:
    """Return a copy of an array (n, ...) with zeros in all rows but `rows` (k,)."""
    kept_rows = zeros_like_rows(x, len(x))
    kept_rows[rows] = x[rows]
    return kept_rows


def spread_mask(mask: Array, like: Array) -> Array:
    """Give a mask (n,) as many axes as an array (n, ...), for `where`."""
    return namespace(mask).reshape(mask, (-1, *[1] * (like.ndim - 1)))


def finite_or_zero(x: Array, among: Array) -> Array:
    """Replace infinities and NaN by zero in the rows where the mask `among` (n,) is True."""
    xp = namespace(x)
    if not xp.isdtype(x.dtype, "real floating"):
        return x
    return xp.where(spread_mask(among, x) & ~xp.isfinite(x), 0, x)


def any_true(x: Array) -> bool:
    """Return True if anything in an array is True, or not zero."""
    if isinstance(x, np.ndarray):
        return bool(np.count_nonzero(x))  # in a fifth of any()'s time
    return bool(x.any())


def counts(*masks: Array) -> list[int]:
    """Count the places of each of some arrays (n,) that are True, or not zero; waits for a device once."""
    if isinstance(masks[0], np.ndarray):
        return [int(np.count_nonzero(mask)) for mask in masks]
    return torch.stack([mask != 0 for mask in masks]).sum(dim=1).tolist()


def everywhere(mask: Array) -> bool:
    """Return True if a mask is True at every place."""
    if isinstance(mask, np.ndarray):
        return bool(np.count_nonzero(mask) == mask.size)
    return bool(mask.all())


def equal(one: Any, other: Any) -> bool:
    """Return True if two values are equal: arrays, and collections and records with arrays in them, included."""
    if one is other:
        return True
    if isinstance(one, np.ndarray | torch.Tensor) or isinstance(other, np.ndarray | torch.Tensor):
        return type(one) is type(other) and one.shape == other.shape and bool((one == other).all())
    if type(one) is type(other):
        if is_dataclass(one):
            return all(equal(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
        if isinstance(one, Mapping):
            return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
        if isinstance(one, list | tuple):
            return len(one) == len(other) and all(map(equal, one, other))
    return bool(one == other)
