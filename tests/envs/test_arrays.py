"""The functions that tasks have beside the array API standard: right in any library, and the same bits in any batch."""

import array_api_strict
import numpy as np
import pytest
import torch

from tumble.envs import arrays

from ..cases import cases

RNG = np.random.default_rng(0)
LIBRARIES = {"numpy": np.asarray, "torch": torch.as_tensor, "strict": array_api_strict.asarray}


@pytest.fixture(params=LIBRARIES)
def library(request):
    """Make an array of a library from a numpy array."""
    return LIBRARIES[request.param]


@cases("dtype", [np.float32, np.float64])
@cases("width", [1, 2, 3, 6, 8, 17, 84, 85])
@cases("function", [arrays.row_sum, arrays.row_norm, arrays.sin_cos, arrays.exp, arrays.all_finite])
def test_same_bits_in_any_batch(function, width, dtype):
    """All rows at once, in either order in memory, and each row alone."""
    x = RNG.normal(scale=3, size=(37, width)).astype(dtype)
    wanted = _parts(function(x))
    for part, by_columns, *alone in zip(
        wanted, *[_parts(function(y)) for y in (np.asfortranarray(x), *x[:, None])], strict=True
    ):
        np.testing.assert_array_equal(by_columns, part)
        np.testing.assert_array_equal(np.concatenate(alone), part)
        assert part.dtype in (dtype, bool)


def _parts(value):
    """A tuple as it is, anything else as a tuple of one."""
    return value if isinstance(value, tuple) else (value,)


@cases("dtype, bits", [(np.float32, np.int32), (np.float64, np.int64)])
def test_a_few_angles_have_the_bits_of_many(dtype, bits):
    """Zeros of both signs, whole quarter turns and far angles included; what is not finite, too."""
    rng = np.random.default_rng(0)
    special = [0.0, -0.0, np.pi / 4, *(k * np.pi / 2 for k in range(-9, 10)), 1e-300, 5e3, -9e3]
    angles = np.concatenate([special, rng.uniform(-10, 10, 4000), rng.normal(scale=1e-3, size=1000)]).astype(dtype)
    many = np.stack(arrays.sin_cos(angles))
    few = np.concatenate(
        [np.stack(arrays.sin_cos(part)) for part in np.split(angles, range(3, len(angles), 3))], axis=1
    )
    np.testing.assert_array_equal(many.view(bits), few.view(bits))
    assert [part.shape for part in arrays.sin_cos(angles[:6].reshape(2, 3))] == [(2, 3), (2, 3)]
    assert np.isnan(arrays.sin_cos(np.array([np.nan, 1.0], dtype))[0]).tolist() == [True, False]


@cases("dtype", [np.float32, np.float64])
def test_sine_and_cosine(dtype, library):
    """Two roundings from the truth, over many turns."""
    x = RNG.uniform(-1e4, 1e4, 100_000).astype(dtype)
    sine, cosine = (np.asarray(part) for part in arrays.sin_cos(library(x)))
    allowed = 2 * np.finfo(dtype).eps
    np.testing.assert_allclose(sine, np.sin(x.astype(np.float64)), atol=allowed, rtol=0)
    np.testing.assert_allclose(cosine, np.cos(x.astype(np.float64)), atol=allowed, rtol=0)


@cases("dtype, least, most", [(np.float32, -87, 88), (np.float64, -708, 709)])
def test_exponential(dtype, least, most, library):
    """Two roundings from the truth over the whole range; beyond it the ends of the range, and NaN stays."""
    x = np.concatenate((RNG.uniform(least, most, 100_000), RNG.normal(size=100_000), [0.0])).astype(dtype)
    wanted = np.exp(x.astype(np.longdouble)).astype(np.float64)
    np.testing.assert_allclose(np.asarray(arrays.exp(library(x))), wanted, rtol=2 * np.finfo(dtype).eps, atol=0)
    odd = np.asarray(arrays.exp(library(np.array([[-np.inf, np.nan], [np.inf, 1e4]], dtype))))
    ends = np.exp(np.array([least, most], np.float64)).astype(dtype)
    np.testing.assert_allclose(odd, [[ends[0], np.nan], [ends[1], ends[1]]], rtol=1e-6)


def test_sums_and_norms(library):
    """Along the last axis, with any number of axes in front."""
    x = RNG.normal(size=(4, 3, 13))
    np.testing.assert_allclose(np.asarray(arrays.row_sum(library(x))), x.sum(-1))
    np.testing.assert_allclose(np.asarray(arrays.row_norm(library(x))), np.linalg.norm(x, axis=-1))


def test_clip_and_masks(library):
    """NaN stays NaN; every row is asked as a whole."""
    x = library(np.array([[1.0, np.nan], [-20.0, np.inf], [2.0, 3.0]], np.float32))
    np.testing.assert_array_equal(np.asarray(arrays.clip(x, -10, 10)), [[1, np.nan], [-10, 10], [2, 3]])
    assert np.asarray(arrays.all_finite(x)).tolist() == [False, False, True]
    assert np.asarray(arrays.row_all(x > 0)).tolist() == [False, False, True]


@cases("bad", [np.nan, np.inf, -np.inf])
def test_finite_in_wide_rows(bad, library):
    """One number among many, wherever it stands, and numbers whose sum would overflow."""
    x = np.full((3, 29), 3e38, np.float32)
    x[1, 17] = bad
    assert np.asarray(arrays.all_finite(library(x))).tolist() == [True, False, True]


@cases("kind", [torch.as_tensor, np.asarray])
def test_for_batches(kind):
    """Indices, rows of zeros, what is finite among some, and whether data are an array's own."""
    x = kind(np.array([[1.0, np.nan], [-20.0, np.inf]], np.float32))
    assert arrays.indices(x[:, 0] > 0).tolist() == [0]
    zeros = arrays.zeros_like_rows(x, 3)
    assert zeros.shape == (3, 2) and zeros.dtype == x.dtype and not zeros.any()
    cleaned = arrays.finite_or_zero(x, kind(np.array([False, True])))
    np.testing.assert_array_equal(np.asarray(cleaned), [[1, np.nan], [-20, 0]])
    whole = kind(np.array([1, 2]))
    assert arrays.finite_or_zero(whole, whole > 0) is whole
    own = arrays.copy(x)
    assert arrays.owns_data(own) and not arrays.owns_data(own[:1])


def test_kinds():
    """The device and the task decide; numbers come in the solver's precision, others stay as they are."""
    plain, tensors = arrays.ArrayKind.of(torch.float64, "cpu"), arrays.ArrayKind.of(torch.float32, "cpu", "torch")
    assert plain.in_numpy and plain.numbers([1]).dtype == np.float64
    assert not tensors.in_numpy and tensors.numbers(np.array([1.0])).dtype == torch.float32
    assert plain.like(torch.tensor([1.0])).dtype == np.float64 and plain.like(np.array([1, 2])).dtype == np.int64
    assert tensors.like(np.array([True])).dtype == torch.bool
    with pytest.raises(ValueError, match="it is 'torch', or None"):
        arrays.ArrayKind.of(torch.float32, "cpu", "jax")


def test_tanh():
    x = np.linspace(-30, 30, 10_001)
    np.testing.assert_allclose(arrays.tanh(x), np.tanh(x), rtol=2e-15)
    assert arrays.tanh(x.astype(np.float32)).dtype == np.float32
