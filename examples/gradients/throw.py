"""A racket hits a ball, which bounces once and falls into a basket: the gradient goes through both contacts.

Commands of two servos swing the racket. `rollout` gives the place of the ball at the end as a function that torch
differentiates, Gauss-Newton steps find the commands; so does a search without derivatives, the cross-entropy method.
"""

import argparse
import time

import mujoco
import numpy as np
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.rendering import Camera

KNOTS, SWING, FLIGHT, STEPS = 8, 25, 85, 20
"""Knots of the commands, periods of the swing and of the flight, steps of 1 ms in a period."""
BASKET = 2.2, 0.5
"""Where the ball is to be at the end: m ahead of the arm, and above the floor."""
CLOSE = 0.01
"""How near to that is near enough, m."""

ARM = """<mujoco>
  <option timestep="0.001" integrator="implicitfast" cone="elliptic"/>
  <default>
    <geom contype="0" conaffinity="0" friction="0.6 0.005 0.0001"/>
  </default>
  <worldbody>
    <light directional="true" pos="0 0 3" dir="0.3 0.5 -1"/>
    <geom name="floor" type="plane" size="4 4 0.1" rgba="0.8 0.85 0.9 1"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.03" rgba="0.4 0.45 0.5 1"/>
    <body name="upper" pos="0 0 0.3">
      <joint name="shoulder" axis="0 1 0" damping="0.05"/>
      <geom type="capsule" fromto="0 0 0 -0.35 0 0" size="0.02" mass="0.3" rgba="0.25 0.45 0.7 1"/>
      <body name="lower" pos="-0.35 0 0">
        <joint name="wrist" axis="0 1 0" damping="0.02"/>
        <geom type="capsule" fromto="0 0 0 -0.15 0 0" size="0.015" mass="0.1" rgba="0.25 0.45 0.7 1"/>
        <geom name="racket" type="box" size="0.1 0.08 0.005" pos="-0.25 0 0" mass="0.1" rgba="0.85 0.5 0.2 1"/>
      </body>
    </body>
    <body name="ball" pos="-0.55 0 0.9">
      <freejoint/>
      <geom name="ball" type="sphere" size="0.07" mass="0.05" rgba="0.75 0.25 0.2 1"/>
    </body>
  </worldbody>
  <contact>
    <pair geom1="ball" geom2="racket" condim="1" solref="-5000 0" solimp="0 0.9 0.03 0.5 2"/>
    <pair geom1="ball" geom2="floor" condim="1" solref="-5000 0" solimp="0 0.9 0.03 0.5 2"/>
  </contact>
  <actuator>
    <position joint="shoulder" kp="40" kv="2"/>
    <position joint="wrist" kp="10" kv="0.5"/>
  </actuator>
</mujoco>"""
"""Contacts of the ball begin with no force (`solimp` begins at 0) and take 45 steps. A force that begins at once, at a
whole step, is up to one step late; this lateness has a derivative that is large, and wrong for any finite change."""


class Throw:
    """Throws of `num_envs` balls at once, each by angles of both servos at knots, (num_envs, KNOTS, 2) rad."""

    def __init__(self, num_envs=1):
        self.solver, self.steps = RigidSolver(Model.from_mjcf(ARM), num_envs=num_envs), 0
        at = torch.linspace(0, KNOTS - 1, SWING, dtype=torch.float64)[:, None]
        self.blend = (1 - (at - torch.arange(KNOTS)).abs()).clamp(min=0)  # (SWING, KNOTS): linear interpolation

    def commands(self, knots):
        """Return commands (num_envs, periods, 2): interpolated angles, and the last ones for the time of flight."""
        swing = torch.einsum("pk,nku->npu", self.blend, knots)
        return torch.cat((swing, swing[:, -1:].expand(-1, FLIGHT, -1)), 1)

    def misses(self, knots):
        """Return how far from the basket the balls end, ahead and above, (num_envs, 2) m."""
        self.solver.reset()
        commands = self.commands(knots)
        self.steps += commands.shape[0] * commands.shape[1] * STEPS
        if knots.requires_grad:
            end = self.solver.gradients.rollout(controls=commands, n=STEPS).qpos[:, -1, 2:5]
        else:
            for period in range(commands.shape[1]):
                self.solver.step(STEPS, ctrl=commands[:, period])
            end = self.solver.qpos[:, 2:5]
        return end[:, ::2] - torch.tensor(BASKET, dtype=torch.float64)


def loss(misses, knots):
    """Return the squared distance from the basket, m^2, and a little for haste, which decides between solutions."""
    return misses.square().sum(1) + 1e-4 * knots.diff(dim=1).square().sum((1, 2))


def first_guess():
    """Return knots of a swing of the shoulder alone, (1, KNOTS, 2)."""
    knots = torch.zeros(1, KNOTS, 2, dtype=torch.float64)
    knots[0, :, 0] = torch.tensor([0, 0, 0.1, 0.25, 0.42, 0.45, 0.45, 0.45])
    return knots


def by_gradients(throw, most=30):
    """Return knots that Gauss-Newton steps find, and the distance from the basket at each evaluation, m.

    Two numbers of the ball's place and 16 of the swing: a step is the shortest that should hit, by the 2 x 16 Jacobian;
    Levenberg's damping shortens it after a step that missed by more.
    """
    knots, damping, history = first_guess(), 1e-3, []
    best, jacobian = evaluated(throw, knots)
    history.append(float(best.norm()))
    while len(history) < most and history[-1] > CLOSE:
        square = jacobian @ jacobian.T + damping * torch.eye(2, dtype=torch.float64)
        tried = knots - (jacobian.T @ torch.linalg.solve(square, best)).reshape(knots.shape)
        misses, ahead = evaluated(throw, tried)
        better = misses.norm() < best.norm()
        damping *= 0.1 if better else 10
        if better:
            knots, best, jacobian = tried, misses, ahead
        history.append(float(best.norm()))
    return knots, history


def evaluated(throw, knots):
    """Return where a throw misses, (2,) m, and its Jacobian by the knots, (2, 2 KNOTS)."""
    knots = knots.clone().requires_grad_()
    misses = throw.misses(knots)[0]
    rows = [torch.autograd.grad(miss, knots, retain_graph=True)[0].flatten() for miss in misses]
    return misses.detach(), torch.stack(rows)


def by_search(throws, most=30, elite=8, seed=0):
    """Return knots that the cross-entropy method finds, and the least distance from the basket in each round, m."""
    torch.manual_seed(seed)
    mean, spread, history = first_guess(), 0.05, []
    while len(history) < most and not (history and history[-1] < CLOSE):
        tried = mean + spread * torch.randn(throws.solver.num_envs, *mean.shape[1:], dtype=torch.float64)
        misses = throws.misses(tried)
        best = tried[loss(misses, tried).argsort()[:elite]]
        history.append(float(misses.norm(dim=1).min()))
        mean, spread = best.mean(0, keepdim=True), best.std(0, keepdim=True)
    return tried[misses.norm(dim=1).argmin()][None], history


def in_mujoco(commands, seconds=1.5):
    """Return the states (n, nq) of the throw in MuJoCo's C, with a real basket, and `seconds` after it."""
    x, z = BASKET
    walls = {
        "near": f'size="0.01 0.2 0.2" pos="{x - 0.2} 0 {z - 0.25}"',
        "far": f'size="0.01 0.2 0.2" pos="{x + 0.2} 0 {z - 0.25}"',
        "left": f'size="0.2 0.01 0.2" pos="{x} 0.2 {z - 0.25}"',
        "right": f'size="0.2 0.01 0.2" pos="{x} -0.2 {z - 0.25}"',
        "bottom": f'size="0.2 0.2 0.01" pos="{x} 0 {z - 0.45}"',
    }
    geoms = "".join(f'<geom name="{name}" type="box" {box} rgba="0.3 0.6 0.4 0.5"/>' for name, box in walls.items())
    pairs = "".join(f'<pair geom1="ball" geom2="{name}"/>' for name in walls)
    xml = ARM.replace("</worldbody>", geoms + "</worldbody>").replace("</contact>", pairs + "</contact>")
    mj = mujoco.MjModel.from_xml_string(xml)
    data, states = mujoco.MjData(mj), []
    for command in [*commands, *[commands[-1]] * round(seconds / (STEPS * mj.opt.timestep))]:
        data.ctrl = command
        mujoco.mj_step(mj, data, STEPS)
        states.append(data.qpos.copy())
    return mj, np.array(states)


def told(name, throw, history, began):
    """Print how a search went."""
    print(
        f"{name}: {1000 * history[-1]:.1f} mm from the middle after {len(history)} rounds, {throw.steps} steps, "
        f"{time.perf_counter() - began:.1f} s"
    )


def save_picture(mj, states, file):
    """Draw moments of a throw in one place."""
    from draw import in_one_place
    from matplotlib import image

    camera = Camera(lookat=(1.0, 0.0, 0.5), distance=3.4, azimuth=90, elevation=-12)
    image.imsave(file, in_one_place(Model.from_mjmodel(mj), states, camera, 900, 380).numpy())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", metavar="FILE", help="draw the throw")
    asked = parser.parse_args()
    tumble.init(precision="64")
    torch.set_num_threads(1)
    throw = Throw()
    throw.misses(first_guess().requires_grad_()).sum().backward()  # compiles
    began, throw.steps = time.perf_counter(), 0
    knots, history = by_gradients(throw)
    told("Gauss-Newton", throw, history, began)
    mj, states = in_mujoco(throw.commands(knots)[0].numpy())
    if asked.picture:
        save_picture(mj, states[4:120:6], asked.picture)
    print(f"MuJoCo: the ball ends {states[-1][2]:.2f} m ahead, {states[-1][4]:.2f} m above the floor")
    throws = Throw(64)
    throws.misses(first_guess().expand(64, -1, -1))
    for seed in range(3):
        began, throws.steps = time.perf_counter(), 0
        told("cross-entropy", throws, by_search(throws, seed=seed)[1], began)
