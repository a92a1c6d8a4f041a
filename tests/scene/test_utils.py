"""Rotations and poses of `gs.utils.geom` against scipy, in numpy and torch, single and batched."""

import numpy as np
import pytest
import torch
import trimesh
from scipy.spatial.transform import Rotation

import tumble.scene.utils.geom as gu
from tumble.scene.utils.misc import tensor_to_array
from tumble.scene.utils.terrain import mesh_to_heightfield

RNG = np.random.default_rng(3)
TURNS = Rotation.random(50, random_state=1)
OTHERS = Rotation.random(50, random_state=2)
POINTS = RNG.standard_normal((50, 3))
CLOSE = 1e-12
"""Rounding of double precision, in products of a few numbers of about 1."""


def quats(turns):
    return turns.as_quat(scalar_first=True)


def same(found, turns):
    """Quaternions are those of rotations, up to their sign."""
    return (np.abs(np.sum(np.asarray(found) * quats(turns), -1)) > 1 - CLOSE).all()


def near(found, wanted):
    return np.allclose(found, wanted, rtol=0, atol=CLOSE)


def test_quaternions():
    q, p = quats(TURNS), quats(OTHERS)
    assert same(gu.transform_quat_by_quat(q, p), OTHERS * TURNS)
    assert same(gu.inv_quat(q), TURNS.inv())
    assert near(gu.transform_by_quat(POINTS, q), TURNS.apply(POINTS))
    assert near(gu.inv_transform_by_quat(POINTS, q), TURNS.inv().apply(POINTS))
    assert near(gu.transform_by_quat(POINTS[0], q), TURNS.apply(POINTS[0]))  # one point, many turns
    assert near(gu.transform_by_quat(POINTS, q[0]), TURNS[0].apply(POINTS))
    rotvec = TURNS.as_rotvec()
    assert near(gu.quat_to_rotvec(q), rotvec) and near(gu.quat_to_rotvec(-q), rotvec)
    assert same(gu.rotvec_to_quat(rotvec), TURNS)
    angle = np.linalg.norm(rotvec, axis=1)
    assert same(gu.axis_angle_to_quat(angle, 3.0 * rotvec), TURNS)
    assert near(gu.rotvec_to_quat(np.zeros(3)), gu.identity_quat()) and near(gu.quat_to_rotvec([1, 0, 0, 0]), 0)


def test_tensors_of_several_types():
    """The widest type is that of the result; whole numbers stand for real ones."""
    turn, point = torch.tensor(quats(TURNS[0])), POINTS[0].astype(np.float32)
    for given in (torch.tensor(point), point):
        found = gu.transform_by_quat(given, turn)
        assert found.dtype == torch.float64 and near(found, TURNS[0].apply(point))
    for turned in (turn, quats(TURNS[0])):
        found = gu.transform_by_quat(torch.tensor([0, 0, 1]), turned)
        assert found.dtype.is_floating_point and np.allclose(found, TURNS[0].apply([0, 0, 1]), rtol=0, atol=1e-6)
    assert gu.transform_quat_by_quat(turn.float(), turn).dtype == torch.float64


@pytest.mark.parametrize(("rpy", "axes"), [(True, "xyz"), (False, "XYZ")])
@pytest.mark.parametrize("degrees", [False, True])
def test_angles(rpy, axes, degrees):
    """About the world's axes with `rpy`, about the body's without."""
    angles = TURNS.as_euler(axes, degrees=degrees)
    assert same(gu.xyz_to_quat(angles, rpy=rpy, degrees=degrees), TURNS)
    assert np.allclose(gu.quat_to_xyz(quats(TURNS), rpy=rpy, degrees=degrees), angles, rtol=0, atol=1e-9)
    assert np.allclose(gu.R_to_xyz(TURNS.as_matrix(), rpy, degrees), angles, rtol=0, atol=1e-9)


@pytest.mark.parametrize("rpy", [True, False])
def test_angles_where_two_axes_fall_together(rpy):
    """The angle about x is 0 there, and the rotation the same."""
    angles = np.array([[0.3, np.pi / 2, 0.5], [0.3, -np.pi / 2, -0.7]])
    turns = Rotation.from_euler("xyz" if rpy else "XYZ", angles)
    found = gu.quat_to_xyz(quats(turns), rpy=rpy)
    assert near(found[:, 0], 0)
    assert near(Rotation.from_euler("xyz" if rpy else "XYZ", found).as_matrix(), turns.as_matrix())


def test_euler_is_that_of_morphs():
    assert same(gu.euler_to_quat((10, 20, 30)), Rotation.from_euler("xyz", (10, 20, 30), degrees=True))
    assert near(gu.euler_to_R((10, 20, 30)), Rotation.from_euler("xyz", (10, 20, 30), degrees=True).as_matrix())


def test_matrices():
    mats = TURNS.as_matrix()
    assert near(gu.quat_to_R(quats(TURNS)), mats) and same(gu.R_to_quat(mats), TURNS)
    assert near(gu.R_to_rotvec(mats), TURNS.as_rotvec()) and near(gu.rotvec_to_R(TURNS.as_rotvec()), mats)
    assert near(gu.axis_angle_to_R(np.array([0.0, 0, 2]), 0.4), Rotation.from_rotvec([0, 0, 0.4]).as_matrix())
    assert near(gu.transform_by_R(POINTS, mats), TURNS.apply(POINTS))
    several = RNG.standard_normal((50, 4, 3))
    assert near(gu.transform_by_R(several, mats), np.stack([t.apply(s) for t, s in zip(TURNS, several, strict=True)]))
    axes = gu.z_up_to_R(np.array([[1.0, 2, 3], [0, 0, 1], [0, 0, -5]]))
    assert near(np.linalg.det(axes), 1) and near(axes[0, :, 2], np.array([1, 2, 3]) / np.sqrt(14))
    assert axes[0, 2, 1] > 0 and near(axes[0, 2, 0], 0)  # y as high as can be, x level


def test_poses():
    trans, q = POINTS[::-1], quats(TURNS)
    pose = gu.trans_quat_to_T(trans, q)
    assert near(pose[:, :3, :3], TURNS.as_matrix()) and near(pose[:, :, 3], np.c_[trans, np.ones(50)])
    assert near(gu.inv_T(pose) @ pose, np.eye(4))
    moved = TURNS.apply(POINTS) + trans
    assert near(gu.transform_by_T(POINTS, pose), moved)
    assert near(gu.transform_by_T(POINTS, pose[0]), TURNS[0].apply(POINTS) + trans[0])
    assert near(gu.transform_by_trans_quat(POINTS, trans, q), moved)
    assert near(gu.inv_transform_by_trans_quat(moved, trans, q), POINTS)
    place, turn = gu.transform_pos_quat_by_trans_quat(POINTS, quats(OTHERS), trans, q)
    assert near(place, moved) and same(turn, TURNS * OTHERS)
    back = gu.inv_transform_pos_quat_by_trans_quat(place, turn, trans, q)
    assert near(back[0], POINTS) and same(back[1], OTHERS)
    assert near(gu.trans_to_T(POINTS[0])[:3, 3], POINTS[0])


def test_cameras():
    pose = gu.pos_lookat_up_to_T(np.array([0.0, -3, 1]), np.array([0.0, 0, 1]), np.array([0.0, 0, 1]))
    assert near(pose[:3, :3], np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]))
    assert near(pose[:3, 3], (0, -3, 1))


def test_the_way_between():
    first, last, shares = quats(TURNS), quats(OTHERS), RNG.random(50)
    turn = (OTHERS * TURNS.inv()).as_rotvec()
    wanted = Rotation.from_rotvec(shares[:, None] * turn) * TURNS
    assert same(gu.slerp(first, last, shares), wanted)
    assert same(gu.slerp(first, -last, shares), wanted)  # the shorter way
    assert same(gu.slerp(first, last, 1.0), OTHERS)


def test_tensors_give_tensors_of_their_kind():
    """In single precision, beside an array of numpy, which follows."""
    q = torch.as_tensor(quats(TURNS), dtype=torch.float32)
    found = gu.transform_by_quat(POINTS, q)
    assert isinstance(found, torch.Tensor) and found.dtype == torch.float32
    assert np.allclose(tensor_to_array(found), TURNS.apply(POINTS), atol=1e-5)
    assert gu.inv_quat(quats(TURNS).astype(np.float32)).dtype == np.float32
    assert gu.normalize([3, 4]).tolist() == [0.6, 0.8] and gu.zero_pos().tolist() == [0, 0, 0]


def test_heights_of_a_mesh(tmp_path):
    """A wedge: heights are those of its slope, and its lowest where there is none; more points find the highest."""
    wedge = trimesh.Trimesh([[0, 0, 0], [4, 0, 2], [0, 3, 0], [4, 3, 2]], [[0, 1, 2], [1, 3, 2]])
    wedge.export(tmp_path / "wedge.obj")
    heights, x, y = mesh_to_heightfield(str(tmp_path / "wedge.obj"), spacing=(1.0, 2.0))
    assert near(x, [0, 1, 2, 3, 4]) and near(y, [0, 1.5, 3]) and heights.shape == (5, 3)
    assert near(heights, np.broadcast_to(x[:, None] / 2, (5, 3)))
    fine, *_ = mesh_to_heightfield(tmp_path / "wedge.obj", spacing=(1.0, 2.0), oversample=3)
    assert near(fine[1:4, 1], heights[1:4, 1] + 1 / 6)  # a third of a cell up the slope
    with pytest.raises(FileNotFoundError):
        mesh_to_heightfield("none.obj", 1.0)
    with pytest.raises(ValueError, match="spacing"):
        mesh_to_heightfield(tmp_path / "wedge.obj", 0.0)
