"""Parity of a file that somebody else wrote: one evaluation and one step, in double precision, from some states."""

from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

from tumble.physics.model.loading.loading import check_supported, load_mjcf

from ..test_convex_pairs import gap_along
from .compare import tolerance_of
from .reference import Contact, States, contacts_of, is_elliptic, put, reference_model
from .run import Report, perturbed, run_parity, settings_of
from .states import sample
from .subjects import StandIn, Subject, Tumble

EXACT = {"ccd_tolerance": 1e-12, "ccd_iterations": 500}
"""Options of GJK and EPA on both sides."""
TWINS, MOVED = 8, 1e-10
"""Runs of MuJoCo from states whose numbers are moved by so much of themselves. Where flat sides lie on each other it
has other contacts there: in such a state it does not judge (docs/reference/pairs.md)."""
EXACTER = {"ccd_tolerance": 1e-16, "ccd_iterations": 2000}
"""Options of one more run of MuJoCo: what its search for contacts has not found to the last digit."""
AS_MUCH = 10
"""MuJoCo does not judge a state in which Tumble is at most so many times as far from it as its own runs are: of nine
runs the farthest is not the farthest there could be."""

CONTACTS = frozenset(("contact_dist", "contact_pos", "contact_frame", "contact_set"))
"""What of contacts is compared."""
LEAST = 1e-11
"""m: an overlap that is smaller by so much is smaller, with a search for contacts that stops at 1e-12."""

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
        proven: states that differ in which the overlap along Tumble's normals is the smaller one; shapes are as deep in
            each other as they overlap along the normal along which they overlap least, so MuJoCo's is not the one.
    """

    states: int
    undecided: int = 0
    differing: int = 0
    worst: dict[str, float] = {}  # noqa: RUF012
    why: str = ""
    beyond: tuple[str, ...] = ()
    proven: int = 0


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
    proven = _proven(mjm, states, np.flatnonzero(differs)) if not CONTACTS.isdisjoint(causes) else 0
    return Proof(states, int((wrong & ~differs).sum()), int(differs.sum()), worst, beyond=causes, proven=proven)


def _proven(mjm: mujoco.MjModel, count: int, which: np.ndarray) -> int:
    """In how many of these states Tumble's normals prove smaller overlaps than MuJoCo's (`Proof.proven`)."""
    model = reference_model(mjm, **settings_of(mjm))
    states, subject, data = sample(model, count, wild=True), Tumble(model, count), mujoco.MjData(model)
    subject.load(states)
    subject.forward()
    found = 0
    for i in which:
        put(model, data, states, i)
        mujoco.mj_forward(model, data)
        found += smaller_overlap(model, data, subject.inspect(i)["contacts"], contacts_of(data, is_elliptic(model)))
    return found


def smaller_overlap(mjm: mujoco.MjModel, data: mujoco.MjData, mine: list[Contact], yours: list[Contact]) -> bool:
    """Whether normals of `mine` prove smaller overlaps of some geoms than those of `yours`, and larger ones of none."""
    pairs = {contact.geom for contact in yours}
    if pairs != {contact.geom for contact in mine}:
        return False

    def gap(pair: tuple[int, int], contacts: list[Contact]) -> float:
        normals = [contact.frame[:3] for contact in contacts if contact.geom == pair]
        return max(gap_along(mjm, data, np.array(pair), normal) for normal in normals)

    known = [pair for pair in pairs if not np.any(mjm.geom_type[list(pair)] == int(mujoco.mjtGeom.mjGEOM_HFIELD))]
    gain = np.array([gap(pair, mine) - gap(pair, yours) for pair in known])
    return bool(np.all(gain >= -LEAST) and np.any(gain > LEAST))


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
