"""An arm goes around a wall, takes a cube and lifts it: inverse kinematics, a path, a gripper."""

import torch

import tumble.scene as gs

gs.init(backend=gs.cpu, seed=0)
scene = gs.Scene(gs.options.SimOptions(dt=0.01, substeps=2), gs.options.RigidOptions(friction_cone="elliptic"))
scene.add_entity(gs.morphs.Plane(pos=(0, 0, -0.75)), name="floor")
red = gs.surfaces.Default(color=(0.85, 0.25, 0.15))
cube = scene.add_entity(gs.morphs.Box(size=(0.04, 0.04, 0.04), pos=(0.5, 0.25, 0.02)), surface=red, name="cube")
wall = scene.add_entity(gs.morphs.Box(size=(0.3, 0.04, 0.3), pos=(0.5, 0, 0.15), fixed=True), name="wall")
arm = scene.add_entity(gs.morphs.MJCF(file="arm_robot.xml"), name="arm")
camera = scene.add_camera(res=(480, 320), pos=(1.75, 1.25, 0.75), lookat=(0.25, 0.05, 0.33), fov=34)
scene.build()

joints, fingers = list(range(7)), [7, 8]
hand, grip, down = arm.get_link("hand"), (0, 0, 0.1034), (0, 1, 0, 0)  # the point between the pads, in the hand's frame
arm.set_dofs_kp([2000] * 4 + [600] * 3, joints)
arm.set_dofs_kv([200] * 4 + [60] * 3, joints)
arm.set_dofs_force_range([-87] * 4 + [-12] * 3 + [-70] * 2, [87] * 4 + [12] * 3 + [70] * 2)


def coordinates(place, fingers_at=0.04):
    """Return joint angles that put the grip at a place, hand down, with the fingers so far from the middle."""
    qpos, error = arm.inverse_kinematics(
        hand, place, down, grip, dofs_idx_local=joints, init_qpos=arm.get_qpos(), seed=1, return_error=True
    )
    assert error[:3].norm() < 1e-3
    qpos[7:] = fingers_at
    return qpos


def go(place, steps):
    """Move the grip straight to a place."""
    start, end = arm.get_dofs_position(joints), coordinates(place)[:7]
    for step in range(steps):
        arm.control_dofs_position(torch.lerp(start, end, (step + 1) / steps), joints)
        scene.step()
    for _ in range(20):
        scene.step()


home = torch.tensor([-0.6, 0.05, 0.0, -2.38, 0.0, 2.42, 0.785, 0.04, 0.04])
arm.set_qpos(home)
arm.control_dofs_force([5.0, 5.0], fingers)  # open

# around the wall to the place above the cube
path = arm.plan_path(coordinates((0.5, 0.25, 0.15)), num_waypoints=120, seed=0)
drawn = scene.draw_debug_path(path, arm, link_idx=hand.idx_local, density=0.2)
for waypoint in path:
    arm.control_dofs_position(waypoint[:7], joints)
    scene.step()
    assert len(wall.get_contacts()["position"]) == 0
scene.clear_debug_object(drawn)

go((0.5, 0.25, 0.02), 60)  # down to the cube
arm.control_dofs_force([-20.0, -20.0], fingers)  # close
for _ in range(30):
    scene.step()
go((0.45, 0.25, 0.3), 80)  # up

rgb, *_ = camera.render()
offset = cube.get_pos() - (hand.get_pos() + gs.transform_by_quat(torch.tensor(grip), hand.get_quat()))
print(f"the cube is {float(cube.get_pos()[2]):.3f} m high, {1000 * float(offset.norm()):.1f} mm from the grip")
assert cube.get_pos()[2] > 0.27 and offset.norm() < 0.01
