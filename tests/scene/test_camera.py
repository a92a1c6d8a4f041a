"""Cameras of a scene: what they see, against closed forms; drawing; films; files; the end of a scene."""

import gc
import weakref

import imageio.v3 as iio
import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.physics.base.rotations import quat_to_matrix
from tumble.physics.machine.runtime import init
from tumble.physics.run.interface import ClosedSolverError
from tumble.scene.poses import look_at, quat_of_mat

RADIUS, PLACE = 0.25, np.array([0.5, -0.25, 1.0])
GREEN = (0.0, 1.0, 0.0, 1.0)


def beside(*shift):
    """A place, by its distance from the ball's."""
    return PLACE + np.array(shift)


def make(n_envs, vis=None, visualize_contact=False, **build):
    vis = gs.options.VisOptions(segmentation_level="entity", **vis or {})
    scene = gs.Scene(vis_options=vis)
    scene.add_light(pos=(0, 0, 5), dir=(0, 0, -2), intensity=0.5, directional=True)
    scene.add_entity(gs.morphs.Plane(), name="floor")
    ball = gs.morphs.Sphere(radius=RADIUS, pos=PLACE)
    red = gs.surfaces.Rough(color=(1, 0, 0))
    scene.add_entity(ball, surface=red, name="ball", visualize_contact=visualize_contact)
    eye = beside(2.0, 0, 0)
    scene.add_camera(res=(65, 49), pos=eye, lookat=PLACE, fov=40)
    scene.build(n_envs, **build)
    return scene


@pytest.fixture(scope="module")
def scene():
    """A red ball above a floor, and a camera that looks at its middle, in two environments."""
    init()
    return make(2)


@pytest.fixture
def camera(scene):
    (camera,) = scene.cameras
    yield camera
    camera.detach()
    camera.unfollow_entity()
    camera.set_pose(pos=beside(2.0, 0, 0), lookat=PLACE, up=(0, 0, 1))
    camera.set_fov(40.0)
    scene.clear_debug_objects()
    scene.reset()


def test_a_camera_sees_the_ball_at_its_distance(scene, camera):
    rgb, depth, keys, normal = camera.render(depth=True, segmentation=True)
    assert rgb.shape == (2, 49, 65, 3) and rgb.dtype == torch.uint8 and normal is None
    assert depth[:, 24, 32].tolist() == pytest.approx([2.0 - RADIUS] * 2, abs=1e-5)
    assert [scene.segmentation_idx_dict[int(k)] for k in (keys[0, 24, 32], keys[0, 48, 0], keys[0, 0, 0])] == [1, 0, -1]
    red, green, blue = rgb[0, 24, 32].tolist()
    assert red > 2 * green and red > 2 * blue


def test_normals_are_those_of_the_shapes(scene, camera):
    """A ball's point away from its middle, the floor's up; the sky has none."""
    rgb, depth, keys, normal = camera.render(rgb=False, segmentation=True, normal=True)
    assert rgb is None and depth is None and normal.shape == (2, 49, 65, 3)
    points, _ = camera.render_pointcloud()
    entity = {key: scene.segmentation_idx_dict[key] for key in keys.unique().tolist()}
    ball, floor, sky = (keys[0] == next(key for key, idx in entity.items() if idx == wanted) for wanted in (1, 0, -1))
    radial = (points[0][ball] - torch.tensor(PLACE, dtype=points.dtype)) / RADIUS
    torch.testing.assert_close(normal[0][ball].double(), radial.double(), rtol=0, atol=1e-4)  # of points in float32
    torch.testing.assert_close(normal[0][floor], torch.tensor([0.0, 0, 1]).expand_as(normal[0][floor]))
    assert len(normal[0][floor]) and len(normal[0][sky]) and not normal[0][sky].any()


def test_a_low_camera_sees_the_floor_at_its_feet(camera):
    """Nothing but what is nearer than `near` is cut off, however large the floor is that the scene has."""
    camera.set_pose(pos=(0, 0, 0.3), lookat=(1, 0, 0.3))
    depth = camera.render(rgb=False, depth=True)[1][0]
    down = (0.5 + torch.arange(25, 49) - 24.5) / camera.f  # metres down at a metre's distance, row by row
    torch.testing.assert_close(depth[25:, 32], 0.3 / down, rtol=1e-4, atol=0)
    with pytest.raises(ValueError, match="near"):
        gs.Scene().add_camera(near=0.0)


def test_points_lie_on_what_is_seen(camera):
    points, seen = camera.render_pointcloud()
    away = (points[0, 24, 32] - torch.tensor(PLACE, dtype=points.dtype)).norm()
    assert float(away) == pytest.approx(RADIUS, abs=1e-5)
    floor = points[0][seen[0] & (points[0, ..., 2] < 0.5)]
    assert len(floor) and float(floor[:, 2].abs().max()) < 1e-4


def test_a_point_is_drawn_where_the_camera_matrices_have_it(scene, camera):
    """Oracle: OpenCV's projection, x = K (R p + t)."""
    point = beside(0.6, 0.3, 0.2)
    scene.draw_debug_sphere(point, 0.03, GREEN)
    image = camera.render()[0][0].int()
    drawn = (image[..., 1] > 100) & (image[..., 0] < 60)
    row, column = (float(part.float().mean()) + 0.5 for part in torch.nonzero(drawn, as_tuple=True))
    seen = camera.intrinsics @ (camera.extrinsics @ [*point, 1.0])[:3]
    assert (column, row) == pytest.approx(tuple(seen[:2] / seen[2]), abs=0.6)


def test_what_is_drawn_is_hidden_by_what_is_nearer_and_can_be_taken_away(scene, camera):
    plain, depth, *_ = camera.render(depth=True)
    hidden = scene.draw_debug_sphere(PLACE, RADIUS / 2, GREEN)
    assert torch.equal(camera.render()[0], plain)
    scene.clear_debug_object(hidden)
    shown = [
        scene.draw_debug_line(beside(1, -1, 0), beside(1, 1, 0), 0.05, GREEN),
        scene.draw_debug_arrow(beside(1, 0, 0), (0, 0.3, 0), 0.05, GREEN),
        scene.draw_debug_box([beside(0.9, -0.1, -0.1), beside(1, 0.1, 0.1)], GREEN, wireframe=False),
        scene.draw_debug_frame(look_at(beside(1, 0, 0), PLACE, (0, 0, 1)), 0.2, 0.1, 0.05, GREEN),
        scene.draw_debug_points([beside(1.8, 0, 0)], GREEN),
        scene.draw_debug_trajectory([beside(1, -1, 0), beside(1, 1, 0)], 0.05, GREEN),
    ]
    for drawn in shown:
        scene.clear_debug_objects()
        scene.contents.drawn[:] = [drawn]
        red, green, _ = camera.render()[0][0, 24, 32].tolist()
        assert green > 120 and red < 80, drawn
    assert torch.equal(camera.render(depth=True)[1], depth)  # in colours alone
    with pytest.raises(ValueError, match="is not drawn, or was taken away"):
        scene.clear_debug_object(hidden)


def test_drawings_move(scene, camera):
    drawn = scene.draw_debug_sphere((0, 0, 0), 0.1, GREEN)
    pose = np.eye(4)
    pose[:3, 3] = beside(1, 0, 0)
    scene.update_debug_objects([drawn], [pose])
    assert camera.render()[0][0, 24, 32, 1] > 120


def test_a_camera_has_a_pose_of_its_own_in_each_environment(camera):
    camera.set_pose(pos=beside(3.0, 0, 0), lookat=PLACE, envs_idx=[1])
    depth = camera.render(rgb=False, depth=True)[1]
    assert depth[:, 24, 32].tolist() == pytest.approx([2 - RADIUS, 3 - RADIUS], abs=1e-5)
    np.testing.assert_allclose(camera.get_pos()[1], beside(3.0, 0, 0), atol=1e-6)
    np.testing.assert_allclose(camera.get_lookat()[0], PLACE, atol=1e-6)
    np.testing.assert_allclose(camera.get_up(), [[0, 0, 1]] * 2, atol=1e-6)
    np.testing.assert_allclose(quat_to_matrix(camera.get_quat()), camera.get_transform()[:, :3, :3], atol=1e-6)


def test_environments_have_fields_of_view_of_their_own(scene, camera):
    """A ball is as many pixels wide as its angle is to a pixel's, and points are where they were."""
    points, _ = camera.render_pointcloud()
    camera.set_fov([40.0, 20.0])
    keys = camera.render(rgb=False, segmentation=True)[2]
    widths = (keys == keys[0, 24, 32])[:, 24].sum(dim=-1)
    reach = np.tan(np.arcsin(RADIUS / 2.0))  # of the ball's outline at a metre's distance
    for env, fov in enumerate((40.0, 20.0)):
        assert float(widths[env]) == pytest.approx(reach * 49 / np.tan(np.radians(fov / 2)), abs=1.0)
    again, _ = camera.render_pointcloud()
    assert torch.equal(again[0], points[0])
    away = (again[1, 24, 40] - torch.tensor(PLACE, dtype=points.dtype)).norm()
    assert float(away) == pytest.approx(RADIUS, abs=1e-5)
    camera.set_fov(30.0, envs_idx=1)
    assert camera._posed.fovy.tolist() == [40.0, 30.0]
    for wrong in (0.0, [40.0] * 3, 180.0):
        with pytest.raises(ValueError, match="set_fov"):
            camera.set_fov(wrong)
    camera.set_fov(40.0)


def test_environments_stand_side_by_side_with_frames_and_contacts():
    """One picture, in which each ball is where `env_spacing` puts it; link frames and forces are drawn on top."""
    vis = {"show_link_frame": True, "link_frame_size": 0.6, "contact_force_scale": 0.02}
    scene = make(3, vis, True, env_spacing=(1.0, 0.0), n_envs_per_row=3)
    camera, ball = scene.cameras[0], scene.entities[1]
    camera.set_pose(pos=beside(0, 6, 0), lookat=PLACE)
    rgb, depth, keys, _ = camera.render(depth=True, segmentation=True)
    assert isinstance(rgb, np.ndarray) and rgb.shape == (49, 65, 3) and depth.shape == (49, 65)
    entity = {key: scene.segmentation_idx_dict[key] for key in np.unique(keys).tolist()}
    balls = keys == next(key for key, idx in entity.items() if idx == 1)
    per_metre = camera.f / 6.0
    columns = np.flatnonzero(balls.any(axis=0))
    assert np.ptp(columns) == pytest.approx((2.0 + 2 * RADIUS) * per_metre, abs=2.0)  # from the first to the last
    middle = np.abs(np.arange(65) + 0.5 - 32.5) < 0.5 * per_metre
    assert np.flatnonzero(balls.any(axis=0) & middle).mean() == pytest.approx(32.0, abs=0.6)
    scene.draw_debug_sphere(beside(0, 0, 0.6), 0.1, GREEN)
    drawn = np.flatnonzero((camera.render()[0] != rgb).any(axis=(0, 2)))
    assert np.ptp(drawn) == pytest.approx(0.2 * per_metre, abs=2.0)  # once, and not in each environment's place
    assert drawn.mean() == pytest.approx(32.0, abs=0.6)
    scene.clear_debug_objects()
    blue = rgb[..., 2].astype(int) - rgb[..., :2].max(axis=-1)
    assert (blue > 60).any() and not balls[blue > 60].any()  # the axes z, which stand out of the balls
    ball.set_pos(torch.tensor([0.5, -0.25, RADIUS - 0.001]).repeat(3, 1))
    camera.set_pose(pos=(0.5, 0.75, 1.2), lookat=(0.5, -0.25, 1.2))
    scene.step()
    shown = camera.render()[0].astype(int)
    ball.visualize_contact = False
    changed = (camera.render()[0] != shown).any(axis=-1)
    assert changed[:, 30:35].any(axis=1).all() and changed.mean() < 0.2  # the floor's force, three metres upwards
    camera.attach(ball.links[0], np.array([[1.0, 0, 0, 0], [0, 0, -1, -3], [0, 1, 0, 0], [0, 0, 0, 1]]))
    attached = camera.render(rgb=False, segmentation=True)[2] == next(k for k, idx in entity.items() if idx == 1)
    assert attached[24, 32]  # the first environment's ball is before it


def test_an_attached_camera_moves_with_its_link(scene, camera):
    offset = look_at((2, 0, 0), (0, 0, 0), (0, 0, 1))
    camera.attach(scene.get_entity("ball").get_link("sphere_baselink"), offset)
    turned = torch.tensor([np.sqrt(0.5), 0, 0, np.sqrt(0.5)])  # a quarter about z
    scene.get_entity("ball").set_pos((0.0, 3.0, 2.0))
    scene.get_entity("ball").set_quat(turned)
    depth = camera.render(rgb=False, depth=True)[1]
    assert depth[:, 24, 32].tolist() == pytest.approx([2 - RADIUS] * 2, abs=1e-5)
    np.testing.assert_allclose(camera.get_pos(), [[0, 5, 2]] * 2, atol=1e-5)


def test_a_following_camera_keeps_its_distance(scene, camera):
    camera.follow_entity(scene.get_entity("ball"), fixed_axis=(None, None, 1.0))
    camera.render()
    scene.get_entity("ball").set_pos(beside(4, 5, 0))
    depth = camera.render(rgb=False, depth=True)[1]
    assert depth[:, 24, 32].tolist() == pytest.approx([2 - RADIUS] * 2, abs=1e-4)
    np.testing.assert_allclose(camera.get_pos(), [beside(6, 5, 0)] * 2, atol=1e-5)


def test_a_following_camera_has_the_distance_of_when_it_was_told_to(scene, camera):
    ball = scene.get_entity("ball")
    camera.follow_entity(ball)
    ball.set_pos(beside(4, 5, 0))
    camera.render()
    np.testing.assert_allclose(camera.get_pos(), [beside(6, 5, 0)] * 2, atol=1e-5)
    camera.follow_entity(ball, fixed_axis=(None, 0.0, None))
    camera.render()
    np.testing.assert_allclose(camera.get_lookat(), [beside(4, 5, 0)] * 2, atol=1e-5)


def test_a_film_has_a_picture_for_each_render(scene, camera, tmp_path):
    with pytest.raises(ValueError, match="no film is being taken"):
        camera.stop_recording()
    camera.start_recording()
    for _ in range(3):
        scene.step()
        camera.render()
    camera.pause_recording()
    camera.render()
    path = camera.stop_recording(tmp_path / "film.mp4", fps=10)
    assert len(iio.imread(path, plugin="FFMPEG")) == 3


def test_wrong_arguments_are_refused(scene, camera):
    with pytest.raises(ValueError, match="cannot look at the point"):
        camera.set_pose(pos=(0, 0, 0), lookat=(0, 0, 0))
    with pytest.raises(ValueError, match=r"lookat: expected shape \(2, 3\) or \(3,\)"):
        camera.set_pose(lookat=(1, 2))
    with pytest.raises(ValueError, match="pos: its numbers must be finite"):
        camera.set_pose(pos=(np.nan, 0, 0))
    with pytest.raises(TypeError, match="entity='ball': expected an entity"):
        camera.follow_entity("ball")
    with pytest.raises(TypeError, match="rigid_link='ball': expected a link"):
        camera.attach("ball", np.eye(4))
    with pytest.raises(IndexError, match="camera 1: env_idx=2: the scene has 2 environments"):
        scene.add_camera(env_idx=2)
    other = gs.Scene()
    other.add_camera(env_idx=1)
    with pytest.raises(IndexError, match="camera 0: env_idx=1: the scene has 1 environments"):
        other.build()
    with pytest.raises(ValueError, match="fov=0: it must be above 0"):
        scene.add_camera(fov=0)
    with pytest.raises(ValueError, match="a pose"):
        camera.attach(scene.get_entity("ball").base_link, np.eye(3))


def test_quaternions_of_rotations_are_exact():
    """Oracle: the rotation of the quaternion, also where its w is 0."""
    quats = torch.nn.functional.normalize(torch.randn(200, 4, dtype=torch.float64), dim=-1)
    quats[:3] = torch.eye(4, dtype=torch.float64)[1:]
    found = quat_of_mat(quat_to_matrix(quats))
    np.testing.assert_allclose(quat_to_matrix(found), quat_to_matrix(quats), atol=1e-14)


def test_a_checkpoint_goes_on_to_the_bit_in_another_scene(scene, camera, tmp_path):
    ball = scene.get_entity("ball")
    ball.set_pos([[0, 0, 0.3], [1, 0, 0.3]])
    for _ in range(5):
        scene.step()
    scene.save_checkpoint(tmp_path / "deep" / "state.pt")
    for _ in range(5):
        scene.step()
    other = make(2)
    other.load_checkpoint(tmp_path / "deep" / "state.pt")
    assert other.get_time().tolist() == pytest.approx([0.05] * 2)
    for _ in range(5):
        other.step()
    assert torch.equal(other.rigid_solver.qpos, scene.rigid_solver.qpos)
    assert torch.equal(other.rigid_solver.qvel, scene.rigid_solver.qvel)
    third = make(3)
    before = third.rigid_solver.qpos
    with pytest.raises(ValueError, match="saved from 2 environments; this scene has 3"):
        third.load_checkpoint(tmp_path / "deep" / "state.pt")
    (tmp_path / "state.pt").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"not a file that Scene\.save_checkpoint wrote"):
        third.load_checkpoint(tmp_path / "state.pt")
    assert torch.equal(third.rigid_solver.qpos, before)
    other.close()
    third.close()


def test_a_closed_scene_gives_its_memory_back_and_refuses_all_else(scene):
    other = make(2)
    ball, (camera,) = other.get_entity("ball"), other.cameras
    memory = weakref.ref(other.rigid_solver._driver._batch.memory)
    solver = other.rigid_solver
    other.close()
    gc.collect()
    assert memory() is None
    for call in (other.step, other.get_state, camera.render, lambda: other.add_entity(gs.morphs.Plane())):
        with pytest.raises(gs.SceneOrderError, match="the scene is closed; make a new"):
            call()
    for call in (ball.get_pos, solver.step):
        with pytest.raises(ClosedSolverError):
            call()
    other.close()  # twice is no error
    scene.step()  # the first scene goes on
