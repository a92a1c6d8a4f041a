"""Sensors of a scene against MuJoCo's own on the same states, and what is read, when, of which environments."""

import mujoco
import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.physics.machine.runtime import init
from tumble.scene.poses import quat_of_euler

from ..cases import cases

ARM = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" damping="0.3" armature="0.02" frictionloss="0.4"/>
      <geom name="ghost" type="capsule" size="0.04" fromto="0 0 0 0.4 0 0" contype="0" conaffinity="0"/>
      <body name="lower" pos="0.4 0 0">
        <joint name="elbow" axis="0 0 1" damping="0.1" armature="0.01"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0.1 0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
EXACT = {"rtol": 0, "atol": 1e-9}  # kinematics in double precision
SOLVED = {"rtol": 1e-6, "atol": 1e-6}  # both constraint solvers stop at their own tolerance
AT, TURNED, FIELD = (0.1, -0.2, 0.3), (20, -30, 40), (0.3, 0.1, 0.5)
LIDAR = gs.sensors.SphericalPattern(n_points=(12, 5))
GRID = gs.sensors.GridPattern(resolution=0.25, size=(1.0, 1.5))
CAMERA = gs.sensors.DepthCameraPattern(res=(7, 5), fov_horizontal=70)


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """A box that falls onto a plane beside an arm, in three environments, with a sensor of each kind."""
    init(precision="64")
    file = tmp_path_factory.mktemp("arm") / "arm.xml"
    file.write_text(ARM)
    scene = gs.Scene(
        gs.options.SimOptions(dt=0.01, substeps=2), gs.options.RigidOptions(tolerance=1e-12, ls_tolerance=1e-6)
    )
    floor = scene.add_entity(gs.morphs.Plane(), name="floor")
    box = scene.add_entity(gs.morphs.Box(size=(0.2, 0.3, 0.4), pos=(0, 0, 0.22), euler=(8, 5, 0)), name="box")
    arm = scene.add_entity(gs.morphs.MJCF(file=str(file), pos=(0.5, 0.5, 0.8)), name="arm")
    place = {"pos_offset": AT, "euler_offset": TURNED}
    on_box, sensors = {"entity_idx": box.idx}, {}
    on_lower = {"entity_idx": arm.idx, "link_idx_local": arm.get_link("lower").idx_local, **place}
    for name, options in {
        "imu": gs.sensors.IMU(**on_lower, magnetic_field=FIELD),
        "box imu": gs.sensors.IMU(**on_box),
        "switch": gs.sensors.Contact(**on_box, threshold=1.0),
        "deaf switch": gs.sensors.Contact(**on_box, filter_link_idx=[0]),
        "force": gs.sensors.ContactForce(**on_box, euler_offset=TURNED),
        "bounded": gs.sensors.ContactForce(**on_box, min_force=2.0, max_force=(20.0, 20.0, 15.0), resolution=0.5),
        "torque": gs.sensors.JointTorque(entity_idx=arm.idx),
        "elbow": gs.sensors.JointTorque(entity_idx=arm.idx, dofs_idx_local=[1]),
        "lidar": gs.sensors.Lidar(**on_box, **place, pattern=LIDAR, max_range=2.0, min_range=0.05),
        "world lidar": gs.sensors.Raycaster(**on_lower, pattern=LIDAR, return_world_frame=True, no_hit_value=-1.0),
        "grid": gs.sensors.Raycaster(pattern=GRID, pos_offset=(0, 0, 1.5), return_points=False),
        "camera": gs.sensors.DepthCamera(pattern=CAMERA, pos_offset=(-1, 0, 0.3)),
        "late": gs.sensors.IMU(**on_box, delay=0.03, history_length=4),
    }.items():
        sensors[name] = scene.add_sensor(options)
    scene.build(n_envs=3)
    assert floor.link_start == 0
    scene.named = sensors
    return scene


@pytest.fixture(scope="module")
def oracle(scene, tmp_path_factory):
    """MuJoCo's model of the same scene, with its own sensors, and data."""
    path = tmp_path_factory.mktemp("written") / "scene.xml"
    scene.write_mjcf(path)
    spec = mujoco.MjSpec.from_file(str(path))
    spec.option.magnetic = FIELD
    spec.geom("arm/ghost").rgba = [0, 0, 0, 0]  # it touches nothing, so that range finders do not see it
    kind, types = mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtSensor
    places = {"lower": ("arm/lower", AT, TURNED), "box": ("box/box_baselink", (0, 0, 0), (0, 0, 0))}
    for name, (body, pos, euler) in places.items():
        spec.body(body).add_site(name=name, pos=pos, quat=quat_of_euler(euler), size=[9, 9, 9])
        for sort in ("ACCELEROMETER", "GYRO", "MAGNETOMETER", "TOUCH"):
            spec.add_sensor(name=f"{name} {sort}", type=getattr(types, f"mjSENS_{sort}"), objtype=kind, objname=name)
    model = spec.compile()
    return model, mujoco.MjData(model)


@pytest.fixture(autouse=True)
def again(scene):
    scene.reset()
    scene.rigid_solver.set_state(qvel=torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(3, 8))
    yield


def walk(scene, oracle, steps=24):
    """Step the scene; after each step, and in each environment, yield MuJoCo's data at the evaluation that was read."""
    model, data = oracle
    solver = scene.rigid_solver
    target = torch.tensor([0.5, -0.5])
    solver.set_dofs_kp(20.0, [6, 7]), solver.set_dofs_kv(1.0, [6, 7])
    solver.control_dofs_position(target, [6, 7])
    for _ in range(steps):
        scene.step()
        states = {name: solver.get(f"eval_{name}").numpy() for name in ("qpos", "qvel")}
        for env in range(3):
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = states["qpos"][env], states["qvel"][env]
            data.qfrc_applied[6:] = 20.0 * (target.numpy() - data.qpos[7:]) - data.qvel[6:]
            mujoco.mj_forward(model, data)
            yield env, data


def test_imus_read_what_mujocos_sensors_do(scene, oracle):
    seen = 0.0
    for env, data in walk(scene, oracle):
        for name, site in (("imu", "lower"), ("box imu", "box")):
            read = scene.named[name].read()
            np.testing.assert_allclose(read.ang_vel[env], data.sensor(f"{site} GYRO").data, **EXACT)
            acc = data.sensor(f"{site} ACCELEROMETER").data
            np.testing.assert_allclose(read.lin_acc[env], acc, rtol=1e-6, atol=1e-6 * (1 + np.abs(acc).max()))
            seen = max(seen, np.abs(acc).max())
        np.testing.assert_allclose(scene.named["imu"].read().mag[env], data.sensor("lower MAGNETOMETER").data, **EXACT)
    assert seen > 15  # the box has met the floor


def contact_force(oracle, data, body):
    """The force of all contacts on a body, in the world, by MuJoCo's mj_contactForce."""
    model, total, one = oracle[0], np.zeros(3), np.zeros(6)
    for number, contact in enumerate(data.contact[: data.ncon]):
        mujoco.mj_contactForce(model, data, number, one)
        push = contact.frame.reshape(3, 3).T @ one[:3]
        total += push * (
            (model.geom_bodyid[contact.geom[1]] == body) - 1.0 * (model.geom_bodyid[contact.geom[0]] == body)
        )
    return total


def test_contact_sensors_read_what_mujocos_do(scene, oracle):
    on, body = [], scene.get_entity("box").base_link.body
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, quat_of_euler(TURNED))
    for env, data in walk(scene, oracle):
        touch = float(data.sensor("box TOUCH").data[0])
        on.append(touch > 1.0)
        assert bool(scene.named["switch"].read()[env]) == on[-1]
        force = data.xmat[body].reshape(3, 3).T @ contact_force(oracle, data, body)
        np.testing.assert_allclose(scene.named["force"].read()[env], turn.reshape(3, 3).T @ force, **SOLVED)
        np.testing.assert_allclose(scene.named["bounded"].read_ground_truth()[env], force, **SOLVED)
        kept = np.clip(np.round(force / 0.5) * 0.5, [-20, -20, -15], [20, 20, 15])
        np.testing.assert_allclose(scene.named["bounded"].read()[env], np.where(np.abs(kept) < 2, 0, kept), **SOLVED)
        assert not scene.named["deaf switch"].read().any()
    assert any(on) and not all(on)


def test_joint_torques_are_those_of_drives_less_their_losses(scene, oracle):
    model, losses = oracle[0], []
    for env, data in walk(scene, oracle, steps=6):
        rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF
        jacobian = data.efc_J.reshape(-1, model.nv)
        friction = jacobian[rows].T @ data.efc_force[rows]
        effort = data.qfrc_applied - model.dof_armature * data.qacc + data.qfrc_damper + friction
        losses.append(np.abs(friction[6]))
        np.testing.assert_allclose(scene.named["torque"].read()[env], effort[6:], **SOLVED)
        np.testing.assert_allclose(scene.named["elbow"].read()[env], effort[7:], **SOLVED)
    assert max(losses) > 0.1


def cast(oracle, data, starts, directions, body):
    """Distances of MuJoCo's rays, one by one, -1 for none."""
    geom = np.array([-1], np.int32)
    rays = zip(starts, directions, strict=True)
    return np.array([mujoco.mj_ray(oracle[0], data, s, d, None, 1, body, geom, None) for s, d in rays])


def test_range_finders_find_what_mujocos_rays_do(scene, oracle):
    found = 0
    for env, data in walk(scene, oracle, steps=3):
        for name, pattern, body in (
            ("lidar", LIDAR, scene.get_entity("box").base_link.body),
            ("world lidar", LIDAR, scene.get_entity("arm").get_link("lower").body),
            ("grid", GRID, 0),
            ("camera", CAMERA, 0),
        ):
            sensor, options = scene.named[name], scene.named[name].options
            turn, pos = np.zeros(9), data.xpos[body] + data.xmat[body].reshape(3, 3) @ options.pos_offset
            mujoco.mju_quat2Mat(turn, quat_of_euler(options.euler_offset))
            turn = data.xmat[body].reshape(3, 3) @ turn.reshape(3, 3)
            starts = pos + pattern.starts.reshape(-1, 3) @ turn.T
            along = pattern.directions.reshape(-1, 3) @ turn.T
            true = cast(oracle, data, starts, along, body if body else -1)
            hit = (true >= options.min_range) & (true <= options.max_range)
            none = options.max_range if options.no_hit_value is None else options.no_hit_value
            read = sensor.read()
            np.testing.assert_allclose(read.distances[env].flatten(), np.where(hit, true, none), **EXACT)
            found += np.count_nonzero(hit)
            if options.return_points:
                ends = starts + true[:, None] * along
                ends = ends if options.return_world_frame else (ends - pos) @ turn
                np.testing.assert_allclose(
                    read.points[env].reshape(-1, 3), np.where(hit[:, None], ends, 0), rtol=0, atol=1e-8
                )
            else:
                assert read.points is None
    assert found > 200


def test_depth_is_the_way_along_the_cameras_axis(scene):
    camera = scene.named["camera"]
    ahead = torch.as_tensor(CAMERA.directions[..., 0].copy())
    torch.testing.assert_close(camera.read_depth(), camera.read_image() * ahead, rtol=0, atol=1e-15)
    assert camera.read_image().shape == (3, 5, 7) and float(ahead[2, 3]) == 1.0


def test_shapes_of_readings(scene):
    named = scene.named
    assert named["imu"].read().lin_acc.shape == (3, 3)
    assert named["imu"].read([2, 0]).mag.shape == (2, 3)
    assert named["switch"].read().shape == (3, 1) and named["switch"].read().dtype == torch.bool
    assert named["late"].read(1).ang_vel.shape == (1, 4, 3)
    assert named["lidar"].read().points.shape == (3, 12, 5, 3)


def test_all_readings_at_once(scene):
    box, named = scene.get_entity("box").idx, scene.named
    together = scene.read_sensors(entity_idx=scene.get_entity("arm").idx)
    assert {name: tuple(found.shape) for name, found in together.items()} == {
        "IMU": (3, 9),
        "JointTorque": (3, 3),
        "Raycaster": (3, 240),
    }
    assert torch.equal(together[gs.sensors.types.JointTorque][:, 2:], named["elbow"].read())
    alone = scene.read_sensors([1], entity_idx=-1, is_ground_truth=True)
    assert torch.equal(alone["DepthCamera"][:, -35:], named["camera"].read_ground_truth([1]).distances.flatten(1))
    assert named["switch"].read().dtype == torch.bool
    with pytest.raises(ValueError, match="IMU have different history_length"):
        scene.read_sensors(box)


def test_delays_and_histories_show_what_was_read_before(scene):
    late, now = scene.named["late"], scene.named["box imu"]
    seen = [now.read_ground_truth().lin_acc]
    assert torch.equal(late.read().lin_acc, seen[0][:, None].expand(-1, 4, -1))  # all ages begin with the start
    for _ in range(6):
        scene.step()
        seen.append(now.read_ground_truth().lin_acc)
    delayed = torch.stack(seen[:4][::-1], 1)  # 3 steps late, the newest first
    assert torch.equal(late.read().lin_acc, delayed) and not torch.equal(seen[0], seen[3])
    assert torch.equal(late.read_ground_truth().lin_acc, torch.stack(seen[3:][::-1], 1))


def test_environments_begin_anew_alone(scene):
    late, force = scene.named["late"], scene.named["force"]
    start = late.read()
    for _ in range(5):
        scene.step()
    before = late.read(), force.read()
    scene.reset(envs_idx=[1])
    for part, was, first in zip(late.read(), before[0], start, strict=True):
        assert torch.equal(part[[0, 2]], was[[0, 2]])
        assert torch.equal(part[1], first[1]) and not torch.equal(was[1], first[1])
    assert torch.equal(force.read()[[0, 2]], before[1][[0, 2]])


def test_a_saved_state_reads_on_to_the_bit(scene, tmp_path):
    def readings():
        return [*scene.named["late"].read(), scene.named["bounded"].read(), *scene.named["lidar"].read()]

    for _ in range(4):
        scene.step()
    kept = scene.get_state()
    scene.save_checkpoint(tmp_path / "kept")
    at = readings()
    scene.step(), scene.step()
    after = readings()
    for go_back in (lambda: scene.reset(kept), lambda: scene.load_checkpoint(tmp_path / "kept")):
        go_back()
        assert all(torch.equal(a, b) for a, b in zip(readings(), at, strict=True))
        scene.step(), scene.step()
        assert all(torch.equal(a, b) for a, b in zip(readings(), after, strict=True))
    scene.reset({name: part[:1] for name, part in kept.items()}, envs_idx=[2])
    assert torch.equal(scene.named["late"].read().ang_vel[2], at[1][0])
    with pytest.raises(ValueError, match="it is of 0 sensors, and the scene has 13"):
        scene.reset({name: part for name, part in kept.items() if not name.startswith("sensors/")})


def without(state, *names):
    return {name: part for name, part in state.items() if name not in names}


def test_a_state_of_other_steps_is_refused():
    """Of the scene, in which sensors count, or of its physics; states of older versions do not say it."""
    made = []
    for dt, substeps in ((0.01, 2), (0.005, 1), (0.02, 2), (0.01, 2)):
        scene = gs.Scene(gs.options.SimOptions(dt=dt, substeps=substeps))
        box = scene.add_entity(gs.morphs.Box(size=(0.2, 0.3, 0.4), pos=(0, 0, 1)))
        scene.add_sensor(gs.sensors.IMU(entity_idx=box.idx, delay=2 * dt))
        scene.build(n_envs=2)
        made.append((scene, scene.get_state()))
    (scene, before), (_, other), (_, longer), (_, alike) = made
    for state, words in (
        (other, "its sensors count steps of 0.005 s, and this scene's count steps of 0.01 s"),
        (longer, "its sensors count steps of 0.02 s"),
        (without(longer, "scene/dt"), "saved with a timestep of 0.01 s, and here it is 0.005 s"),
    ):
        with pytest.raises(ValueError, match=words):
            scene.reset(state)
        assert all(torch.equal(part, before[name]) for name, part in scene.get_state().items())
    scene.reset(without(alike, "scene/dt", "timestep"))
    for scene, _ in made:
        scene.close()


def test_offsets_of_environments_own(scene):
    imu = scene.named["box imu"]
    imu.set_pos_offset((0, 0.5, 0), envs_idx=[0, 1])
    imu.set_quat_offset((0, 0, 0, 2.0), envs_idx=[1, 2])
    imu.set_acc_cross_axis_coupling((0.1, 0.2, 0.3), envs_idx=[0])
    scene.get_entity("box").set_pos((0, 0, 2))
    scene.rigid_solver.set_state(qvel=[0, 0, 0, 0, 0, 3, 0, 0])  # about a principal axis: it does not precess
    scene.step()
    true, read = imu.read_ground_truth(), imu.read()
    imu.set_pos_offset((0, 0, 0)), imu.set_quat_offset((1, 0, 0, 0)), imu.set_acc_cross_axis_coupling(0.0)
    pull = torch.tensor([[0, -4.5, 0], [0, 4.5, 0], [0, 0, 0]], dtype=torch.float64)  # -r w^2, in the sensor's axes
    torch.testing.assert_close(true.lin_acc, pull, rtol=0, atol=1e-9)
    torch.testing.assert_close(read.lin_acc[0], -4.5 * read.lin_acc.new_tensor([0.2, 1, 0.2]), rtol=0, atol=1e-9)
    torch.testing.assert_close(read.lin_acc[1:], true.lin_acc[1:], rtol=0, atol=0)


WRONG = {
    "no options": (lambda s: s.add_sensor(gs.morphs.Plane()), TypeError, "expected one of gs.sensors; there are: IMU"),
    "a class": (lambda s: s.add_sensor(gs.sensors.IMU), TypeError, "IMU: make one, with parentheses"),
    "an entity": (lambda s: s.add_sensor(gs.sensors.IMU(entity_idx=4)), IndexError, "entity_idx=4: the scene has 1"),
    "a link": (
        lambda s: s.add_sensor(gs.sensors.IMU(entity_idx=0, link_idx_local=2)),
        IndexError,
        r"link_idx_local=2: entity 'ball' has 1 links \(0: sphere_baselink\)",
    ),
    "none to touch": (lambda s: s.add_sensor(gs.sensors.Contact()), ValueError, "Contact: entity_idx is -1"),
    "a dof": (
        lambda s: s.add_sensor(gs.sensors.JointTorque(entity_idx=0, dofs_idx_local=[6])),
        IndexError,
        "dofs_idx_local=6: entity 'ball' has 6 dofs",
    ),
    "an argument": (lambda s: gs.sensors.IMU(acc_nois=1), TypeError, "no argument 'acc_nois'; nearest: acc_noise"),
    "jitter": (lambda s: gs.sensors.IMU(delay=0.01, jitter=0.02), ValueError, "jitter=0.02 must not be above delay"),
    "noise": (lambda s: gs.sensors.IMU(gyro_noise=-1), ValueError, "gyro_noise=-1: it must not be below 0"),
    "axes": (lambda s: gs.sensors.IMU(gyro_bias=(1, 2)), ValueError, r"gyro_bias=\(1, 2\): expected one number, or 3"),
    "coupling": (lambda s: gs.sensors.IMU(acc_cross_axis_coupling=[1, 2]), ValueError, "three, or a matrix"),
    "a pattern": (lambda s: gs.sensors.Raycaster(), TypeError, "Raycaster: pattern=None: give one of gs.sensors"),
    "a camera": (
        lambda s: gs.sensors.DepthCamera(pattern=gs.sensors.GridPattern()),
        TypeError,
        "such as DepthCameraPattern",
    ),
    "a range": (lambda s: gs.sensors.Lidar(pattern=LIDAR, max_range=0), ValueError, "max_range=0: it must be above 0"),
    "forces": (lambda s: gs.sensors.ContactForce(min_force=2, max_force=1), ValueError, "must be below max_force"),
    "a grid": (lambda s: gs.sensors.GridPattern(resolution=0), ValueError, "resolution=0: it must be at least 0.001"),
    "a view": (lambda s: gs.sensors.SphericalPattern(fov=(400, 10)), ValueError, "fov=400: it must be from 0 to 360"),
    "a lens": (lambda s: gs.sensors.DepthCameraPattern(fov_horizontal=180), ValueError, "must be below 180 degrees"),
    "too early": (
        lambda s: s.add_sensor(gs.sensors.IMU(entity_idx=0)).read(),
        gs.SceneOrderError,
        r"call scene\.build\(\) first",
    ),
}


def test_sensors_of_a_closed_scene_read_nothing():
    scene = gs.Scene()
    imu = scene.add_sensor(gs.sensors.IMU())
    scene.close()
    with pytest.raises(gs.SceneOrderError, match=r"sensor 0 \(IMU\): its scene is closed; make a new one"):
        imu.read()


@cases("what", WRONG)
def test_wrong_sensors_are_refused_in_words(what):
    scene = gs.Scene()
    scene.add_entity(gs.morphs.Sphere(), name="ball")
    call, error, message = WRONG[what]
    with pytest.raises(error, match=message):
        call(scene)


SET = {
    "a shape": (lambda s: s["imu"].set_noise([1, 2]), ValueError, r"noise: expected shape \(3, 9\), or one that"),
    "noise": (lambda s: s["imu"].set_noise(-1), ValueError, "noise=-1: it must not be below 0"),
    "an environment": (lambda s: s["imu"].set_bias(1, [3]), IndexError, "no environment 3"),
    "a delay": (lambda s: s["imu"].set_delay(-0.1), ValueError, "delay=-0.1: it must not be below 0"),
    "jitter": (lambda s: s["late"].set_jitter(0.04), ValueError, "jitter=0.04: it must not be above the delay"),
    "a quaternion": (lambda s: s["imu"].set_quat_offset([0, 0, 0, 0]), ValueError, "a quaternion must have a length"),
}


@pytest.mark.parametrize("what", SET)
def test_wrong_numbers_are_refused_in_words(scene, what):
    call, error, message = SET[what]
    with pytest.raises(error, match=message):
        call(scene.named)


def test_patterns():
    whole = gs.sensors.SphericalPattern(fov=(360, (-10, 20)), n_points=(8, 4))
    azimuth = np.degrees(np.arctan2(whole.directions[:, 0, 1], whole.directions[:, 0, 0]))
    np.testing.assert_allclose(np.diff(np.unwrap(azimuth, period=360)), 45)  # none twice
    np.testing.assert_allclose(np.degrees(np.arcsin(whole.directions[0, :, 2])), [-10, 0, 10, 20])
    assert gs.sensors.SphericalPattern(fov=(90, 30), angular_resolution=(30, 7.5)).shape == (4, 5)
    assert gs.sensors.SphericalPattern(angles=([0, 5, 90], [1])).shape == (3, 1)
    grid = gs.sensors.GridPattern(resolution=0.5, size=(1.0, 2.0), direction=(0, 0, -3))
    assert grid.shape == (3, 5) and grid.starts[0, 0].tolist() == [-0.5, -1, 0]
    assert grid.directions[2, 2].tolist() == [0, 0, -1]
    camera = gs.sensors.DepthCameraPattern(res=(4, 2), fx=3.0, cx=2.5)
    assert (camera.fx, camera.fy, camera.cx, camera.cy, camera.shape) == (3, 3, 2.5, 1, (2, 4))
    ray = camera.directions[0, 0] / camera.directions[0, 0, 0]
    np.testing.assert_allclose(ray, [1, 2 / 3, 0.5 / 3])  # left and up of the principal point
