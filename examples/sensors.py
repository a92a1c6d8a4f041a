"""Sensors of a quadruped that lands: an IMU on its trunk, forces at its feet, a lidar; readings go into files."""

import numpy as np

import tumble.scene as gs

gs.init(backend=gs.cpu, seed=2)
scene = gs.Scene(rigid_options=gs.options.RigidOptions(dt=0.01), show_viewer=False)
scene.add_entity(gs.morphs.Plane())
robot = scene.add_entity(gs.morphs.MJCF(file="quadruped.xml", exclude_ground_plane=True), name="robot")
soles = [link for link in robot.links if link.name.endswith("foot")]
imu = scene.add_sensor(
    gs.sensors.IMU(
        entity_idx=robot.idx,
        link_idx_local=robot.base_link.idx_local,
        acc_noise=(0.01, 0.01, 0.01),
        gyro_random_walk=(0.001, 0.001, 0.001),
        acc_cross_axis_coupling=(0.0, 0.01, 0.02),
        delay=0.02,
    )
)
feet = [
    scene.add_sensor(gs.sensors.ContactForce(entity_idx=robot.idx, link_idx_local=link.idx_local)) for link in soles
]
lidar = scene.add_sensor(
    gs.sensors.Lidar(
        pattern=gs.sensors.SphericalPattern(fov=(360.0, 40.0), n_points=(16, 4)),
        entity_idx=robot.idx,
        pos_offset=(0.0, 0.0, 0.1),
    )
)
imu.start_recording(gs.recorders.NPZFile(filename="imu.npz"))
scene.start_recording(
    data_func=lambda: {link.name: foot.read() for link, foot in zip(soles, feet, strict=True)},
    rec_options=gs.recorders.CSVFile(filename="feet.csv", hz=50),
)
scene.build()

stand = np.tile([0.0, 0.8, -1.5], 4)
robot.set_pos((0, 0, 0.36))
robot.set_dofs_position(stand, range(6, 18))
robot.control_dofs_position(stand, range(6, 18))
robot.set_dofs_kv(2.0, range(6, 18))
for _ in range(120):
    scene.step()
scene.stop_recording()

total = sum(foot.read_ground_truth().norm() for foot in feet)
print("measured", imu.read(), "true", imu.read_ground_truth(), "feet carry", float(total), "N")
print("rays that met the ground:", int((lidar.read().distances < 20).sum()), "of 64")
with np.load("imu.npz") as file:
    assert file["lin_acc"].shape == (120, 3)
weight = 9.81 * float(robot.get_mass())
assert 0.8 * weight < float(total) < 1.3 * weight and abs(float(imu.read().lin_acc[2]) - 9.81) < 0.5
