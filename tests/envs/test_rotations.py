"""Rotations of many bodies at once are scipy's, and random ones are even on SO(3)."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tumble.envs import rotations
from tumble.envs.arrays import ArrayKind, tanh
from tumble.envs.noise import Noise

RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((2, 500, 4))
A, B = A / np.linalg.norm(A, axis=1)[:, None], B / np.linalg.norm(B, axis=1)[:, None]
V = RNG.standard_normal((500, 3))


def of(quat: np.ndarray) -> Rotation:
    return Rotation.from_quat(quat, scalar_first=True)


def test_rotations_are_scipys():
    close = dict(atol=1e-14)
    np.testing.assert_allclose(of(rotations.quat_multiply(A, B)).as_matrix(), (of(A) * of(B)).as_matrix(), **close)
    np.testing.assert_allclose(rotations.quat_rotate(A, V), of(A).apply(V), **close)
    np.testing.assert_allclose(rotations.quat_rotate_inverse(A, V), of(A).inv().apply(V), **close)
    np.testing.assert_allclose(rotations.quat_rotate(rotations.quat_conjugate(A), V), of(A).inv().apply(V), **close)
    np.testing.assert_allclose(rotations.cross(V, V[::-1]), np.cross(V, V[::-1]), **close)
    np.testing.assert_allclose(rotations.quat_rows(A), of(A).as_matrix()[:, :2].reshape(-1, 6), **close)


@pytest.mark.parametrize("dtype, rounding", [(np.float64, 2e-15), (np.float32, 1e-6)])
def test_angles(dtype, rounding):
    """From none to half a turn, of quaternions of both signs."""
    angles = np.concatenate((np.linspace(0, np.pi, 1001), [1e-6, np.pi - 1e-6]))
    quats = np.stack((np.cos(angles / 2), 0.6 * np.sin(angles / 2), 0 * angles, -0.8 * np.sin(angles / 2)), axis=1)
    for sign in (1, -1):
        found = rotations.quat_angle((sign * quats).astype(dtype))
        assert found.dtype == dtype
        np.testing.assert_allclose(found, angles, atol=rounding)
    assert rotations.quat_angle(np.array([[1.0, 0, 0, 0]]))[0] == 0


def test_tanh():
    x = np.linspace(-30, 30, 10_001)
    np.testing.assert_allclose(tanh(x), np.tanh(x), rtol=2e-15)
    assert tanh(x.astype(np.float32)).dtype == np.float32


def test_random_rotations_are_even():
    """The angle from any rotation has the density (1 - cos) / pi, and each row of the matrix points everywhere."""
    keys = np.arange(20_000, dtype=np.int64) * 7919
    quats = rotations.random_quats(Noise(lambda: keys))
    np.testing.assert_allclose(np.sum(quats**2, axis=1), 1, atol=1e-14)
    for base in (A[:1], B[:1]):
        angles = np.sort(rotations.quat_angle(rotations.quat_multiply(quats, base + 0 * quats)))
        wanted = (angles - np.sin(angles)) / np.pi  # the distribution function
        assert np.abs(wanted - (np.arange(len(angles)) + 0.5) / len(angles)).max() < 1.63 / np.sqrt(len(angles))
    assert np.abs(of(quats).as_matrix().mean(axis=0)).max() < 4 / np.sqrt(3 * len(quats))


def test_torch_gives_the_same():
    torch = pytest.importorskip("torch")
    kind = ArrayKind.of(torch.float64, "cpu", "torch")
    a, b, v = (kind.numbers(x) for x in (A, B, V))
    np.testing.assert_allclose(rotations.quat_multiply(a, b), rotations.quat_multiply(A, B), atol=1e-15)
    np.testing.assert_allclose(rotations.quat_rotate(a, v), rotations.quat_rotate(A, V), atol=1e-15)
    np.testing.assert_allclose(rotations.quat_angle(a), rotations.quat_angle(A), atol=1e-14)
    np.testing.assert_allclose(rotations.quat_rows(a), rotations.quat_rows(A), atol=1e-15)
