"""Random orientations are even on SO(3), and rows of matrices are scipy's."""

import numpy as np
from scipy.spatial.transform import Rotation

from tumble.envs.manipulation.hand_reorient import quat_rows, random_quats
from tumble.envs.task.noise import Noise

QUATS = random_quats(Noise(lambda: np.arange(20_000, dtype=np.int64) * 7919))
ROTATIONS = Rotation.from_quat(QUATS, scalar_first=True)


def test_rows_are_those_of_the_matrix():
    np.testing.assert_allclose(quat_rows(QUATS), ROTATIONS.as_matrix()[:, :2].reshape(-1, 6), atol=1e-14)


def test_random_orientations_are_even():
    """The angle from any orientation has the density (1 - cos) / pi, and each row of the matrix points everywhere."""
    np.testing.assert_allclose(np.sum(QUATS**2, axis=1), 1, atol=1e-14)
    n = len(QUATS)
    for base in Rotation.from_rotvec([[0, 0, 0], [1, -2, 0.5]]):
        angles = np.sort((ROTATIONS * base).magnitude())
        wanted = (angles - np.sin(angles)) / np.pi  # the distribution function
        assert np.abs(wanted - (np.arange(n) + 0.5) / n).max() < 1.63 / np.sqrt(n)  # Kolmogorov's bound at 1 %
    assert np.abs(ROTATIONS.as_matrix().mean(axis=0)).max() < 4 / np.sqrt(3 * n)
