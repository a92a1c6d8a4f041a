"""Cameras against MuJoCo's own visualiser, which needs no OpenGL for this."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.rendering import BatchRenderer, Camera

CAMERAS = """
<mujoco>
  <visual><global fovy="60" azimuth="120" elevation="-35"/></visual>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <camera name="fixed" pos="1 -2 1" xyaxes="1 0.5 0 0 0 1" fovy="30"/>
    <camera name="target" pos="2 2 1" mode="targetbody" target="body"/>
    <camera name="target com" pos="2 2 1" mode="targetbodycom" target="body"/>
    <camera name="lens" pos="0 -3 1" xyaxes="1 0 0 0 0 1" resolution="80 60" sensorsize="0.004 0.003"
            focal="0.005 0.004" principal="0.0003 -0.0002"/>
    <camera name="parallel" pos="0 -3 1" xyaxes="1 0 0 0 0 1" projection="orthographic" fovy="2"/>
    <body name="body" pos="0 0 0.5">
      <freejoint/>
      <geom name="ball" size="0.2"/>
      <camera name="mounted" pos="0 -1 0" xyaxes="1 0 0 0 0.2 1"/>
      <camera name="track" mode="track" pos="0 -3 0.3" xyaxes="1 0 0 0 0 1"/>
      <camera name="trackcom" mode="trackcom" pos="0 -3 0.3" xyaxes="1 0 0 0 0 1"/>
      <body name="arm" pos="0.3 0 0"><joint type="hinge" axis="0 1 0"/>
        <geom name="arm" type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/></body>
    </body>
  </worldbody>
</mujoco>
"""
WIDTH, HEIGHT = 80, 60


@pytest.fixture
def source(poses):
    """Three environments with the body in different places; float64, so that poses can be compared to rounding."""
    return poses(mujoco.MjModel.from_xml_string(CAMERAS), 3, torch.float64).scatter(seed=3)


def mjv(mj, data, camera):
    """Position, rotation and frustum at unit distance, as MuJoCo's visualiser would draw them."""
    scene = mujoco.MjvScene(mj, 10)
    mujoco.mjv_updateCamera(mj, data, camera, scene)
    left, right = scene.camera
    forward, up = np.array(left.forward), np.array(left.up)
    rotation = np.stack([np.cross(forward, up), up, -forward], axis=1)
    unit = 1.0 if left.orthographic else left.frustum_near
    half_width = left.frustum_width or 0.5 * (left.frustum_top - left.frustum_bottom) * WIDTH / HEIGHT
    sides = np.array([left.frustum_center - half_width, left.frustum_center + half_width])
    ends = np.array([left.frustum_bottom, left.frustum_top])
    return (np.array(left.pos) + np.array(right.pos)) / 2, rotation, np.concatenate([sides, ends]) / unit


def agrees(renderer, source, make_camera):
    """Compare a renderer's camera with mjv's in every environment; mjv keeps float32."""
    position, rotation = renderer.camera_poses(source)
    rays = renderer.rays()
    for env, data in enumerate(source.data):
        expected_position, expected_rotation, (left, right, bottom, top) = mjv(source.model.mj, data, make_camera())
        np.testing.assert_allclose(position[env], expected_position, atol=1e-6)
        np.testing.assert_allclose(rotation[env], expected_rotation, atol=1e-6)
        np.testing.assert_allclose(
            rays[0, 0, :2], [left + (right - left) / 2 / WIDTH, top - (top - bottom) / 2 / HEIGHT], atol=1e-6
        )
        np.testing.assert_allclose(
            rays[-1, -1, :2], [right - (right - left) / 2 / WIDTH, bottom + (top - bottom) / 2 / HEIGHT], atol=1e-6
        )


@pytest.mark.parametrize("name", ["fixed", "target", "target com", "lens", "parallel", "mounted", "track", "trackcom"])
def test_cameras_of_the_model(name, source):
    number = mujoco.mj_name2id(source.model.mj, mujoco.mjtObj.mjOBJ_CAMERA, name)

    def camera():
        view = mujoco.MjvCamera()
        view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, number
        return view

    for choice in (name, number):
        agrees(BatchRenderer(source.model, WIDTH, HEIGHT, camera=choice), source, camera)


@pytest.mark.parametrize("tracked", [None, "body", "arm"])
def test_free_and_tracking_cameras(tracked, source):
    config = {"distance": 2.5, "azimuth": 70.0, "elevation": -25.0}
    config |= {"trackbodyid": tracked} if tracked else {"lookat": np.array([0.1, 0.2, 0.3])}

    def camera():
        view = mujoco.MjvCamera()
        view.distance, view.azimuth, view.elevation = 2.5, 70.0, -25.0
        if tracked:
            view.type = mujoco.mjtCamera.mjCAMERA_TRACKING
            view.trackbodyid = source.model.mj.body(tracked).id
        else:
            view.lookat[:] = [0.1, 0.2, 0.3]
        return view

    for choice in (config, Camera(**config)):
        agrees(BatchRenderer(source.model, WIDTH, HEIGHT, camera=choice), source, camera)


def test_defaults_come_from_the_model(source):
    """Direction and opening are the file's; without a target the first moving body is followed, at its distance."""
    for choice in (None, -1, Camera(), {}):
        renderer = BatchRenderer(source.model, WIDTH, HEIGHT, camera=choice)
        position, rotation = renderer.camera_poses(source)
        away = source.get("subtree_com")[:, 1] - position
        azimuth, elevation = np.radians([120, -35])
        forward = [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
        np.testing.assert_allclose(-rotation[:, :, 2], np.tile(forward, (3, 1)), atol=1e-12)
        np.testing.assert_allclose(away / away.norm(dim=1, keepdim=True), np.tile(forward, (3, 1)), atol=1e-12)
        assert (renderer.segmentation(source) == source.model.mj.geom("ball").id).any(dim=(1, 2)).all()


def test_tracking_with_lookat_keeps_its_height(source):
    camera = Camera(distance=2.0, elevation=0.0, trackbodyid="body", lookat=(9.0, 9.0, 1.25))
    position, _ = BatchRenderer(source.model, WIDTH, HEIGHT, camera=camera).camera_poses(source)
    np.testing.assert_allclose(position[:, 2], 1.25)
    distance = (position - source.get("subtree_com")[:, 1])[:, :2].norm(dim=1)
    np.testing.assert_allclose(distance, 2.0)


def test_a_model_where_nothing_moves(poses):
    still = poses(mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"))
    segmentation = BatchRenderer(still.model, 16, 16).segmentation(still)
    assert segmentation[0, 8, 8] == 0 and segmentation[0, 0, 0] == -1


@pytest.mark.parametrize(
    ("camera", "message"),
    [
        ("trak", "no camera 'trak'; nearest: track"),
        (8, "8 cameras: id 8 must be -1"),
        ({"distanse": 3}, "no field 'distanse'; nearest: distance"),
        ({"trackbodyid": "arms"}, "no body 'arms'; nearest: arm"),
        ({"trackbodyid": 7}, "7 must be -1"),
        ({"distance": 0.0}, "distance must be a positive"),
        ({"lookat": (1, 2)}, "lookat must be three numbers"),
    ],
)
def test_errors_say_what_there_is(camera, message, source):
    with pytest.raises(ValueError, match=message):
        BatchRenderer(source.model, camera=camera)


def test_a_camera_of_another_kind_is_refused(source):
    with pytest.raises(TypeError, match="camera must be"):
        BatchRenderer(source.model, camera=1.5)
