"""Eight quadrupeds of which no two are alike: friction, masses, centres of mass, gains, springs differ."""

import numpy as np
import torch

import tumble.scene as gs

gs.init(precision="32", seed=1)
scene = gs.Scene(
    rigid_options=gs.options.RigidOptions(dt=0.01, constraint_solver=gs.constraint_solver.Newton),
    show_viewer=False,
)
scene.add_entity(gs.morphs.Plane())
robot = scene.add_entity(gs.morphs.MJCF(file="quadruped.xml", exclude_ground_plane=True), name="robot")
n_envs = 8
scene.build(n_envs=n_envs)

links = np.arange(robot.n_links)
robot.set_friction_ratio(0.5 + torch.rand(n_envs, robot.n_links), links)
robot.set_mass_shift(0.02 * torch.rand(n_envs, robot.n_links), links)
robot.set_COM_shift(-0.005 + 0.01 * torch.rand(n_envs, robot.n_links, 3), links)
robot.base_link.set_mass(7.5)  # of one link, everywhere
names = [joint.name for joint in robot.joints if joint.type == "hinge"]
motors = [robot.get_joint(name).dofs_idx_local[0] for name in names]
robot.set_dofs_kp(torch.empty(n_envs, 12).uniform_(30, 40), motors)
robot.set_dofs_kv(np.full(12, 0.8), motors)
robot.set_dofs_armature(0.004 + 0.002 * torch.rand(n_envs, 12), motors)
print("masses", robot.get_mass(), "bounds", robot.get_AABB()[0])
assert len(set(robot.get_mass().tolist())) == n_envs

stand = np.tile([0.0, 0.8, -1.5], (n_envs, 4))
robot.set_pos((0, 0, 0.32))
robot.set_dofs_position(stand, motors)
robot.control_dofs_position(stand, motors)
for _ in range(60):
    scene.step()
print("heights", robot.get_pos()[:, 2])
assert (robot.get_pos()[:, 2] > 0.2).all() and robot.get_pos()[:, 2].std() > 1e-5
