"""Parity of a file that somebody else wrote: one evaluation and one step, in double precision, from some states."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from tumble.physics.model.loading import check_supported, load_mjcf

from .compare import tolerance_of
from .reference import States
from .run import Report, perturbed, run_parity
from .subjects import StandIn, Subject, Tumble

EXACT = {"ccd_tolerance": 1e-12, "ccd_iterations": 500}
"""Options of GJK and EPA on both sides."""
TWINS, MOVED = 8, 1e-10
"""Runs of MuJoCo from states whose numbers are moved by so much of themselves. Where flat sides lie on each other it
has other contacts there: in such a state it does not judge (docs/pairs.md)."""

STILL = "nothing moves"


class Proof(NamedTuple):
    """How a model compares with MuJoCo.

    Attributes:
        states: that were compared; 0: `why` says why not.
        undecided: those in which MuJoCo differs as much from itself.
        differing: those in which Tumble alone differs from it.
        worst: quantities beyond their tolerance in these, with the largest relative error.
        why: what prevented the comparison.
    """

    states: int
    undecided: int = 0
    differing: int = 0
    worst: dict[str, float] = {}  # noqa: RUF012
    why: str = ""


class Twin(StandIn):
    """MuJoCo from moved states."""

    def __init__(self, mjm: mujoco.MjModel, count: int, seed: int):
        super().__init__(mjm, count)
        self.seed = seed

    def load(self, states: States) -> None:
        """Keep the moved states."""
        super().load(perturbed(states, MOVED, self.seed))


def prove(path: Path, states: int) -> Proof:
    """Compare a file that Tumble loads with MuJoCo, by its own integrator."""
    mjm = check_supported(load_mjcf(path))[0].mjm
    if mjm.nv == 0:
        return Proof(0, why=STILL)
    for name, value in EXACT.items():
        setattr(mjm.opt, name, value)
    integrator = mujoco.mjtIntegrator(mjm.opt.integrator).name.removeprefix("mjINT_")

    def report(make: Callable[[mujoco.MjModel, int], Subject]) -> Report:
        return run_parity(path.name, mjm, make, "64", states, integrators=(integrator,), wild=True)

    try:
        ours = report(Tumble)
    except RuntimeError as error:  # no sane states
        return Proof(0, why=str(error))
    beyond = _beyond(ours)
    if not beyond:
        return Proof(states)
    unsteady = np.zeros(states, dtype=bool)
    for seed in range(TWINS):
        for wrong in _beyond(report(lambda mjm, count, seed=seed: Twin(mjm, count, seed))).values():
            unsteady |= wrong
    differs = np.any(list(beyond.values()), axis=0)
    errors = {name: ours.tally.errors[name][wrong & ~unsteady] for name, wrong in beyond.items()}
    worst = {name: float(error.max()) for name, error in errors.items() if error.size}
    return Proof(states, int((differs & unsteady).sum()), int((differs & ~unsteady).sum()), worst)


def _beyond(report: Report) -> dict[str, np.ndarray]:
    """Masks of the states in which a quantity is beyond its tolerance, where there are any."""
    found = {}
    for name, errors in report.tally.errors.items():
        wrong = np.nan_to_num(errors, nan=0.0, posinf=np.inf) > tolerance_of(name, report.precision)
        if wrong.any():
            found[name] = wrong
    return found
