"""The array words have the same bits in torch and numpy, at every batch size, and are right."""

import numpy as np
import pytest
import torch

from tumble.envs import arrays

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 2, 3, 6, 8, 17, 84, 85])
@pytest.mark.parametrize("word", [arrays.total, arrays.length, arrays.sin_cos, arrays.finite_or_zero])
def test_same_bits_everywhere(word, width, dtype):
    """All rows at once in torch, all rows in numpy and each row alone in numpy."""
    x = RNG.normal(scale=3, size=(37, width)).astype(dtype)
    for torch_part, numpy_part, *alone in zip(
        *[_parts(word(y)) for y in (torch.from_numpy(x), x, *x[:, None])], strict=True
    ):
        np.testing.assert_array_equal(torch_part.numpy(), numpy_part)
        np.testing.assert_array_equal(np.concatenate(alone), numpy_part)
        assert numpy_part.dtype == dtype


def _parts(value):
    """A tuple as it is, anything else as a tuple of one."""
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sine_and_cosine(dtype):
    """Two roundings from the truth, over many turns."""
    x = RNG.uniform(-1e4, 1e4, 100_000).astype(dtype)
    sine, cosine = arrays.sin_cos(x)
    allowed = 2 * np.finfo(dtype).eps
    np.testing.assert_allclose(sine, np.sin(x.astype(np.float64)), atol=allowed, rtol=0)
    np.testing.assert_allclose(cosine, np.cos(x.astype(np.float64)), atol=allowed, rtol=0)


def test_total_and_length():
    """They are sums and Euclidean lengths; sums take any number of leading axes."""
    x = RNG.normal(size=(4, 3, 13))
    np.testing.assert_allclose(arrays.total(x), x.sum(-1))
    np.testing.assert_allclose(arrays.length(x), np.linalg.norm(x, axis=-1))


@pytest.mark.parametrize("kind", [torch.from_numpy, np.asarray])
def test_small_words(kind):
    """Clip, flag, finite, nobody, where, concat."""
    x = kind(np.array([[1.0, np.nan], [-20.0, np.inf]], np.float32))
    clipped = np.asarray(arrays.clip(x, -10, 10))
    np.testing.assert_array_equal(clipped, [[1, np.nan], [-10, 10]])
    np.testing.assert_array_equal(np.asarray(arrays.finite_or_zero(x)), [[1, 0], [-20, 0]])
    np.testing.assert_array_equal(np.asarray(arrays.finite(x[:, :1])), [True, True])
    np.testing.assert_array_equal(np.asarray(arrays.finite(x)), [False, False])
    np.testing.assert_array_equal(np.asarray(arrays.nobody(x)), [False, False])
    numbers = arrays.flag(x[:, 0] > 0, x)
    assert numbers.dtype == x.dtype and numbers.tolist() == [1, 0]
    assert arrays.where(x[:, 0] > 0, x[:, 0], x[:, 0] * 0).tolist() == [1, 0]
    assert arrays.concat((x, x[:, :1])).shape == (2, 3)


@pytest.mark.parametrize("kind", [torch.from_numpy, np.asarray])
def test_words_of_selection(kind):
    """Every, indices, blank, copy, stack, host."""
    mask = kind(np.array([[True, True], [True, False], [False, False]]))
    assert arrays.every(mask).tolist() == [True, False, False]
    assert arrays.every(mask).dtype == mask.dtype
    assert arrays.indices(mask[:, 0]).tolist() == [0, 1]
    x = kind(np.arange(6, dtype=np.float32).reshape(2, 3))
    zeros = arrays.blank(x, 4)
    assert zeros.shape == (4, 3) and zeros.dtype == x.dtype and not zeros.any()
    twin = arrays.copy(x)
    x[:] = -1
    assert twin.tolist() == [[0, 1, 2], [3, 4, 5]]
    rows = arrays.stack([twin[:, 0], twin[:, 2]])
    assert rows.tolist() == [[0, 3], [2, 5]] and rows.dtype == x.dtype
    assert isinstance(arrays.host(rows), np.ndarray)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_finite_in_wide_rows(bad):
    """One number among many, wherever it stands, and numbers whose sum would overflow."""
    x = np.full((3, 29), 3e38, np.float32)
    x[1, 17] = bad
    assert arrays.finite(x).tolist() == arrays.finite(torch.from_numpy(x)).tolist() == [True, False, True]
