"""The few array words that tasks are written in: the same source runs on torch tensors and on numpy arrays.

Where the solver lies on a CPU, environments are judged in numpy, whose operations cost a third of torch's before they
do any work, and after a physics step, which leaves no code in the processor's caches, a fifth. Batches so large that
torch's threads pay live in torch, as all do on other devices. The two must agree to the last bit, at any batch size and
on any device, so everything here is made of + - * /, roots, comparisons and rounding, which IEEE 754 fixes exactly;
library sums and sines are not fixed.
"""

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
import torch

Array = Any  # torch.Tensor or np.ndarray; no static type says what both can do

# π/2 in two pieces: the first has 8 bits, so that its product with a small whole number is exact in float32 too.
_HALF_PI_HIGH = 1.5703125
_HALF_PI_LOW = 0.00048382679489661923132169163975144
_SINE = [(-1) ** k / math.factorial(2 * k + 1) for k in range(9)]
_COSINE = [(-1) ** k / math.factorial(2 * k) for k in range(9)]


def concat(parts: Sequence[Array]) -> Array:
    """Join arrays (n, a), (n, b), ... into (n, a + b + ...)."""
    return np.concatenate(parts, 1) if isinstance(parts[0], np.ndarray) else torch.cat(list(parts), 1)


def host(x: Array) -> np.ndarray:
    """Bring to numpy, without copying where possible."""
    return x if isinstance(x, np.ndarray) else x.cpu().numpy()


def copy(x: Array) -> Array:
    """Copy, so that what happens to the original is not seen."""
    return x.copy() if isinstance(x, np.ndarray) else x.clone()


def stack(rows: Sequence[Array]) -> Array:
    """Put k arrays (n,) into one (k, n)."""
    return np.array(rows) if isinstance(rows[0], np.ndarray) else torch.stack(list(rows))


def indices(mask: Array) -> Array:
    """Indices (k,) at which a mask (n,) is True."""
    return mask.nonzero()[0] if isinstance(mask, np.ndarray) else mask.nonzero()[:, 0]


def indices_like(like: Array, numbers: np.ndarray) -> Array:
    """Bring indices to the kind and device of another array."""
    return numbers if isinstance(like, np.ndarray) else torch.as_tensor(numbers, device=like.device)


def columns(x: Array, index: Array) -> Array:
    """Pick columns, (n, k) -> (n, *index.shape)."""
    return x.take(index, 1) if isinstance(x, np.ndarray) else x[:, index]


def blank(like: Array, n: int) -> Array:
    """Return n rows of zeros, otherwise like an array (m, ...)."""
    shape = (n, *like.shape[1:])
    return np.zeros(shape, like.dtype) if isinstance(like, np.ndarray) else like.new_zeros(shape)


def where(mask: Array, yes: Array, no: Array) -> Array:
    """Choose elementwise."""
    return np.where(mask, yes, no) if isinstance(mask, np.ndarray) else torch.where(mask, yes, no)


def flag(mask: Array, like: Array) -> Array:
    """Turn a mask into numbers 0 and 1 of the other array's precision."""
    return mask.astype(like.dtype) if isinstance(mask, np.ndarray) else mask.to(like.dtype)


def clip(x: Array, low: float, high: float) -> Array:
    """Limit to [low, high] elementwise; NaN stays NaN."""
    if isinstance(x, np.ndarray):  # numpy's clip goes through Python
        raised = np.maximum(x, low)
        return np.minimum(raised, high, out=raised)
    return x.clip(low, high)


def total(x: Array) -> Array:
    """Add up the last axis, (..., k) -> (...), by halving: a fixed order, whatever the batch and the library."""
    if isinstance(x, np.ndarray) and x.shape[-1] > 3:
        x = np.asfortranarray(x)  # so that an addition runs along all environments, not along a few numbers of each
    size, odd = x.shape[-1], None
    while size > 1:
        if size % 2:
            last = x[..., size - 1]
            odd = last if odd is None else odd + last
        size //= 2
        x = x[..., :size] + x[..., size : 2 * size]
    return x[..., 0] if odd is None else x[..., 0] + odd


def length(x: Array) -> Array:
    """Euclidean length along the last axis, (..., k) -> (...)."""
    squared = total(x * x)
    if isinstance(x, np.ndarray):
        return np.sqrt(squared)
    if squared.is_cuda:
        return torch.sqrt(squared)
    # On a CPU torch's root is not rounded correctly (it comes from MKL); numpy's is, like CUDA's.
    return torch.from_numpy(np.sqrt(squared.numpy()))


def finite(x: Array) -> Array:
    """Whether every number along the last axis is finite, (..., k) -> (...)."""
    if isinstance(x, np.ndarray):
        return np.logical_and.reduce(np.isfinite(x), -1)
    return (x * 0).sum(-1) == 0  # NaN where one is not; in torch isfinite(x).all(-1) takes eight times as long


def every(mask: Array) -> Array:
    """Whether a mask is True all along the last axis, (..., k) -> (...)."""
    if isinstance(mask, np.ndarray):
        return np.logical_and.reduce(mask, -1)  # all(-1) asks it through Python
    return mask.view(torch.uint8).amin(-1).view(torch.bool)  # three times as fast as torch's all(-1)


def some(x: Array) -> bool:
    """Whether anything in an array is True, or not zero."""
    if isinstance(x, np.ndarray):
        return bool(np.count_nonzero(x))  # in a fifth of any()'s time
    return bool(x.any())


def everywhere(mask: Array) -> bool:
    """Whether a mask is True at every place."""
    if isinstance(mask, np.ndarray):
        return bool(np.count_nonzero(mask) == mask.size)
    return bool(mask.all())


def nobody(like: Array) -> Array:
    """Return a mask (n,) that is False everywhere, for an array (n, ...)."""
    if isinstance(like, np.ndarray):
        return np.zeros(len(like), np.bool_)
    return torch.zeros(len(like), dtype=torch.bool, device=like.device)


def finite_or_zero(x: Array) -> Array:
    """Replace what is not finite by zero."""
    return np.where(np.isfinite(x), x, 0) if isinstance(x, np.ndarray) else torch.where(torch.isfinite(x), x, 0)


def sin_cos(x: Array) -> tuple[Array, Array]:
    """Return (sin x, cos x) for x in radians, good to two roundings for |x| < 1e4.

    The angle is brought into ±π/4 by whole quarter turns; there Taylor's series needs nine terms, in float32 five.
    """
    quarters = (x * (2 / math.pi)).round()
    small = (x - quarters * _HALF_PI_HIGH) - quarters * _HALF_PI_LOW
    square = small * small
    terms = 9 if x.dtype.itemsize == 8 else 5
    sine, cosine = small * _polynomial(_SINE[:terms], square), _polynomial(_COSINE[:terms], square)
    quarter = quarters % 4
    odd = quarter % 2 == 1
    sine, cosine = where(odd, cosine, sine), where(odd, sine, cosine)
    return where(quarter >= 2, -sine, sine), where((quarter == 1) | (quarter == 2), -cosine, cosine)


def _polynomial(coefficients: Sequence[float], x: Array) -> Array:
    """Evaluate the sum of coefficients[k] x^k by Horner's rule."""
    *lower, highest = coefficients
    return reduce(lambda value, c: value * x + c, reversed(lower), x * 0 + highest)
