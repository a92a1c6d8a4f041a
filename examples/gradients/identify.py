"""Masses, friction, damping, armature and gains from a recorded motion, with error bars.

Every environment begins in one recorded state and predicts the next. The unknown numbers are those that predict best: a
nonlinear least-squares problem, whose Jacobian one call of `jvp` computes for all environments and numbers.
"""

import argparse
import copy
import time
from typing import NamedTuple

import mujoco
import numpy as np
import torch

import tumble
from tumble import assets
from tumble.physics import Model, RigidSolver

STEPS = 4
"""Steps of physics from one recorded state to the next, under one command."""
SETTLING = 10
"""Commands before a recording begins."""
LOST = 0.5
"""A direction of logarithms that the recording tells no better than this is not identified."""


class Unknown(NamedTuple):
    """A factor by which numbers of the model are multiplied: entries of parameters, by the parameters' names."""

    label: str
    entries: dict[str, tuple]


class Recording(NamedTuple):
    """Measured states (n + 1, nq + nv), commands (n, nu) between them, and the noise (1 sigma) of each number."""

    states: np.ndarray
    commands: np.ndarray
    noise: np.ndarray


class Found(NamedTuple):
    """Factors; the covariance of their logarithms; directions that are not identified (rows); chi^2 per number."""

    factors: np.ndarray
    covariance: np.ndarray
    lost: np.ndarray
    chi2: float
    iterations: int
    seconds: float

    @property
    def sigma(self):
        """Standard deviations of the logarithms."""
        return np.sqrt(np.diag(self.covariance))


def scaled(mj, unknowns, factors):
    """Return the parameters that the unknowns change, by name."""
    numbers = {name: np.array(getattr(mj, name)) for unknown in unknowns for name in unknown.entries}
    for unknown, factor in zip(unknowns, factors, strict=True):
        for name, entry in unknown.entries.items():
            numbers[name][entry] *= factor
    return numbers


def directions(numbers, unknowns):
    """Return how parameters change with the logarithm of each factor: by themselves."""
    found = {name: np.zeros((len(unknowns), *rows.shape)) for name, rows in numbers.items()}
    for k, unknown in enumerate(unknowns):
        for name, entry in unknown.entries.items():
            found[name][k][entry] = numbers[name][entry]
    return found


class Problem:
    """Every second recorded state is predicted from the one before: no measurement counts twice.

    The measured starts are wrong as well, and are unknowns, too. They need no Jacobian of their own: A, the derivative
    by the start, carries their noise W into the predictions, whose errors have the covariance W + A W A'.
    """

    def __init__(self, model, unknowns, recording):
        count = len(recording.states) // 2
        self.before, self.after = recording.states[: 2 * count : 2], recording.states[1 : 2 * count : 2]
        self.commands, self.noise = recording.commands[: 2 * count : 2], np.diag(np.square(recording.noise))
        self.mj, self.unknowns, self.solver = model.mj, unknowns, RigidSolver(model, num_envs=count)

    def linearise(self, logs, starts):
        """Return, of each environment: Jacobian (d, k) by logarithms, errors (d, 1), A (d, d)."""
        numbers, gradients = scaled(self.mj, self.unknowns, np.exp(logs)), self.solver.gradients
        qpos, qvel = np.split(starts, [self.mj.nq], axis=1)
        self.solver.reset(qpos=qpos, qvel=qvel, parameters=numbers, inputs={"ctrl": self.commands})
        by_start = gradients.transition(n=STEPS).A.numpy()
        by_logs = gradients.jvp(parameters=directions(numbers, self.unknowns), n=STEPS)
        self.solver.step(STEPS)
        errors = self.after - torch.cat((self.solver.qpos, self.solver.qvel), 1).numpy()
        errors = errors[:, :, None] - by_start @ (self.before - starts)[:, :, None]
        return torch.cat((by_logs.qpos, by_logs.qvel), 2).mT.numpy(), errors, by_start


def identify(model, unknowns, recording, most=20):
    """Find the factors by Gauss-Newton steps in their logarithms, which Levenberg and Marquardt shorten.

    Each number is known before within a factor of e (1 sigma).
    """
    began, problem, eye = time.perf_counter(), Problem(model, unknowns, recording), np.eye(len(unknowns))
    logs, starts, damping = np.zeros(len(unknowns)), problem.before, 1e-3
    jacobian, errors, by_start = problem.linearise(logs, starts)
    for iterations in range(1, most + 1):  # noqa: B007 - the last one is returned
        covariance = problem.noise + by_start @ problem.noise @ by_start.transpose(0, 2, 1)
        root = np.linalg.cholesky(covariance)
        rows, left = np.linalg.solve(root, jacobian).reshape(-1, len(logs)), np.linalg.solve(root, errors).ravel()
        curvature = rows.T @ rows + eye
        step = np.linalg.solve(curvature + damping * curvature * eye, rows.T @ left - logs)
        rest = np.linalg.solve(covariance, errors - jacobian @ step[:, None])
        moved = logs + step, problem.before + (problem.noise @ by_start.transpose(0, 2, 1) @ rest)[:, :, 0]
        ahead = problem.linearise(*moved)
        after = np.linalg.solve(root, ahead[1]).ravel()
        gained = left @ left + logs @ logs - after @ after - moved[0] @ moved[0]
        damping *= 0.1 if gained > 0 else 10
        if gained > 0:
            (logs, starts), (jacobian, errors, by_start) = moved, ahead
        if step @ curvature @ step < 0.01:  # a tenth of a standard deviation
            break
    problem.solver.close()
    values, vectors = np.linalg.eigh(curvature)
    lost, chi2 = vectors.T[values < LOST**-2], left @ left / (len(left) - len(logs))
    return Found(np.exp(logs), vectors / values @ vectors.T, lost, chi2, iterations, time.perf_counter() - began)


# -- an arm, and a puck on a table -------------------------------------------------------------------------------------


def arm():
    """An arm away from its table: seven soft servos, and dry friction in the joints."""
    spec = mujoco.MjSpec.from_file(str(assets.find("arm.xml")))
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    for k, gain in enumerate((200, 200, 200, 200, 50, 50, 50)):
        spec.joint(f"joint{k + 1}").frictionloss = 0.5
        servo = spec.actuator(f"servo{k + 1}")
        servo.gainprm[0], servo.biasprm[1:3] = gain, (-gain, -gain / 10)
    return Model.from_mjspec(spec)


def unknowns_of_the_arm(mj):
    """Masses of links with their inertias; armature, damping and friction of joints; gains of servos."""
    joints, links = range(7), [mj.body(f"link{k + 1}").id for k in range(7)]
    return [
        *(Unknown(f"mass {k + 1}", {"body_mass": (links[k],), "body_inertia": (links[k],)}) for k in joints),
        *(Unknown(f"armature {k + 1}", {"dof_armature": (k,)}) for k in joints),
        *(Unknown(f"damping {k + 1}", {"dof_damping": (k,)}) for k in joints),
        *(Unknown(f"friction {k + 1}", {"dof_frictionloss": (k,)}) for k in joints),
        *(Unknown(f"gain {k + 1}", {"actuator_gainprm": (k, 0), "actuator_biasprm": (k, slice(1, 3))}) for k in joints),
    ]


PUCK = """<mujoco>
  <option timestep="0.005" cone="elliptic" integrator="implicitfast"/>
  <worldbody>
    <light directional="true" pos="0 0 3" dir="0.3 0.4 -1"/>
    <geom type="plane" size="2 2 0.1" rgba="0.8 0.85 0.9 1"/>
    <body name="puck" pos="0 0 0.03">
      <joint name="x" type="slide" axis="1 0 0"/>
      <joint name="y" type="slide" axis="0 1 0"/>
      <joint name="z" type="slide" axis="0 0 1" stiffness="1" springref="-300"/>
      <joint name="turn" axis="0 0 1"/>
      <geom name="puck" type="cylinder" size="0.08 0.03" mass="1" friction="0.04 0 0" priority="1"/>
    </body>
  </worldbody>
  <actuator><motor joint="x"/><motor joint="y"/><motor joint="turn"/></actuator>
  <keyframe><key qvel="0 -1 0 0"/></keyframe>
</mujoco>"""


def puck():
    """A puck that slides and turns on a table."""
    return Model.from_mjcf(PUCK)


def unknowns_of_the_puck(mj):
    """Mass, moment of inertia about the axis, and the contact's coefficient of friction."""
    puck, geom = mj.body("puck").id, mj.geom("puck").id
    return [
        Unknown("mass", {"body_mass": (puck,)}),
        Unknown("inertia", {"body_inertia": (puck, 2)}),
        Unknown("friction", {"geom_friction": (geom, 0)}),
    ]


# -- recordings --------------------------------------------------------------------------------------------------------


def swings(mj, count, seed=1):
    """Return commands (count, nu) for the arm: sums of four sines around the keyframe, which begin slowly."""
    rng, t = np.random.default_rng(seed), np.arange(count)[:, None] * STEPS * mj.opt.timestep
    rates, phases = rng.uniform(0.2, 2.0, (4, 7)), rng.uniform(0, 1, (4, 7))
    commands = np.repeat(mj.key_ctrl[:1], count, axis=0)
    commands[:, :7] += 0.15 * np.minimum(t, 1) * sum(np.sin(2 * np.pi * (rates[k] * t + phases[k])) for k in range(4))
    return commands


def circles(mj, count):
    """Return commands (count, 3) that drive the puck around, so that it never rests, and turn it to and fro."""
    t = 2 * np.pi * np.arange(count) * STEPS * mj.opt.timestep
    force = 20 + 2 * np.sin(0.3 * t)
    return np.stack((force * np.cos(2 * t), force * np.sin(2 * t), 0.15 * np.sin(1.3 * t)), axis=1)


def moved_in_tumble(model, numbers, commands):
    """Return the states through which commands take the model, with other numbers, in Tumble."""
    solver, start = RigidSolver(model, num_envs=1), torch.as_tensor(np.r_[model.mj.key_qpos[0], model.mj.key_qvel[0]])
    solver.reset_to_keyframe(0)
    solver.parameters.update(numbers)
    states = [start]
    for command in commands:
        solver.step(STEPS, ctrl=command[None])
        states.append(torch.cat((solver.qpos[0], solver.qvel[0])))
    solver.close()
    return torch.stack(states).numpy()


def moved_in_mujoco(model, numbers, commands):
    """Return the same states as MuJoCo's C has them."""
    mj, data = copy.copy(model.mj), mujoco.MjData(model.mj)
    for name, rows in numbers.items():
        getattr(mj, name)[:] = rows
    mujoco.mj_setConst(mj, data)
    mujoco.mj_resetDataKeyframe(mj, data, 0)
    states = [np.r_[data.qpos, data.qvel]]
    for command in commands:
        data.ctrl = command
        mujoco.mj_step(mj, data, STEPS)
        states.append(np.r_[data.qpos, data.qvel])
    return np.array(states)


EXPERIMENTS = {"arm": (arm, unknowns_of_the_arm, swings), "puck": (puck, unknowns_of_the_puck, circles)}


# -- the program -------------------------------------------------------------------------------------------------------


def experiment(name, count=400, move=moved_in_mujoco, seed=0):
    """Return a model, its unknowns, the true factors, up to 1.6 from the model's, and a recording with them."""
    make, unknowns_of, commands_of = EXPERIMENTS[name]
    model = make()
    unknowns, commands = unknowns_of(model.mj), commands_of(model.mj, SETTLING + count)
    true = 1.6 ** np.random.default_rng(7).uniform(-1, 1, len(unknowns))
    states = move(model, scaled(model.mj, unknowns, true), commands)[SETTLING:]
    noise = np.repeat((1e-4, 1e-3), (model.mj.nq, model.mj.nv))  # m or rad; m/s or rad/s
    drawn = np.random.default_rng(seed).standard_normal(states.shape)
    return model, unknowns, true, Recording(states + drawn * noise, commands[SETTLING:], noise)


def report(name, unknowns, true, found):
    """Print what was found beside what is true."""
    print(f"{name}: {found.iterations} iterations, {found.seconds:.1f} s, chi^2 {found.chi2:.3f} per number")
    for unknown, factor, sigma, truth in zip(unknowns, found.factors, found.sigma, true, strict=True):
        print(f"  {unknown.label:<12}{factor:7.3f} +- {factor * sigma:.3f}   true {truth:6.3f}")
    for row in found.lost / np.abs(found.lost).max(axis=1, keepdims=True):
        parts = (f"{row[k]:+.2f} {unknown.label}" for k, unknown in enumerate(unknowns) if abs(row[k]) > 0.03)
        print("  not identified:", ", ".join(parts))


def save_chart(unknowns, true, found, file):
    """Draw the found factors with their error bars, and the true ones."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes, at = figure.subplots(), np.arange(len(unknowns))
    axes.errorbar(at, found.factors, found.factors * found.sigma, fmt="o", markersize=4, capsize=3, label="found")
    axes.scatter(at, true, marker="_", s=160, color="C1", label="true", zorder=3)
    axes.set_xticks(at, [unknown.label for unknown in unknowns], rotation=90, fontsize=8)
    axes.set(ylabel="over the model's number", ylim=(0, 2.2))
    axes.grid(alpha=0.3)
    axes.legend(loc="upper right")
    figure.savefig(file, dpi=90)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chart", metavar="FILE", help="draw the numbers of the arm")
    asked = parser.parse_args()
    tumble.init(precision="64")
    torch.set_num_threads(1)
    for name in EXPERIMENTS:
        model, unknowns, true, recording = experiment(name)
        found = identify(model, unknowns, recording)
        report(name, unknowns, true, found)
        if asked.chart and name == "arm":
            save_chart(unknowns, true, found, asked.chart)
