"""The energy of a thrown box after a second, and whether a top spins on, by each integrator."""

import math

import torch

from tumble.physics import Model, RigidSolver

OPTION = '<mujoco><option integrator="{}" timestep="{}"/><worldbody>'
THROWN = (
    OPTION + '<body pos="0 0 9"><freejoint/><geom type="box" size=".05 .1 .2" mass="1"/></body></worldbody></mujoco>'
)
TOP = (
    OPTION
    + """<body><joint type="ball"/>
<geom type="cylinder" size=".05 .01" pos="0 0 .1" mass=".2"/></body></worldbody></mujoco>"""
)

for name in ("Euler", "implicitfast", "implicit", "RK4"):
    thrown = RigidSolver(Model.from_mjcf(THROWN.format(name, 0.002)), num_envs=1)
    inertia = torch.tensor(thrown.model.mj.body_inertia[1]).float()
    thrown.set_state(qvel=torch.tensor([[0.0, 0, 0, 20, 40, 10]]))  # 46 rad/s, not about an axis of inertia
    before = (inertia * thrown.qvel[0, 3:] ** 2).sum()
    thrown.step(500)
    energy = (inertia * thrown.qvel[0, 3:] ** 2).sum() / before
    top = RigidSolver(Model.from_mjcf(TOP.format(name, 0.002)), num_envs=1)
    lean = torch.tensor([[math.cos(0.15), math.sin(0.15), 0, 0]])
    top.set_state(qpos=lean, qvel=torch.tensor([[1.0, 0, 200]]))  # 200 rad/s about its own axis
    top.step(500)
    fate = "is not finite any more" if top.faults[0] else "spins on"
    print(f"{name}, after a second: energy of a thrown box {round(100 * energy.item() - 100):+d} %; a top {fate}")
