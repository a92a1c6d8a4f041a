"""Model files of other projects, which Tumble does not ship: where they lie in packages that a person installs.

A file is named by its source and its path there: "dm_control:dog.xml". The folder that the environment variable
TUMBLE_ASSETS names is looked in first, then the packages; none of them is imported.
"""

import importlib.util
import os
from pathlib import Path
from typing import NamedTuple

VARIABLE = "TUMBLE_ASSETS"


class AssetSource(NamedTuple):
    """Where the files of a project lie.

    Attributes:
        folders: packages, and the folder of the files inside each, in the order in which they are looked for.
        get: what a person does to have the files.
    """

    folders: tuple[tuple[str, str], ...]
    get: str


SOURCES = {
    "dm_control": AssetSource(
        (("dm_control", "suite"), ("envpool_assets", "mujoco/assets_dmc")), "pip install 'tumble[suites]'"
    ),
    "gymnasium_robotics": AssetSource(
        (("gymnasium_robotics", "envs/assets"), ("envpool_assets", "mujoco/robotics/assets")),
        "pip install 'tumble[suites]'",
    ),
    "metaworld": AssetSource(
        (("metaworld", "assets"), ("envpool_assets", "mujoco/metaworld/assets")), "pip install 'tumble[suites]'"
    ),
    "myo_sim": AssetSource((("myo_sim", "models"),), "pip install --no-deps myo-sim"),
    "myosuite": AssetSource((("myosuite", ""),), "pip install --no-deps 'myosuite<3'"),
    "humanoid_bench": AssetSource((), "git clone HumanoidBench"),
}
"""The projects whose files tasks load, by the name in front of the colon."""


def is_of_source(file: str) -> bool:
    """Return True if a file is named by one of `SOURCES`, as in "dm_control:dog.xml"."""
    return file.partition(":")[0] in SOURCES


def folder_of(name: str) -> Path:
    """Return the folder of a source's files.

    Raises:
        FileNotFoundError: neither TUMBLE_ASSETS nor a package has it; the message says what to do.
    """
    places = _places(name)
    found = next((place for place in places if place.is_dir()), None)
    if found is None:
        raise FileNotFoundError(f"no files of {name}: {_remedy(name)}")
    return found


def find_in_source(file: str) -> Path:
    """Return the path of a file such as "dm_control:dog.xml".

    Raises:
        FileNotFoundError: it is missing; the message says what to do.
    """
    name, _, path = file.partition(":")
    found = next((place / path for place in _places(name) if (place / path).is_file()), None)
    if found is None:
        raise FileNotFoundError(f"no file {file}: {_remedy(name)}")
    return found


def _places(name: str) -> list[Path]:
    """Return the folders in which the files of a source may lie."""
    places = [Path(os.environ[VARIABLE]) / name] if os.environ.get(VARIABLE) else []
    for package, folder in SOURCES[name].folders:
        spec = importlib.util.find_spec(package)
        roots = spec.submodule_search_locations if spec is not None else None
        places += [Path(root) / folder for root in roots or ()]
    return places


def _remedy(name: str) -> str:
    """Return what a person can do to have the files of a source, in words."""
    source = SOURCES[name]
    packages = " or ".join(package for package, _ in source.folders)
    lay = f"lay its files into a folder {name} in the folder that {VARIABLE} names"
    return f"install {packages} (`{source.get}`), or {lay}" if packages else f"{lay} (`{source.get}`)"
