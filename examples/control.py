"""Control of an arm: places set at once, then servos for positions and velocities, then forces."""

import numpy as np

import tumble.scene as gs

gs.init(backend=gs.gpu)  # the CPU, with a warning, where there is no GPU
scene = gs.Scene(gs.options.SimOptions(dt=0.01, substeps=2))
scene.add_entity(gs.morphs.Plane(pos=(0, 0, -0.75)))
arm = scene.add_entity(gs.morphs.MJCF(file="arm_robot.xml"), name="arm")
scene.build()

names = [*(f"joint{k}" for k in range(1, 8)), "finger_joint1", "finger_joint2"]
motors = [arm.get_joint(name).dofs_idx_local[0] for name in names]
arm.set_dofs_kp(kp=np.array([1000, 1000, 1000, 1000, 400, 400, 400, 100, 100]), dofs_idx_local=motors)
arm.set_dofs_kv(kv=np.array([100, 100, 100, 100, 40, 40, 40, 10, 10]), dofs_idx_local=motors)
limit = np.array([87, 87, 87, 87, 12, 12, 12, 70, 70])
arm.set_dofs_force_range(lower=-limit, upper=limit, dofs_idx_local=motors)

# at once, without forces
arm.set_dofs_position(np.array([0.3, 0.2, 0, -2, 0, 2, 0.5, 0.04, 0.04]), motors)
assert not arm.get_dofs_velocity().any()

# to positions
target = np.array([-0.3, 0.5, 0.2, -1.8, 0.3, 2.2, 0.2, 0.02, 0.02])
arm.control_dofs_position(target, motors)
for _ in range(150):
    scene.step()
print("off by", np.abs(arm.get_dofs_position(motors).cpu().numpy() - target).max(), "rad")
assert np.abs(arm.get_dofs_position(motors).cpu().numpy() - target).max() < 0.01

# the first joint at a velocity, the others where they are
arm.control_dofs_velocity(np.array([1.0]), motors[:1])
for _ in range(50):
    scene.step()
assert abs(float(arm.get_dofs_velocity(motors[:1])[0]) - 1.0) < 0.05

# no forces: what the controls exert, and the sum of all forces
arm.control_dofs_force(np.zeros(9), motors)
scene.step()
print("control", arm.get_dofs_control_force(motors), "in all", arm.get_dofs_force(motors))
assert not arm.get_dofs_control_force(motors).any()
