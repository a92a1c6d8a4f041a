"""The vocabulary of lanes against SciPy and numpy, for every width and both precisions."""

import warnings

import numpy as np
import pytest
import taichi as ti
from scipy.spatial.transform import Rotation

import tumble
from tumble.physics.base.math import Lanes, Quat, SpatialInertia, SpatialMotion, Vec3, func
from tumble.physics.base.math.compensated import two_sum
from tumble.physics.base.math.lanes import for_each_lane
from tumble.physics.base.math.quaternion import from_axis_angle, integrate, rotation_vector, turn
from tumble.physics.base.math.trigonometry import atan2, sincos
from tumble.physics.machine.taichi_thread import in_taichis_thread

INPUTS = 20  # q(4) v(3) w(3) angle(1) inertia diagonal(3) mass(1) motion... see `sample`
# A few roundings of numbers of order one; the polynomials are within 2 units in the last place.
TOLERANCE = {"32": 4e-6, "64": 1e-14}


def kernel(width: int, dtype):
    lanes = Lanes(width, dtype)
    vector = ti.types.ndarray(ti.types.vector(width, dtype), 1) if width > 1 else ti.types.ndarray(dtype, 1)

    @ti.kernel
    def run(x: vector, out: vector):
        ti.loop_config(serialize=True)
        for _ in range(1):
            q = Quat(x[0], x[1], x[2], x[3])
            v = Vec3(x[4], x[5], x[6])
            w = Vec3(x[7], x[8], x[9])
            s, c = sincos(lanes, x[10])
            turn = from_axis_angle(lanes, Vec3(lanes.real(0.6), lanes.real(0.0), lanes.real(0.8)), x[10])
            log = rotation_vector(lanes, q)
            moved = integrate(lanes, q, w, 0.1)
            rotation = q.matrix()
            tensor = rotation.scaled_square(Vec3(x[11], x[12], x[13]))
            momentum = SpatialInertia.about(tensor, v, x[14]).times(SpatialMotion(w, v))
            results = [
                q.rotate(v),
                Vec3(s, c, turn.w),
                turn.vector,
                log,
                Vec3(moved.w, moved.x, moved.y),
                momentum.rot,
                momentum.lin,
                rotation.transpose_times(v),
                tensor.times(v),
                Vec3(moved.z, v.norm(), v.dot(w)),
                Vec3(atan2(lanes, v.x, v.y), atan2(lanes, w.z, w.x), atan2(lanes, lanes.real(0.0), -v.norm())),
            ]
            for i, result in ti.static(enumerate(results)):
                for j, number in ti.static(enumerate(result.numbers())):
                    out[3 * i + j] = number

    return run


def sample(count: int) -> np.ndarray:
    """Inputs (count, INPUTS): a unit quaternion, two vectors, a large angle, principal moments, a mass."""
    rng = np.random.default_rng(7)
    x = rng.uniform(-1, 1, (count, INPUTS))
    x[:, :4] /= np.linalg.norm(x[:, :4], axis=1, keepdims=True)
    x[:, 10] *= 100
    x[:, 11:15] = rng.uniform(0.5, 1.5, (count, 4))
    return x


def expected(x: np.ndarray) -> np.ndarray:
    """The same results from SciPy and numpy, one row at a time."""
    rows = []
    for row in x:
        q, v, w, angle, moments, mass = row[:4], row[4:7], row[7:10], row[10], row[11:14], row[14]
        rotation = Rotation.from_quat(q, scalar_first=True)
        matrix = rotation.as_matrix()
        turn = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.array([0.6, 0, 0.8]))])
        moved = (rotation * Rotation.from_rotvec(w * 0.1)).as_quat(scalar_first=True)
        moved *= np.sign(moved @ q)
        tensor = matrix @ np.diag(moments) @ matrix.T
        about = tensor + mass * (v @ v * np.eye(3) - np.outer(v, v))
        spin, push = about @ w + mass * np.cross(v, v), mass * v - mass * np.cross(v, w)
        rows.append(
            [
                *(matrix @ v),
                *(np.sin(angle), np.cos(angle)),
                *turn,
                *rotation.as_rotvec(),
                *moved[:3],
                *(*spin, *push),
                *(matrix.T @ v),
                *(tensor @ v),
                *(moved[3], np.linalg.norm(v), v @ w),
                *(np.arctan2(v[0], v[1]), np.arctan2(w[2], w[0]), np.pi),
            ]
        )
    return np.array(rows)


def started(precision, width):
    """Settings with which Taichi runs in this process; on a CPU it would wait for a first job in its thread."""
    runtime = tumble.init(precision=precision, lanes=width)
    in_taichis_thread(lambda: None)
    return runtime


@pytest.mark.parametrize("precision", ["32", "64"])
@pytest.mark.parametrize("width", [1, 4, 8, 16])
def test_vocabulary(width, precision):
    runtime = started(precision, width)
    x = sample(width)
    dtype = np.float32 if precision == "32" else np.float64
    lanes_in = np.ascontiguousarray(x.T.astype(dtype))
    want = expected(lanes_in.T.astype(np.float64))
    out = np.zeros((want.shape[1], width), dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        run = kernel(width, runtime.dtype)
        run(*((lanes_in, out) if width > 1 else (lanes_in[:, 0].copy(), flat := out[:, 0].copy())))
    got = out.T if width > 1 else flat[None]
    scale = 1 + np.abs(want)
    half_turns = 1 + np.abs(x[:, 10:11]) / np.pi  # an angle's own rounding is as large as the angle
    assert (np.abs(got - want) / scale / half_turns).max() < TOLERANCE[precision]


@pytest.mark.parametrize("precision", ["32", "64"])
def test_two_sum_loses_nothing(precision):
    """S + e is a + b, in exact arithmetic of integers; a and b of every ratio of sizes."""
    runtime = started(precision, 16)
    vector = ti.types.ndarray(ti.types.vector(16, runtime.dtype), 1)

    @ti.kernel
    def run(x: vector, out: vector):
        ti.loop_config(serialize=True)
        for _ in range(1):
            s, e = two_sum(x[0], x[1])
            out[0] = s
            out[1] = e

    rng = np.random.default_rng(0)
    dtype = np.float32 if precision == "32" else np.float64
    x = (rng.uniform(-1, 1, (2, 16)) * 2.0 ** rng.integers(-30, 30, (2, 16))).astype(dtype)
    out = np.zeros((2, 16), dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        run(x, out)
    assert np.array_equal(out[0], x[0] + x[1])
    exact = [[int(float(v) * 2.0**120) for v in row] for row in (*x, *out)]  # a double holds 53 bits: a shift is exact
    assert [a + b for a, b in zip(*exact[:2], strict=True)] == [s + e for s, e in zip(*exact[2:], strict=True)]


@func
def put_place(lane: ti.i32, out, factor):
    out[1 + lane] = lane * factor


@pytest.mark.parametrize("width", [1, 8])
def test_a_routine_is_called_for_every_lane_and_the_largest_number_is_found(width):
    runtime = started("32", width)
    lanes = Lanes(width, runtime.dtype)
    vector = ti.types.ndarray(lanes.type, 1)

    @ti.kernel
    def run(x: vector, out: ti.types.ndarray(ti.f32, 1)):
        ti.loop_config(serialize=True)
        for _ in range(1):
            out[0] = lanes.largest(x[0])
            for_each_lane(lanes, put_place, (out, 3.0))

    x = np.random.default_rng(0).uniform(-2, -1, (1, width)).astype(np.float32)
    out = np.zeros(1 + width, np.float32)
    run(x if width > 1 else x[0], out)
    assert out[0] == x.max() and np.array_equal(out[1:], 3.0 * np.arange(width))


@pytest.mark.parametrize("precision", ["32", "64"])
def test_turn_is_what_integrate_adds(precision):
    """For quaternions of any length, zero among them, and turns of up to twice around."""
    runtime = started(precision, 16)
    lanes = Lanes(16, runtime.dtype)
    vector = ti.types.ndarray(ti.types.vector(16, runtime.dtype), 1)

    @ti.kernel
    def run(x: vector, out: vector):
        ti.loop_config(serialize=True)
        for _ in range(1):
            q = Quat(x[0], x[1], x[2], x[3])
            omega = Vec3(x[4], x[5], x[6])
            change = turn(lanes, q, omega, 0.5)
            whole = integrate(lanes, q, omega, 0.5)
            for j, number in ti.static(enumerate(change.numbers())):
                out[j] = number
            for j, number in ti.static(enumerate(whole.numbers())):
                out[4 + j] = number

    rng = np.random.default_rng(1)
    x = rng.standard_normal((7, 16))
    lengths = np.array([0, 1e-3, 0.3, 0.9, 0.99, 1, 1, 1, 1, 1, 1.01, 1.1, 2, 3, 10, 100])
    x[:4] *= lengths / np.linalg.norm(x[:4], axis=0)
    x[4:] *= np.resize([1e-9, 0.01, 1.0, 4.0, 8.0], 16)
    x = x.astype(np.float32 if precision == "32" else np.float64)
    out = np.zeros((8, 16), x.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        run(x, out)
    error = np.abs(x[:4] + out[:4] - out[4:]).max(axis=0)
    assert (error / np.maximum(1, lengths)).max() < TOLERANCE[precision]
    assert np.abs(out[:4, 5]).max() < 2 * np.abs(x[4:, 5]).max()  # a small turn of a unit quaternion is a small change


def test_every_width_gives_the_same_bits():
    """Width is a matter of speed alone: no reassociation, no fused operations."""
    results = []
    x = sample(16).astype(np.float32)
    for width in (1, 4, 16):
        runtime = started("32", width)
        run = kernel(width, runtime.dtype)
        rows = []
        for first in range(0, 16, width):
            lanes_in = np.ascontiguousarray(x[first : first + width].T)
            out = np.zeros((33, width), np.float32)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                run(*((lanes_in, out) if width > 1 else (lanes_in[:, 0].copy(), flat := out[:, 0].copy())))
            rows.append(out.T if width > 1 else flat[None])
        results.append(np.concatenate(rows))
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])
