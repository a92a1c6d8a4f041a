"""`tolerance` is dm_control's, for arrays of any library, with the same bits in any batch."""

import array_api_strict
import numpy as np
import pytest
import torch

from tumble.envs import tolerance

from ..cases import cases

theirs = pytest.importorskip("dm_control.utils.rewards")

SIGMOIDS = ("gaussian", "hyperbolic", "long_tail", "reciprocal", "cosine", "linear", "quadratic", "tanh_squared")
REACH_ZERO = ("cosine", "linear", "quadratic")


def arguments(seed: int) -> tuple[np.ndarray, dict]:
    """Numbers inside and outside of random bounds, and the bounds with the rest."""
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.normal(0, 2, 2))
    bounds = [(low, high), (low, low), (0.0, 0.0), (low, np.inf), (-np.inf, high), (-np.inf, np.inf)][seed % 6]
    x = np.concatenate((rng.normal(0, 3, 200), rng.normal(0, 100, 20), [b for b in bounds if np.isfinite(b)], [0.0]))
    value = 0.0 if rng.random() < 0.3 else rng.uniform(0.01, 0.99)
    return x, {"bounds": bounds, "margin": rng.choice([0.0, rng.uniform(0.1, 5)]), "value_at_margin": value}


@cases("library", [np.asarray, torch.as_tensor, array_api_strict.asarray])
@cases("sigmoid", SIGMOIDS)
def test_values(sigmoid, library):
    compared = 0
    for seed in range(120):
        x, rest = arguments(seed)
        if sigmoid not in REACH_ZERO and rest["value_at_margin"] == 0:
            rest["value_at_margin"] = 0.1
        wanted = theirs.tolerance(x, sigmoid=sigmoid, **rest)
        ours = tolerance(library(x), sigmoid=sigmoid, **rest)
        assert type(ours) is type(library(x))
        np.testing.assert_allclose(np.asarray(ours), wanted, rtol=0, atol=1e-14, err_msg=str((seed, rest)))
        compared += int(((wanted > 0.001) & (wanted < 0.999)).sum())
    assert compared > 1000


def test_defaults():
    x = np.linspace(-3, 3, 61)
    np.testing.assert_allclose(tolerance(x), theirs.tolerance(x), atol=1e-15)
    np.testing.assert_allclose(tolerance(x, margin=2.0), theirs.tolerance(x, margin=2.0), atol=1e-15)


def test_not_a_number_stays():
    """A broken environment is worth nothing that others would see; inside of a sharp interval it is not."""
    x = np.array([np.nan, 0.0])
    for sigmoid in SIGMOIDS:
        np.testing.assert_array_equal(tolerance(x, margin=1.0, sigmoid=sigmoid), [np.nan, 1.0])
    np.testing.assert_array_equal(tolerance(x, (0.0, 1.0)), [0.0, 1.0])


@cases("dtype", [np.float32, np.float64])
@cases("sigmoid", SIGMOIDS)
def test_same_bits_in_any_batch(sigmoid, dtype):
    """A column of a larger array, backwards, and number by number."""
    wide = np.random.default_rng(0).normal(0, 2, (257, 3)).astype(dtype)

    def value(x):
        return tolerance(x, (-0.3, 0.5), 1.7, sigmoid, 0.2)

    wanted = value(np.ascontiguousarray(wide[:, 1]))
    assert wanted.dtype == dtype
    np.testing.assert_array_equal(value(wide[:, 1]), wanted)
    np.testing.assert_array_equal(value(wide[::-1, 1])[::-1], wanted)
    np.testing.assert_array_equal(np.concatenate([value(wide[i : i + 1, 1]) for i in range(257)]), wanted)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"bounds": (1.0, 0.0)}, r"bounds=\(1\.0, 0\.0\) must be"),
        ({"bounds": (np.nan, 0.0)}, r"bounds=\(nan"),
        ({"margin": -1.0}, r"margin=-1\.0"),
        ({"sigmoid": "gauss"}, "no sigmoid 'gauss'; there are gaussian, "),
        ({"margin": 1.0, "value_at_margin": 0.0}, "above 0 and below 1"),
        ({"margin": 1.0, "value_at_margin": 1.0, "sigmoid": "linear"}, "at least 0 and below 1"),
    ],
)
def test_wrong_arguments(wrong, words):
    with pytest.raises(ValueError, match=words):
        tolerance(np.zeros(3), **wrong)
