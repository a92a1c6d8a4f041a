"""Iterative LQR (Tassa, Erez and Todorov, 2012; limits of controls: Tassa, Mansard and Todorov, 2014).

A trajectory is improved by the best feedback law of the problem that is linear and quadratic about it. Two solvers do
the work: one has the states of all times as its environments, for all Jacobians in one call; the other has the step
sizes of the line search as its environments.
"""

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from tumble.physics import Model, RigidSolver


@dataclass
class Cost:
    """The sum over time of |state - state_ref|^2 and |control - control_ref|^2, with weights, halved.

    Attributes:
        state: weights of the state's tangent, (2 nv,) or (horizon, 2 nv), at all times but the last.
        end: those at the last.
        control: weights of controls, (nu,).
        state_ref: where states should be (nq + nv,), or (horizon + 1, nq + nv).
        control_ref: what controls should be (nu,), or (horizon, nu).
    """

    state: np.ndarray
    end: np.ndarray
    control: np.ndarray
    state_ref: np.ndarray
    control_ref: np.ndarray


@dataclass
class Plan:
    """A trajectory and its feedback.

    Attributes:
        states: (horizon + 1, nq + nv).
        controls: (horizon, nu).
        gains: of the feedback, (horizon, nu, 2 nv).
        cost: of the trajectory.
    """

    states: np.ndarray
    controls: np.ndarray
    gains: np.ndarray
    cost: float


class Dynamics:
    """Periods of `n` steps of a model, and their derivatives; states are rows of qpos and qvel."""

    def __init__(self, model: Model, horizon: int, trials: int, n: int) -> None:
        self.model, self.nq, self.horizon, self.trials, self.n = model, int(model.mj.nq), horizon, trials, n
        # the place of the quaternion in qpos, if the root is free
        self.quaternion = 3 if model.mj.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE else None
        self.low, self.high = model.mj.actuator_ctrlrange.T
        self.ahead = RigidSolver(model, trials)  # an environment for each step size
        self.along = RigidSolver(model, horizon)  # one for each time

    def begin(self, states: np.ndarray) -> np.ndarray:
        """Put all trials into one state, or each into its own; return their states."""
        states = np.broadcast_to(states, (self.trials, states.shape[-1]))
        self.ahead.set_state(states[:, : self.nq], states[:, self.nq :])
        return states

    def step(self, controls: np.ndarray) -> np.ndarray:
        """Take a period with all trials; return their states."""
        self.ahead.step(self.n, controls)
        return self.ahead.state.coordinates().numpy()

    def jacobians(self, states: np.ndarray, controls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return A (times, 2 nv, 2 nv) and B (times, 2 nv, nu) along a trajectory."""
        self.along.set_state(states[:, : self.nq], states[:, self.nq :])
        self.along.ctrl = controls
        by_state, by_control = self.along.gradients.transition(n=self.n)
        return by_state.numpy(), by_control.numpy()

    def difference(self, states: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the tangents that lead from `others` to states, (..., 2 nv)."""
        found, at = states - others, self.quaternion
        if at is None:
            return found
        (w, v), (a, b) = ((x[..., at : at + 1], x[..., at + 1 : at + 4]) for x in (others, states))
        cosine, sine = w * a + (v * b).sum(-1, keepdims=True), w * b - a * v - np.cross(v, b)
        length = np.linalg.norm(sine, axis=-1, keepdims=True)
        turn = 2 * np.arctan2(length, np.abs(cosine)) / np.maximum(length, 1e-12) * np.sign(cosine) * sine
        return np.concatenate((found[..., :at], turn, found[..., at + 4 :]), -1)


class Ilqr:
    """Plans for a model from a state.

    Args:
        dynamics: the steps of the model.
        cost: what is to be small.
    """

    def __init__(self, dynamics: Dynamics, cost: Cost) -> None:
        self.dynamics, self.cost, self.damping = dynamics, cost, 1e-6
        self.sizes = 1.1 ** -(np.arange(float(dynamics.trials)) ** 2)  # of steps, tried all at once

    def begin(self, state: np.ndarray, controls: np.ndarray) -> Plan:
        """Return what happens from a state under some controls."""
        states, gains = np.repeat(state[None], len(controls) + 1, 0), np.zeros((*controls.shape, len(self.cost.end)))
        return self._follow(Plan(states, controls, gains, np.inf), state)

    def improve(self, plan: Plan) -> Plan:
        """Return a better plan; the same, with more damping for the next time, if none was found."""
        changes, gains = self.law(plan)
        better = self._follow(replace(plan, gains=gains), plan.states[0], changes)
        if better.cost < plan.cost:
            self.damping = max(self.damping / 4, 1e-9)
            return better
        self.damping = max(self.damping * 8, 1e-6)
        return plan

    def later(self, plan: Plan, state: np.ndarray) -> Plan:
        """Return the plan a period later, from the state that was found then."""
        rows = (np.concatenate((part[1:], part[-1:])) for part in (plan.states, plan.controls, plan.gains))
        return self._follow(Plan(*rows, plan.cost), state)

    def law(self, plan: Plan) -> tuple[np.ndarray, np.ndarray]:
        """Return changes of controls, and gains: Riccati's recursion from the last time to the first."""
        cost, dynamics = self.cost, self.dynamics
        by_state, by_control = dynamics.jacobians(plan.states[:-1], plan.controls)
        off, push = dynamics.difference(plan.states, cost.state_ref), plan.controls - cost.control_ref
        weights = np.broadcast_to(cost.state, (len(push), len(cost.end)))
        changes, gains = np.zeros_like(plan.controls), np.zeros_like(plan.gains)
        slope, curve = cost.end * off[-1], np.diag(cost.end)  # of the cost to go
        for t in reversed(range(len(changes))):
            a, b, u = by_state[t], by_control[t], plan.controls[t]
            heavy = curve @ b
            q_x, q_u = weights[t] * off[t] + a.T @ slope, cost.control * push[t] + b.T @ slope
            q_ux = heavy.T @ a
            q_uu = np.diag(cost.control) + b.T @ heavy
            damped = q_uu + self.damping * b.T @ b
            change, free = minimum_in_box(damped, q_u, dynamics.low - u, dynamics.high - u)
            gain = np.zeros_like(gains[t])
            gain[free] = -np.linalg.solve(damped[np.ix_(free, free)], (q_ux + self.damping * b.T @ a)[free])
            slope = q_x + gain.T @ (q_uu @ change + q_u) + q_ux.T @ change
            curve = np.diag(weights[t]) + a.T @ curve @ a + gain.T @ q_uu @ gain + gain.T @ q_ux + q_ux.T @ gain
            curve = (curve + curve.T) / 2
            changes[t], gains[t] = change, gain
        return changes, gains

    def _follow(self, plan: Plan, start: np.ndarray, changes: np.ndarray | float = 0.0) -> Plan:
        """Return what happens from a start by a plan's law, its controls changed: the best of all step sizes."""
        dynamics, cost = self.dynamics, self.cost
        states = np.empty((len(plan.states), dynamics.trials, plan.states.shape[1]))
        controls = np.empty((len(plan.controls), dynamics.trials, plan.controls.shape[1]))
        states[0] = dynamics.begin(start)
        for t, change in enumerate(np.broadcast_to(changes, plan.controls.shape)):
            back = dynamics.difference(states[t], plan.states[t]) @ plan.gains[t].T
            u = plan.controls[t] + self.sizes[:, None] * change + back
            controls[t] = np.clip(u, dynamics.low, dynamics.high)
            states[t + 1] = dynamics.step(controls[t])
        off = dynamics.difference(states, _by_time(cost.state_ref)) ** 2
        push = (controls - _by_time(cost.control_ref)) ** 2
        costs = ((off[:-1] * _by_time(cost.state)).sum(2) + push @ cost.control).sum(0) / 2 + off[-1] @ cost.end / 2
        best = int(np.nanargmin(costs))
        return Plan(states[:, best], controls[:, best], plan.gains, float(costs[best]))


def _by_time(rows: np.ndarray) -> np.ndarray:
    """Return rows of all times, or one for each, beside those of trials."""
    return rows[:, None] if rows.ndim == 2 else rows


def minimum_in_box(matrix: np.ndarray, slope: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple:
    """Return where x'Mx / 2 + slope x is least between bounds, and which x are free: by projected Newton steps."""
    x, free = np.zeros_like(slope), np.full(len(slope), True)
    for _ in range(10):
        down = -(matrix @ x + slope)
        at_bound = ((x <= low) & (down < 0)) | ((x >= high) & (down > 0))
        free = ~at_bound
        x_new = x.copy()
        x_new[free] += np.linalg.solve(matrix[np.ix_(free, free)], down[free])
        x_new = np.clip(x_new, low, high)
        if np.array_equal(x_new, x) or np.abs(x_new - x).max() < 1e-10:
            break
        x = x_new
    return x, free
