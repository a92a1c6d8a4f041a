"""An arm on its table: the least program, and what it can be asked."""

import tumble.scene as gs

gs.init(backend=gs.cpu)
scene = gs.Scene(gs.options.SimOptions(dt=0.01, substeps=2))
floor = scene.add_entity(gs.morphs.Plane(pos=(0, 0, -0.75)))
arm = scene.add_entity(gs.morphs.MJCF(file="arm_robot.xml"), name="arm")
scene.build()

for _ in range(50):
    scene.step()

print(f"{scene.t} steps, {float(scene.get_time()):.2f} s; entities {scene.entity_names}")
print([joint.name for joint in arm.joints], arm.n_dofs, "dofs")
print("the hand is at", arm.get_link("hand").get_pos(), "and moves with", arm.get_link("hand").get_vel())
assert abs(float(scene.get_time()) - 0.5) < 1e-6 and arm.get_qpos().shape == (9,)
