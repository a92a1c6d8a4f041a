"""Rotations are MuJoCo's, angles numpy's, to rounding; their bits depend on neither the batch nor the library."""

import math

import mujoco
import numpy as np
import pytest
import torch

from tumble.envs.managers import frames

from ...cases import cases

RNG = np.random.default_rng(0)
QUATS = RNG.normal(size=(300, 4))
QUATS /= np.linalg.norm(QUATS, axis=1, keepdims=True)
VECTORS = RNG.normal(size=(300, 3))


def matrices(quats: np.ndarray) -> np.ndarray:
    """By MuJoCo, (n, 3, 3)."""
    found = np.zeros((len(quats), 9))
    for row, quat in zip(found, quats, strict=True):
        mujoco.mju_quat2Mat(row, quat)
    return found.reshape(-1, 3, 3)


def test_rotations_are_mujocos():
    mats = matrices(QUATS)
    close = {"atol": 1e-12}
    np.testing.assert_allclose(frames.quat_rotate(QUATS, VECTORS), np.einsum("nij,nj->ni", mats, VECTORS), **close)
    np.testing.assert_allclose(
        frames.quat_rotate_inverse(QUATS, VECTORS), np.einsum("nji,nj->ni", mats, VECTORS), **close
    )
    np.testing.assert_allclose(frames.projected_gravity(QUATS), -mats[:, 2], **close)
    np.testing.assert_allclose(frames.up_of(QUATS), mats[:, 2], **close)
    other = np.roll(QUATS, 1, axis=0)
    np.testing.assert_allclose(matrices(frames.quat_mul(QUATS, other)), mats @ matrices(other), **close)
    np.testing.assert_allclose(matrices(frames.quat_conj(QUATS)), mats.transpose(0, 2, 1), **close)
    between = mats.transpose(0, 2, 1) @ matrices(other)
    angle = np.arccos(np.clip((np.trace(between, axis1=1, axis2=2) - 1) / 2, -1, 1))
    np.testing.assert_allclose(frames.quat_angle(QUATS, other), angle, atol=1e-7)


def test_the_frame_of_the_heading_turns_about_the_vertical():
    yaw = frames.yaw_of(QUATS)
    np.testing.assert_allclose(yaw, np.arctan2(matrices(QUATS)[:, 1, 0], matrices(QUATS)[:, 0, 0]), atol=1e-12)
    flat = frames.quat_from_yaw(yaw)
    np.testing.assert_allclose(frames.to_heading(QUATS, VECTORS), frames.quat_rotate_inverse(flat, VECTORS), atol=1e-12)
    back = frames.from_heading(QUATS, frames.to_heading(QUATS, VECTORS))
    np.testing.assert_allclose(back, VECTORS, atol=1e-12)
    nose_up = np.array([[math.sqrt(0.5), 0, -math.sqrt(0.5), 0]], np.float32)
    assert np.isfinite(frames.to_heading(nose_up, VECTORS[:1].astype(np.float32))).all()


def test_angles_of_roll_pitch_and_yaw():
    roll, pitch, yaw = RNG.uniform(-1.5, 1.5, (3, 200))
    found = matrices(frames.quat_from_euler(roll, pitch, yaw))
    for k in range(0, 200, 17):
        quat = np.zeros(4)
        mujoco.mju_euler2Quat(quat, [roll[k], pitch[k], yaw[k]], "XYZ")  # about the world's axes, x first
        np.testing.assert_allclose(found[k], matrices(quat[None])[0], atol=1e-12)


@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 5e-16), (np.float32, 3e-7)])
def test_the_arc_tangent(dtype, error):
    x, y = RNG.normal(size=(2, 100_000)).astype(dtype) * (10 ** RNG.uniform(-6, 6, (2, 100_000))).astype(dtype)
    expected = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    np.testing.assert_allclose(frames.atan2(y, x), expected, atol=error, rtol=error)
    signs = np.array([[0, 0], [0, 1], [0, -1], [1, 0], [-1, 0], [1, 1], [-1, -1], [1, -1]], dtype)
    np.testing.assert_allclose(frames.atan2(*signs.T), np.arctan2(*signs.T), atol=error)


def test_turns_are_taken_off():
    angles = np.array([0.0, 3.0, -3.0, 3.3, -3.3, 10.0, 2 * math.pi])
    found = frames.wrap_to_pi(angles)
    np.testing.assert_allclose(np.exp(1j * found), np.exp(1j * angles), atol=1e-12)
    assert abs(found).max() <= math.pi


FUNCTIONS = {
    "rotate": lambda q, v: frames.quat_rotate(q, v),
    "inverse": lambda q, v: frames.quat_rotate_inverse(q, v),
    "yaw": lambda q, v: frames.yaw_of(q),
    "gravity": lambda q, v: frames.projected_gravity(q),
    "heading": lambda q, v: frames.to_heading(q, v),
    "euler": lambda q, v: frames.quat_from_euler(v[:, 0], v[:, 1], v[:, 2]),
    "angle": lambda q, v: frames.quat_angle(q, q * q),
}


@cases("name", FUNCTIONS)
@cases("dtype", [np.float32, np.float64])
def test_bits_are_the_same_in_every_batch_and_library(name, dtype):
    function, quats, vectors = FUNCTIONS[name], QUATS.astype(dtype), VECTORS.astype(dtype)
    found = function(quats, vectors)
    assert found.dtype == dtype
    for k in (0, 1, 7, 299):
        np.testing.assert_array_equal(function(quats[k : k + 1], vectors[k : k + 1])[0], found[k])
    in_torch = function(torch.from_numpy(quats), torch.from_numpy(vectors))
    if dtype == np.float64 and name in ("heading", "angle"):  # torch's roots in double precision are off by a rounding
        np.testing.assert_allclose(in_torch.numpy(), found, rtol=1e-15, atol=1e-15)
    else:
        np.testing.assert_array_equal(in_torch.numpy(), found)
