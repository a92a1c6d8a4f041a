"""iLQR swings up an acrobot and catches a hopper; feedback brings both there from disturbed starts, too."""

import argparse
import time

import mujoco
import numpy as np
import torch
from draw import moments
from ilqr import Cost, Dynamics, Ilqr, Plan
from in_mujoco import InMujoco

import tumble
from tumble import assets
from tumble.physics import Model
from tumble.physics.rendering import Camera, save_png

TRIALS = 16  # step sizes of a line search; copies of the robot that are played afterwards
DISTURBANCE = 0.02  # m, rad, m/s and rad/s


def load(name: str) -> Model:
    """Return a model, with Euler's integrator: mjd_transitionFD, for comparison, knows no Runge-Kutta."""
    spec = mujoco.MjSpec.from_file(str(assets.find(name)))
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    if name == "suite_acrobot.xml":
        spec.actuators[0].gear[0] = 4.0  # N m, twice the suite's: that could only hold a tilt of 2.4 degrees
    return Model.from_mjspec(spec)


def acrobot(dynamics: type[Dynamics] = Dynamics) -> tuple[Ilqr, np.ndarray]:
    """Return a planner over 6 s, and where the arms hang; both angles are 0 upright."""
    upright = np.zeros(4)
    cost = Cost(
        state=np.zeros(4),
        end=np.array([100.0, 100.0, 10.0, 10.0]),
        control=np.array([0.02]),
        state_ref=upright,
        control_ref=np.zeros(1),
    )
    return Ilqr(dynamics(load("suite_acrobot.xml"), 150, TRIALS, 4), cost), np.array([np.pi, 0.0, 0.0, 0.0])


def hopper(dynamics: type[Dynamics] = Dynamics) -> tuple[Ilqr, np.ndarray]:
    """Return a planner over 1.5 s, and where the hopper is thrown: 0.15 m high, leaning back, backwards at 1 m/s."""
    stand = np.array([0.0, 1.184, 0.0, -0.1, -0.2, 0.3, *np.zeros(6)])
    weights = np.array([1.0, 10.0, 10.0, 1.0, 1.0, 1.0, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01])
    cost = Cost(state=weights, end=10 * weights, control=np.full(3, 0.01), state_ref=stand, control_ref=np.zeros(3))
    start = stand + np.array([0.0, 0.15, -0.3, -0.3, -0.3, -0.2, -1.0, *np.zeros(5)])
    return Ilqr(dynamics(load("hopper.xml"), 150, TRIALS, 5), cost), start


def solve(planner: Ilqr, start: np.ndarray, most: int = 100) -> tuple[Plan, list[float]]:
    """Return a plan, and its cost after each iteration."""
    plan = planner.begin(start, np.zeros((planner.dynamics.horizon, len(planner.dynamics.low))))
    costs, begun = [plan.cost], time.process_time()
    while len(costs) <= most and planner.damping < 1e6:
        plan = planner.improve(plan)
        costs.append(plan.cost)
        if plan.cost < costs[-2] < 1.0002 * plan.cost:
            break
    seconds = time.process_time() - begun
    print(f"  {len(costs) - 1} iterations, cost {costs[0]:.1f} to {costs[-1]:.2f}, {seconds:.2f} s of a core")
    return plan, costs


def rest(planner: Ilqr, plan: Plan) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a state at which the robot rests, the control there, and the gain that holds it there."""
    cost = planner.cost
    if cost.state.any():  # it rests most of the time
        middle = len(plan.controls) // 2
        return plan.states[middle], plan.controls[middle], plan.gains[middle]
    state, control, weights = cost.state_ref, cost.control_ref, cost.end / 100
    still = Ilqr(planner.dynamics, Cost(weights, weights, np.array([10.0]), state, control))
    rows = [part[None].repeat(planner.dynamics.horizon + 1, 0) for part in (state, control)]
    _, gains = still.law(Plan(rows[0], rows[1][1:], plan.gains, np.inf))
    return state, control, gains[0]


def play(dynamics: Dynamics, plan: Plan, held: tuple, starts: np.ndarray, periods: int) -> np.ndarray:
    """Follow a plan with its feedback, then hold a state; return states (periods + 1, trials, nq + nv)."""
    states = [dynamics.begin(starts)]
    for t in range(periods):
        follow = t < len(plan.controls)
        state, control, gain = (plan.states[t], plan.controls[t], plan.gains[t]) if follow else held
        u = control + dynamics.difference(states[-1], state) @ gain.T
        states.append(dynamics.step(np.clip(u, dynamics.low, dynamics.high)))
    return np.stack(states)


def standing(dynamics: Dynamics, states: np.ndarray, held: tuple) -> int:
    """Return how many robots are near where they should be (m, rad), and still."""
    off, speed = np.split(np.abs(dynamics.difference(states, held[0])), 2, axis=1)[0], np.abs(states[:, dynamics.nq :])
    return int(((off < 0.15).all(1) & (speed < 0.01).all(1)).sum())


VIEWS = {
    "acrobot": (Camera(distance=6.6, azimuth=90, elevation=-3, lookat=(0, 0, 2.05), fovy=39), np.arange(0, 151, 25)),
    "hopper": (
        Camera(distance=3.2, azimuth=90, elevation=-8, lookat=(-0.15, 0, 0.72), fovy=36, trackbodyid=-1),
        np.array([0, 8, 16, 24, 32, 50, 75]),
    ),
}
"""Where pictures are taken from, and after which periods."""


def main(beside: bool, picture: str, curves: str) -> None:
    """Plan and play both; draw pictures of the plans, and curves of costs by iteration, into files."""
    strips, costs = [], {}
    for robot in acrobot, hopper:
        name, (planner, start) = robot.__name__, robot()
        print(name)
        planner.law(planner.begin(start, np.zeros((planner.dynamics.horizon, len(planner.dynamics.low)))))  # compiles
        plan, costs[name] = solve(planner, start)
        if beside:
            print("  by mj_step and mjd_transitionFD:", end="")
            _, costs[f"{name}, differences"] = solve(*robot(InMujoco))
        held = rest(planner, plan)
        starts = start + DISTURBANCE * np.random.default_rng(0).standard_normal((TRIALS, len(start)))
        states = play(planner.dynamics, plan, held, starts, 2 * planner.dynamics.horizon)
        count = standing(planner.dynamics, states[-1], held)
        print(f"  {count} of {TRIALS} stand still, from starts off by {DISTURBANCE}")
        if picture:
            camera, periods = VIEWS[name]
            strips.append(moments(planner.dynamics.model, plan.states[periods], camera, 110, 150))
    if picture:
        save_png(picture, torch.cat(strips))
    if curves:
        draw_costs(costs, curves)


def draw_costs(costs: dict[str, list[float]], file: str) -> None:
    """Draw costs by iteration."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(7.7, 2.2), layout="constrained")
    for name, row in costs.items():
        axis = axes[int(name.startswith("hopper"))]
        axis.semilogy(row, label=name, linestyle=":" if "differences" in name else "-")
        axis.set_xlabel("iteration")
        axis.legend(frameon=False)
    axes[0].set_ylabel("cost")
    figure.savefig(file, dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--beside", action="store_true", help="solve with MuJoCo's steps and derivatives, too")
    parser.add_argument("--picture", default="", help="file of a picture of both")
    parser.add_argument("--curves", default="", help="file of curves of costs")
    arguments = parser.parse_args()
    tumble.init(precision="64", threads=1)
    torch.set_num_threads(1)  # threads that wait for so little work only spin
    main(arguments.beside, arguments.picture, arguments.curves)
