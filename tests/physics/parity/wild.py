"""Parity of a file that somebody else wrote: one evaluation and one step, in double precision, from some states."""

from collections.abc import Callable
from copy import copy
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
EXACTER = {"ccd_tolerance": 1e-16, "ccd_iterations": 2000}
"""Options of one more run of MuJoCo: what its search for contacts has not found to the last digit."""
AS_MUCH = 10
"""MuJoCo does not judge a state in which Tumble is at most so many times as far from it as its own runs are: of nine
runs the farthest is not the farthest there could be."""

STILL = "nothing moves"


class Proof(NamedTuple):
    """How a model compares with MuJoCo.

    Attributes:
        states: that were compared; 0: `why` says why not.
        undecided: those in which MuJoCo differs as much from itself.
        differing: those in which Tumble alone differs from it.
        worst: quantities beyond their tolerance in these, with the largest relative error.
        why: what prevented the comparison.
        beyond: quantities beyond their tolerance in the states that differ, also where MuJoCo differs as much from
            itself: what the others may follow from.
    """

    states: int
    undecided: int = 0
    differing: int = 0
    worst: dict[str, float] = {}  # noqa: RUF012
    why: str = ""
    beyond: tuple[str, ...] = ()


class Twin(StandIn):
    """MuJoCo from moved states, or, without a seed, from these with options EXACTER."""

    def __init__(self, mjm: mujoco.MjModel, count: int, seed: int | None):
        super().__init__(_with_options(mjm, EXACTER) if seed is None else mjm, count)
        self.seed = seed

    def load(self, states: States) -> None:
        """Keep the states."""
        super().load(states if self.seed is None else perturbed(states, MOVED, self.seed))


def prove(path: Path, states: int, exact: bool = True) -> Proof:
    """Compare a file that Tumble loads with MuJoCo, by its own integrator.

    Args:
        path: of the file.
        states: how many to compare in.
        exact: search for contacts with `EXACT` on both sides, not with the file's options, MuJoCo's defaults in most.
    """
    mjm = _with_options(check_supported(load_mjcf(path))[0].mjm, EXACT if exact else {})
    if mjm.nv == 0:
        return Proof(0, why=STILL)
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
    twins = [report(lambda mjm, count, seed=seed: Twin(mjm, count, seed)) for seed in (*range(TWINS), None)]
    wrong = np.any(list(beyond.values()), axis=0)
    alone = {name: mask & (_errors(ours, name) > AS_MUCH * _spread(twins, name)) for name, mask in beyond.items()}
    differs = np.any(list(alone.values()), axis=0)
    worst = {name: float(_errors(ours, name)[mask].max()) for name, mask in alone.items() if mask.any()}
    causes = tuple(name for name, mask in beyond.items() if (mask & differs).any())
    return Proof(states, int((wrong & ~differs).sum()), int(differs.sum()), worst, beyond=causes)


def _with_options(mjm: mujoco.MjModel, options: dict[str, float]) -> mujoco.MjModel:
    """A copy of a model with other options."""
    mjm = copy(mjm)
    for name, value in options.items():
        setattr(mjm.opt, name, value)
    return mjm


def _errors(report: Report, name: str) -> np.ndarray:
    """Relative errors of a quantity by state; 0 where it was not compared."""
    return np.nan_to_num(report.tally.errors[name], nan=0.0, posinf=np.inf)


def _spread(twins: list[Report], name: str) -> np.ndarray:
    """How far MuJoCo is from itself in a quantity, by state; infinitely where its constraints are others (NaN)."""
    return np.max([np.nan_to_num(twin.tally.errors[name], nan=np.inf, posinf=np.inf) for twin in twins], axis=0)


def _beyond(report: Report) -> dict[str, np.ndarray]:
    """Masks of the states in which a quantity is beyond its tolerance, where there are any."""
    masks = {name: _errors(report, name) > tolerance_of(name, report.precision) for name in report.tally.errors}
    return {name: mask for name, mask in masks.items() if mask.any()}
