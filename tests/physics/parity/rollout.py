"""Rollouts without re-sync: Tumble's error growth against MuJoCo's own sensitivity to rounding.

From every start MuJoCo runs once as the reference and once more for each of eight twins whose qpos is perturbed by
the precision's epsilon; Tumble runs from the reference's start under the same controls. At every 50th step the median
over the starts of Tumble's distance to the reference must stay within ten times the median spread of the twins. Where
motion is damped the twins run together again, below what the precision can represent of the state (MuJoCo itself, with
its state rounded to float32 after each step, then leaves the tenfold spread of a damped pendulum); so the spread
counts as at least the epsilon of the state. A start counts until MuJoCo, or one of its twins, diverges and begins anew.
"""

from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from .reference import States, put, reference_model
from .run import settings_of
from .states import random_ctrl, sample
from .subjects import Subject

TWINS, STEPS, EVERY, STARTS, WITHIN = 8, 500, 50, 50, 10.0
EPSILON = {"32": 1.2e-7, "64": 2.3e-16}
_W = mujoco.mjtWarning
_DIVERGED = (_W.mjWARN_BADQPOS, _W.mjWARN_BADQVEL, _W.mjWARN_BADQACC)


@dataclass(frozen=True)
class Rollout:
    """Distances at every 50th step: ``error`` and ``spread`` (checkpoints,), medians over the starts."""

    error: np.ndarray
    spread: np.ndarray

    @property
    def ratio(self) -> float:
        """The largest error in units of the twins' spread."""
        return float(np.nanmax(self.error / self.spread))


def rollout(
    mjm: mujoco.MjModel, make: Callable[[mujoco.MjModel, int], Subject], precision: str, seed: int = 0
) -> Rollout:
    """Roll a subject and MuJoCo out from `STARTS` states along random controls; compare qpos.

    Args:
        mjm: the model, with its own integrator.
        make: (model, number of environments) -> subject.
        precision: of the subject.
        seed: of starts, controls and twins.
    """
    mjm = reference_model(mjm, **settings_of(mjm))
    rng = np.random.default_rng(seed)
    starts = sample(mjm, STARTS, seed)
    if precision == "32":
        starts = States(*(np.float64(np.float32(a)) for a in starts.parts))
    # controls are held for ten steps, as an environment with a frame skip does
    ctrl = np.array([[random_ctrl(mjm, rng) for _ in range(STARTS)] for _ in range(STEPS // 10)])
    ctrl = np.float64(np.float32(ctrl)).reshape(STEPS // 10, STARTS, mjm.nu)
    reference = _mujoco(mjm, starts, starts.qpos, ctrl)
    spreads = []
    for _ in range(TWINS):
        scale = np.maximum(1.0, np.abs(starts.qpos))
        moved = starts.qpos + EPSILON[precision] * scale * rng.uniform(-1, 1, starts.qpos.shape)
        spreads.append(_distance(_mujoco(mjm, starts, moved, ctrl), reference))
    subject = make(mjm, STARTS)
    subject.load(starts)
    ours = []
    for k, held in enumerate(ctrl):
        subject.control(held)
        for _ in range(10):
            qpos, _ = subject.step()
        if (k + 1) * 10 % EVERY == 0:
            ours.append(np.array(qpos))
    error = _distance(np.array(ours), reference)
    least = EPSILON[precision] * np.linalg.norm(reference, axis=2)
    spread = np.maximum(np.max(spreads, axis=0), least)
    diverged = np.isnan(spread)
    if diverged[0].any():
        raise RuntimeError(f"MuJoCo diverges within {EVERY} steps")
    lasting = ~diverged.all(axis=1)
    error[diverged] = np.nan
    return Rollout(np.nanmedian(error[lasting], axis=1), np.nanmedian(spread[lasting], axis=1))


def _mujoco(mjm: mujoco.MjModel, starts: States, qpos: np.ndarray, ctrl: np.ndarray) -> np.ndarray:
    """Return MuJoCo's qpos at every 50th step; (checkpoints, starts, nq), NaN where it has diverged and begun anew."""
    out = np.full((STEPS // EVERY, len(qpos), mjm.nq), np.nan)
    data = mujoco.MjData(mjm)
    for i in range(len(qpos)):
        put(mjm, data, starts, i)
        data.qpos[:] = qpos[i]
        for t in range(STEPS):
            if t % 10 == 0:
                data.ctrl[:] = ctrl[t // 10, i]
            mujoco.mj_step(mjm, data)
            if any(data.warning[kind].number for kind in _DIVERGED):
                break
            if (t + 1) % EVERY == 0:
                out[(t + 1) // EVERY - 1, i] = data.qpos
    return out


def _distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the Euclidean distance in qpos; (checkpoints, starts)."""
    return np.linalg.norm(a - b, axis=2)
