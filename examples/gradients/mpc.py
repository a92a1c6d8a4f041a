"""Model predictive control of a quadruped: one iteration of iLQR every 20 ms, over the next 0.32 s.

The cost asks for a path, an upright trunk and feet that leave the ground in the order of a trot. How the legs push is
found by the derivatives through the contacts.
"""

import argparse
import time
from typing import NamedTuple

import numpy as np
import torch
from draw import in_one_place
from ilqr import Cost, Dynamics, Ilqr
from in_mujoco import InMujoco

import tumble
from tumble import assets
from tumble.physics import Model
from tumble.physics.rendering import Camera, save_png

STEPS, HORIZON, TRIALS = 4, 16, 8  # physics steps of 5 ms a period, periods ahead, step sizes
PERIOD = 0.02
STRIDE = 0.5  # s from lift to lift of a foot
LIFT = np.array([0.0, 0.35, -0.7])  # rad of hip, thigh and calf: how a leg in the air is bent
PAIRS = np.array([0.0, 0.5, 0.5, 0.0])  # of a stride: front left, front right, rear left, rear right
PLACE, TURN, JOINTS = [40.0, 40.0, 40.0], [20.0, 20.0, 10.0], [1.0, 0.3, 0.3] * 4
SPEED, SPIN, RATES = [4.0, 4.0, 1.0], [0.3, 0.3, 0.5], [0.004] * 12
WEIGHTS = np.array([*PLACE, *TURN, *JOINTS, *SPEED, *SPIN, *RATES])


def path(seconds: float, speed: float, turning: float) -> np.ndarray:
    """Return where the robot is commanded to be at each period: x, y (m), heading (rad) and speeds along x and y."""
    times = PERIOD * np.arange(round(seconds / PERIOD) + HORIZON + 1)
    heading = turning * np.maximum(times - seconds / 2, 0.0)  # straight ahead, then a curve
    ramp = np.minimum(times, 1.0) * speed
    speeds = ramp[:, None] * np.stack((np.cos(heading), np.sin(heading)), 1)
    places = np.cumsum(PERIOD * speeds, 0) - PERIOD * speeds
    return np.column_stack((places, heading, speeds))


def references(model: Model, rows: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return states and controls, from rows of a path: a trot on the spot, moved along."""
    states = np.zeros((len(rows), 37))
    states[:, :19] = model.mj.key_qpos[0]
    states[:, :2], states[:, 19:21] = rows[:, :2], rows[:, 3:]
    states[:, 3], states[:, 6] = np.cos(rows[:, 2] / 2), np.sin(rows[:, 2] / 2)
    swing = np.sin(2 * np.pi * (times[:, None] / STRIDE + PAIRS))  # (times, legs), above 0 in the air
    states[:, 7:19] += (np.maximum(swing, 0.0)[:, :, None] * LIFT).reshape(-1, 12)
    return states, states[:-1, 7:19]


class Walk(NamedTuple):
    """A walk, and how long its plans took.

    Attributes:
        model: of the robot.
        states: (periods + 1, nq + nv).
        controls: (periods, nu), rad.
        path: where it was commanded to be, as of `path`.
        seconds: of a core, for each plan.
    """

    model: Model
    states: np.ndarray
    controls: np.ndarray
    path: np.ndarray
    seconds: np.ndarray


def walk(
    seconds: float = 8.0,
    speed: float = 0.8,
    turning: float = 0.4,
    push: tuple[float, float] = (2.5, 1.0),
    world: type[Dynamics] = Dynamics,
    planned_in: type[Dynamics] = Dynamics,
) -> Walk:
    """Walk by a new plan each period.

    Args:
        seconds: how long.
        speed: m/s, reached after a second.
        turning: rad/s, in the second half.
        push: when it comes, s, and the speed that it gives the trunk to the left, m/s.
        world: what the robot walks in.
        planned_in: what it plans in.
    """
    model = Model.from_mjcf(str(assets.find("quadruped.xml")))
    way = path(seconds, speed, turning)
    cost = Cost(WEIGHTS, WEIGHTS, np.full(12, 0.3), *references(model, way[: HORIZON + 1], np.zeros(HORIZON + 1)))
    planner, real = Ilqr(planned_in(model, HORIZON, TRIALS, STEPS), cost), world(model, 1, 1, STEPS)
    state = real.begin(np.concatenate((model.mj.key_qpos[0], np.zeros(18))))[0]
    plan = planner.begin(state, cost.control_ref)
    planner.law(plan)  # compiles
    states, controls, spent = [state], [], []
    for k in range(round(seconds / PERIOD)):
        begun, ahead = time.process_time(), np.arange(k, k + HORIZON + 1)
        cost.state_ref, cost.control_ref = references(model, way[ahead], PERIOD * ahead)
        plan = planner.improve(planner.later(plan, state) if k else plan)
        spent.append(time.process_time() - begun)
        controls.append(plan.controls[0])
        state = real.step(plan.controls[:1])[0]
        if k + 1 == round(push[0] / PERIOD):
            state = state + push[1] * (np.arange(len(state)) == 20)
            real.begin(state)
        states.append(state)
    return Walk(model, np.stack(states), np.stack(controls), way, np.array(spent))


def report(walked: Walk) -> None:
    """Print how it went."""
    places, seconds = walked.states[:, :2], PERIOD * len(walked.controls)
    length = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
    off = np.linalg.norm(places - walked.path[: len(places), :2], axis=1)
    w, _, _, z = walked.states[:, 3:7].T
    turned = np.abs(2 * np.arctan2(z, w) - walked.path[: len(places), 2]).max()
    up = 1 - 2 * (walked.states[:, 4:6] ** 2).sum(1).max()
    print(f"walked {length:.2f} m in {seconds:.0f} s, at most {off.max():.2f} m and {turned:.2f} rad off its path")
    print(f"its trunk was at least {walked.states[:, 2].min():.2f} m high, and {up:.3f} upright")
    plan = walked.seconds.mean()
    print(f"a plan takes {1000 * plan:.1f} ms of a core: {PERIOD / plan:.2f} of real time")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--speed", type=float, default=0.8, help="m/s")
    parser.add_argument("--turning", type=float, default=0.4, help="rad/s, in the second half")
    parser.add_argument("--beside", action="store_true", help="plan in MuJoCo, with mjd_transitionFD")
    parser.add_argument("--picture", default="", help="file of a picture of every second")
    arguments = parser.parse_args()
    tumble.init(precision="64", threads=1)
    torch.set_num_threads(1)  # threads that wait for so little work only spin
    planned_in = InMujoco if arguments.beside else Dynamics
    walked = walk(arguments.seconds, arguments.speed, arguments.turning, planned_in=planned_in)
    report(walked)
    if arguments.picture:
        camera = Camera(distance=5.5, azimuth=64, elevation=-24, lookat=(2.45, 0.8, 0.1), fovy=32, trackbodyid=-1)
        save_png(arguments.picture, in_one_place(walked.model, walked.states[50::50], camera, 770, 300))
