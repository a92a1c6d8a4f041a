"""Inverse kinematics of two links at once: both fingers come to a pair of points that goes around in a circle."""

import numpy as np

import tumble.scene as gs

gs.init(precision="32", logging_level="warning")
scene = gs.Scene(gs.options.SimOptions(dt=0.01, substeps=2))
scene.add_entity(gs.morphs.Plane(pos=(0, 0, -0.75)))
robot = scene.add_entity(gs.morphs.MJCF(file="arm_robot.xml"), name="arm")
scene.build()

left, right = robot.get_link("left_finger"), robot.get_link("right_finger")
center, radius, apart = np.array([0.5, 0.0, 0.3]), 0.1, np.array([0.0, 0.03, 0.0])
down = np.array([0.0, 1.0, 0.0, 0.0])
robot.set_dofs_position(np.array([0.0, 0.05, 0.0, -2.4, 0.0, 2.4, 0.8, 0.02, 0.02]))
for angle in np.linspace(0, 2 * np.pi, 8, endpoint=False):
    place = center + radius * np.array([np.cos(angle), np.sin(angle), 0])
    qpos, error = robot.inverse_kinematics_multilink(
        links=[left, right],
        poss=[place, place + apart],
        quats=[down, down],
        rot_mask=[False, False, True],  # z axes alone: each finger may turn about its own
        return_error=True,
        seed=0,
    )
    robot.set_dofs_position(qpos)
    scene.visualizer.update()
    middle = (left.get_pos() + right.get_pos()) / 2
    assert np.abs(middle.cpu().numpy() - place - apart / 2).max() < 2e-3, error
print("both fingers followed, within", float(error[:, :3].norm(dim=1).max()), "m")
