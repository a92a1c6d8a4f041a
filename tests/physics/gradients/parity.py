"""Compare derivatives of steps with differences of MuJoCo in every model; write docs/reference/gradients_parity.md.

    python -m tests.physics.gradients.parity --write docs/reference/gradients_parity.md

Models that the file beside the page has already are not compared again. Exit status 1 if anything is beyond its bound.
"""

import argparse
import csv
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from tumble.physics import Model, RigidSolver

from ...compilers_kept import keep_compilers
from ...models.random_models import FURTHER
from ...widths import WIDTH
from ..parity import catalogue
from ..parity.reference import States
from ..parity.states import sample
from . import scenes
from .differences import CURVED, KINK, NOISE, SETTLED, SWITCHES, Differences, derivative, exact, load
from .scenes import ROUGH, WITHIN

INTEGRATORS = ("Euler", "implicitfast", "implicit", "RK4")
KNOWN, SAME = 1e-5, 1e-3
"""A column whose differences agree to KNOWN of its own largest entry is also compared relative to that: within SAME, as
a term that is missing in columns of small entries would not show beside the largest entry of all."""
TIE = "tie at the reference pose"
REASONS = (*SWITCHES, KINK, CURVED, NOISE, TIE)
TIES = {
    "adhesive_bodies": "two boxes have parallel faces",
}
"""Models, of any options, in whose reference pose the law at the state is not the one beside it, and why. Differences
see only the latter, tangents the former; so there columns that disagree are not compared."""
SPARE = 256
"""Environments of solvers that take the steps of differences."""


@dataclass
class Row:
    """What came out for a model.

    Attributes:
        model: its name.
        states: states in which it was compared, of all integrators.
        settled: those in which all columns were.
        worst: the largest relative error.
        reasons: in how many states columns were not compared, by reason.
        beyond: what is beyond its bound.
    """

    model: str
    states: int = 0
    settled: int = 0
    worst: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    beyond: list[str] = field(default_factory=list)

    def add(self, other: "Row") -> None:
        """Count what came out with another integrator or in another model."""
        self.states, self.settled = self.states + other.states, self.settled + other.settled
        self.worst = max(self.worst, other.worst)
        self.reasons.update(other.reasons)
        self.beyond += other.beyond

    def describe(self) -> str:
        """Return a line for a terminal."""
        reasons = ", ".join(f"{name} in {count}" for name, count in self.reasons.items())
        verdict = "FAILS" if self.beyond else "ok"
        return f"{verdict:5} {self.model}: {self.worst:.1e}, {self.settled} of {self.states} settled; {reasons}"


def with_rest(mjm: mujoco.MjModel, count: int, seed: int = 0) -> States:
    """Return the reference pose at rest and random states, half of them with active constraints."""
    data, states = mujoco.MjData(mjm), sample(mjm, count, seed)
    rest = (mjm.qpos0, np.zeros(mjm.nv), data.ctrl, data.act, data.plastic, data.history)
    return States(*(np.concatenate((np.array(a)[None], b)) for a, b in zip(rest, states.parts, strict=True)))


def transition(solver: RigidSolver, states: States, n: int = 1) -> np.ndarray:
    """Return the Jacobians of n steps, (states, 2 nv + na, 2 nv + na + nu)."""
    load(solver, states)
    found = solver.gradients.transition(envs_idx=range(len(states)), n=n)
    return np.concatenate((found.A.numpy(), found.B.numpy()), axis=2)


def compare(
    name: str,
    mjm: mujoco.MjModel,
    states: States,
    n: int = 1,
    own: bool = False,
    choices: dict | None = None,
    within: float = WITHIN,
) -> Row:
    """Compare Jacobians of n steps in states of a model.

    Args:
        name: the model's.
        mjm: the model, as of `differences.exact`.
        states: the first is the reference pose.
        n: number of steps.
        own: with differences of Tumble's plain solver.
        choices: Tumble's own options.
        within: the largest error, relative to the largest entry of a Jacobian.
    """
    model = Model.from_mjmodel(mjm, **(choices or {}))
    jacobians = transition(RigidSolver(model, len(states), lanes=WIDTH), states, n)
    plain = RigidSolver(model, SPARE, lanes=WIDTH) if own else None
    row = Row(name, len(states))
    for i, jacobian in enumerate(jacobians):
        theirs = derivative(mjm, states[[i]], n, plain)
        error, beyond = errors(jacobian, theirs, ROUGH if theirs.searched else within)
        if i == 0 and name.partition(",")[0] in TIES:
            theirs.reasons = [TIE if bad else reason for bad, reason in zip(beyond, theirs.reasons, strict=True)]
            beyond[:] = False
        row.settled += bool(theirs.settled.all())
        row.worst = max(row.worst, float(error[theirs.settled].max(initial=0.0)))
        row.reasons.update(set(theirs.reasons) - {""})
        row.beyond += [f"{name}: state {i}, {column_name(mjm, j)}: {error[j]:.1e}" for j in np.flatnonzero(beyond)]
    return row


def errors(jacobian: np.ndarray, theirs: Differences, within: float = WITHIN) -> tuple[np.ndarray, np.ndarray]:
    """Return the error of each column relative to the largest entry, and whether it is beyond a bound."""
    apart = np.nan_to_num(np.abs(jacobian - theirs.jacobian), nan=np.inf).max(axis=0, initial=0.0)
    size = np.abs(theirs.jacobian).max(axis=0, initial=0.0)
    small = (theirs.spread <= KNOWN * size) & (apart > max(SAME, within) * size)
    return apart / theirs.scale, theirs.settled & ((apart > within * theirs.scale) | small)


def column_name(mjm: mujoco.MjModel, j: int) -> str:
    """Return what a column is a derivative by."""
    for name, count in (("position", mjm.nv), ("velocity", mjm.nv), ("activation", mjm.na), ("control", mjm.nu)):
        if j < count:
            return f"{name} {j}"
        j -= count
    raise IndexError(j)


def model_row(name: str, count: int, integrators: Sequence[str] = INTEGRATORS) -> Row:
    """Compare a model of the parity suite with MuJoCo."""
    mjm, row = catalogue.load(name), Row(name)
    states = with_rest(exact(mjm, "Euler"), count)
    for integrator in integrators:
        row.add(compare(f"{name}, {integrator}", exact(mjm, integrator), states))
    return row


def names(randoms: int) -> list[str]:
    """Return the names of all models and scenes that have derivatives."""
    suite = [name for _, name in catalogue.everything(randoms) if not name.startswith("noslip")]
    further = [f"random {FURTHER + k}" for k in range(randoms // 2)]
    return [*dict.fromkeys((*suite, *further)), *(scene.name for scene in scenes.SCENES)]


def row_of(name: str, count: int, integrators: Sequence[str] = INTEGRATORS) -> Row:
    """Compare a model or a scene of that name."""
    scene = next((scene for scene in scenes.SCENES if scene.name == name), None)
    if scene is None:
        return model_row(name, count, integrators)
    mjm, states = scene.make(count)
    return compare(name, mjm, states, 1, scene.own, scene.choices, scene.within)


PAGE = """# Derivatives beside MuJoCo's

Generated by `python -m tests.physics.gradients.parity --write docs/reference/gradients_parity.md`; do not edit.

`solver.gradients.transition` is compared with central differences of fourth order of MuJoCo's `mj_step`, in double
precision, with solvers that end at the optimum: {count} models, {randoms} of them random, by the integrators
{integrators}, in random states and in the reference pose at rest. {verdict}

- Differences are taken with several lengths. A column of the Jacobian is compared where three of them agree to
  {settled:g} of its largest entry, and may then be off by {within:g} of it. A column of smaller entries may also be off
  by at most {same:g} of its own largest entry, if the differences know it that well.
- *Not compared* has the share of states in which some column is not, and why. Where contacts come or go, or the law of
  a row changes, within the differences' steps, there are derivatives on both sides. *Kink* is any other place where
  both sides differ, such as the end of a control's range. Where differences are *curved*, shorter ones would be needed
  than rounding allows; *noise* is what a search leaves.
- *Tie at the reference pose*: {ties}.
- MuJoCo's searches for contacts of curved shapes, and of meshes, leave more noise than {settled:g}. There, and for what
  MuJoCo does not have, the oracle is differences of Tumble's own plain solver: rows with a star. Both sides search with
  a `ccd_tolerance` of 1e-12 m. Contacts of ellipsoids and cylinders that are searched for may be off by {curved:g}: the
  derivative of a search that has ended is less exact than the contact that it found.
- Models with `noslip` are left out: they have no derivative. States are counted once for each integrator.

| model | states | largest error | not compared | why |
|---|---|---|---|---|
{table}"""


def record(row: Row) -> dict[str, str]:
    """Return a row of text."""
    return {
        "model": row.model,
        "states": str(row.states),
        "settled": str(row.settled),
        "worst": f"{row.worst:.0e}",
        **{reason: str(row.reasons[reason]) for reason in REASONS},
        "beyond": "; ".join(row.beyond),
    }


def page(lines: Sequence[dict[str, str]]) -> str:
    """Return the Markdown of the page from the rows of the file beside it; random models are one row."""
    beyond = [line["beyond"] for line in lines if line["beyond"]]
    randoms = [line for line in lines if line["model"].startswith("random ")]
    named = [line for line in lines if line not in randoms]
    starred = {scene.name for scene in scenes.SCENES if scene.own}
    suite = [line for line in named if line["model"] not in {scene.name for scene in scenes.SCENES}]
    shown = [line | {"model": line["model"] + " *" * (line["model"] in starred)} for line in named]
    if randoms:
        shown.insert(len(suite), _together(f"{len(randoms)} random models", randoms))
    return PAGE.format(
        count=len(suite) + len(randoms),
        randoms=len(randoms),
        integrators=", ".join(INTEGRATORS),
        verdict=f"Beyond a bound are: {'; '.join(beyond)}." if beyond else "Nothing is beyond its bound.",
        settled=SETTLED,
        within=WITHIN,
        same=SAME,
        curved=scenes.ROUGH,
        ties="; ".join(f"in {name} {why}" for name, why in TIES.items()),
        table="".join(f"| {' | '.join(_cells(line))} |\n" for line in shown),
    )


def _together(name: str, lines: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return one row of several."""
    counted = {key: str(sum(int(line[key]) for line in lines)) for key in ("states", "settled", *REASONS)}
    return {"model": name, "worst": f"{max(float(line['worst']) for line in lines):.0e}", **counted}


def _cells(line: dict[str, str]) -> tuple[str, ...]:
    states, apart = int(line["states"]), int(line["states"]) - int(line["settled"])
    why = [f"{reason} {100 * int(line[reason]) / states:.2g} %" for reason in REASONS if line[reason] != "0"]
    share = f"{100 * apart / states:.2g} %" if apart else ""
    return line["model"], line["states"], line["worst"], share, ", ".join(why)


def write(path: Path, lines: Sequence[dict[str, str]]) -> None:
    """Write the page, and the numbers of all models beside it."""
    with path.with_suffix(".csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, lines[0], lineterminator="\n")
        table.writeheader()
        table.writerows(lines)
    path.write_text(page(lines), encoding="utf-8")


def read(path: Path) -> list[dict[str, str]]:
    """Read the numbers beside the page."""
    with path.with_suffix(".csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def main() -> int:
    """Command line; see the module docstring."""
    import tumble

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=20, help="random states of each model and integrator")
    parser.add_argument("--random", type=int, default=40, help="number of random models, and some further ones")
    parser.add_argument("--only", default="", help="regular expression on the models' names")
    parser.add_argument("--integrators", default=",".join(INTEGRATORS))
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    keep_compilers()
    tumble.init(device="cpu", precision="64", lanes=WIDTH)
    known = read(arguments.write) if arguments.write and arguments.write.with_suffix(".csv").exists() else []
    lines = {line["model"]: line for line in known}
    order = names(arguments.random)
    for name in [name for name in order if re.search(arguments.only, name) and name not in lines]:
        row = row_of(name, arguments.states, arguments.integrators.split(","))
        print(f"{row.describe()}; {time.process_time():.0f} s so far", flush=True)
        print("".join(f"      {what}\n" for what in row.beyond[:8]), end="")
        lines[name] = record(row)
        if arguments.write:
            write(arguments.write, sorted(lines.values(), key=lambda line: order.index(line["model"])))
    return 1 if any(line["beyond"] for line in lines.values()) or not lines else 0


if __name__ == "__main__":
    sys.exit(main())
