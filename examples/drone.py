"""Drones fly to places of their own and hover there: a controller of positions, attitudes and propellers' speeds."""

import torch

import tumble.scene as gs

gs.init(backend=gs.cpu)
scene = gs.Scene(gs.options.SimOptions(dt=0.01, substeps=2))
scene.add_entity(gs.morphs.Plane())
drone = scene.add_entity(gs.morphs.Drone(file="drone.xml", pos=(0, 0, 0.2)), name="drone")
camera = scene.add_camera(res=(480, 320), pos=(0.35, -0.35, 0.95), lookat=(0, 0, 0.78), fov=30, env_idx=0)
scene.build(n_envs=3)

targets = torch.tensor([[0.0, 0.0, 0.8], [0.5, 0.3, 1.0], [-0.4, 0.4, 0.6]], device=gs.device)
mass, gravity = drone.get_mass(), 9.81
spins = torch.tensor(drone.propellers_spin, device=gs.device)
ratio = drone.KM / drone.KF  # of a propeller's torque to its force, m
x, y = 0.028 * torch.tensor([[1, -1, -1, 1], [-1, -1, 1, 1]], device=gs.device)  # places of the propellers, m
to_thrust_and_torques = torch.stack([torch.ones(4, device=gs.device), y, -x, ratio * spins])
forces_of = torch.linalg.inv(to_thrust_and_torques)


def control():
    """Return speeds of the propellers, (n, 4) rounds a minute."""
    quat = drone.get_quat()
    # the force that is wanted, in the world, and the part of it along the drone's own axis
    force = 6.0 * (targets - drone.get_pos()) - 4.0 * drone.get_vel()
    force[:, 2] += gravity
    force = mass[:, None] * force
    up = gs.transform_by_quat(torch.tensor([0.0, 0.0, 1.0], device=gs.device), quat)
    thrust = (force * up).sum(1)
    # turn the axis towards it; do not spin
    error = gs.inv_transform_by_quat(torch.linalg.cross(up, gs.normalize(force)), quat)
    spin = gs.inv_transform_by_quat(drone.get_ang(), quat)
    torque = torch.tensor([1.4e-5, 1.4e-5, 2.2e-5], device=gs.device) * (250.0 * error - 28.0 * spin)
    thrusts = torch.cat([thrust[:, None], torque], 1) @ forces_of.T
    return (thrusts.clamp(0.0, 0.149) / drone.KF).sqrt()


for _ in range(400):
    drone.set_propellers_rpm(control())
    scene.step()

rgb, *_ = camera.render()
off = (drone.get_pos() - targets).norm(dim=1)
print("off by", 1000 * off, "mm; speed", drone.get_vel().norm(dim=1), "m/s")
assert off.max() < 0.01 and drone.get_vel().norm(dim=1).max() < 0.02
