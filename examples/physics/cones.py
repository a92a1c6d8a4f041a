"""How much a box holds that is pushed from all sides, and where it slides, with pyramidal and elliptic cones."""

import torch

from tumble.physics import Model, RigidSolver

BOX = """<mujoco><option cone="{cone}"/><default><geom friction=".5"/></default><worldbody>
<geom type="plane" size="9 9 .1"/>
<body pos="0 0 .05"><freejoint/><geom type="box" size=".1 .1 .05" mass="1"/></body></worldbody></mujoco>"""
angles, shares = torch.arange(0.0, 91.0, 5.0), torch.arange(0.6, 1.2, 0.01)  # of the push: degrees, force / (mu m g)

for cone in ("pyramidal", "elliptic"):
    solver = RigidSolver(Model.from_mjcf(BOX.format(cone=cone)), len(angles) * len(shares))
    angle, force = torch.deg2rad(angles).repeat_interleave(len(shares)), 0.5 * 9.81 * shares.repeat(len(angles))
    push = torch.zeros(solver.num_envs, 2, 6)  # force and torque on each body
    push[:, 1, 0], push[:, 1, 1] = force * angle.cos(), force * angle.sin()
    solver.step(100)
    solver.xfrc_applied = push
    solver.step(500)
    x, y = solver.qvel[:, 0], solver.qvel[:, 1]
    slides = (torch.hypot(x, y) > 0.05).reshape(len(angles), -1)
    off = torch.rad2deg(torch.atan2(y, x) - angle).reshape(len(angles), -1)
    first = slides.int().argmax(dim=1)  # the weakest push that moves the box
    held, off = shares[first - 1], off.gather(1, first[:, None]).abs()
    print(f"{cone}: holds {held.min():.2f} to {held.max():.2f} mu m g, slides up to {off.max():.0f} degrees off")
