"""Sixteen arms at once: all are controlled, some are, each is asked; one has another mass; one begins anew."""

import torch

import tumble.scene as gs

gs.init(backend=gs.cpu)
scene = gs.Scene(gs.options.SimOptions(dt=0.01, substeps=2), show_viewer=False)
scene.add_entity(gs.morphs.Plane(pos=(0, 0, -0.75)))
arm = scene.add_entity(gs.morphs.MJCF(file="arm_robot.xml"), name="arm")
B = 16
scene.build(n_envs=B, env_spacing=(2.0, 2.0))

# all: one row for every environment, or one for all
home = torch.tensor([0.0, 0.05, 0.0, -2.4, 0.0, 2.4, 0.8, 0.04, 0.04], device=gs.device)
arm.set_qpos(home)
turns = torch.linspace(-1.0, 1.0, B, device=gs.device)
targets = home[:7].repeat(B, 1)
targets[:, 0] = turns
arm.control_dofs_position(targets, range(7))

# some: by numbers, a slice, or a mask
arm.control_dofs_position(torch.zeros(3, 1, device=gs.device), [0], envs_idx=[1, 5, 7])
arm.control_dofs_position(0.5, [6], envs_idx=slice(8, None))
arm.set_links_mass(1.0, [arm.get_link("hand").idx_local], envs_idx=turns > 0.9)

for _ in range(150):
    scene.step()

# each
reached = arm.get_dofs_position([0])[:, 0]
wanted = turns.clone()
wanted[[1, 5, 7]] = 0.0
print("first joints:", reached)
assert (reached - wanted).abs().max() < 0.02
assert (arm.get_dofs_position([6], envs_idx=[9, 10]) - 0.5).abs().max() < 0.02
print("hands:", arm.get_link("hand").get_pos().shape, "their masses:", arm.get_link("hand").get_mass())

# two begin anew; the others go on
scene.reset(envs_idx=[0, 3])
scene.step()
assert scene.get_time()[[0, 1]].tolist() == [scene.dt, 151 * scene.dt]
