"""Robots by name, such as "menagerie:unitree_g1" or "tumble:ant": what is known of them, and where their files lie."""

import difflib
from pathlib import Path
from typing import NamedTuple

from . import menagerie
from .packages import SOURCES, find_in_source, is_of_source
from .robot_table import LICENCES, ROBOTS, RobotFile

_FILES = (".xml", ".urdf")


class KnownRobot(NamedTuple):
    """A robot of a list of names; its files may be here or not.

    Attributes:
        name: source and name, such as "menagerie:unitree_g1".
        title: its name for people.
        kind: such as "humanoid", "quadruped", "arm", "end_effector".
        licence: of its files.
        file: its path among the files of the source.
        scene: the path of a file in which it stands on a floor; "": none.
    """

    name: str
    title: str
    kind: str
    licence: str
    file: str
    scene: str = ""

    @property
    def source(self) -> str:
        """The project that has its files, one of `packages.SOURCES`."""
        return self.name.partition(":")[0]

    @property
    def path(self) -> Path:
        """The path of its file.

        Raises:
            FileNotFoundError: it is not on this machine; the message says what to do.
        """
        return find_in_source(f"{self.source}:{self.file}")

    @property
    def is_here(self) -> bool:
        """True if its file is on this machine."""
        try:
            return self.path.is_file()
        except FileNotFoundError:
            return False


def robots(source: str = "") -> list[KnownRobot]:
    """Return all known robots, or those of one source, by source and name; their files need not be here.

    Raises:
        ValueError: there is no such source.
    """
    known = (*ROBOTS, "menagerie")
    if source and source not in known:
        raise ValueError(f"no source of robots is named {source!r}: there are {', '.join(known)}")
    return [
        robot
        for each in known
        if source in ("", each)
        for robot in (_of_menagerie() if each == "menagerie" else _of_package(each, ROBOTS[each]))
    ]


def names(source: str = "") -> list[str]:
    """Return the names of all known robots, or of those of one source; errors as of `robots`."""
    return [robot.name for robot in robots(source)]


def get(name: str) -> KnownRobot:
    """Return a robot by its name.

    Args:
        name: source and name: "menagerie:unitree_g1"; with another file of its folder, "menagerie:unitree_g1/scene".

    Raises:
        FileNotFoundError: there is no such robot; the message has the nearest names.
    """
    known = {robot.name: robot for robot in robots()}
    base, _, entry = name.partition("/")
    robot = known.get(base)
    if robot is None or (entry and robot.source != "menagerie"):
        raise FileNotFoundError(f"no robot is named '{name}'{_nearest(base, list(known))}; `tumble robots` lists them")
    if not entry:
        return robot
    return robot._replace(name=name, file=f"{robot.file.partition('/')[0]}/{entry}.xml")


def find_model(name: str) -> Path:
    """Return the path of a robot by its name, or of a file such as "dm_control:dog.xml".

    Raises:
        FileNotFoundError: there is no such robot, or its file is not here; the message says what to do.
    """
    is_file = is_of_source(name) and name.lower().endswith(_FILES)
    return find_in_source(name) if is_file else get(name).path


def _of_package(source: str, rows: dict[str, RobotFile]) -> list[KnownRobot]:
    return [
        KnownRobot(f"{source}:{name}", row.title, row.kind, row.licence or LICENCES[source], row.file or f"{name}.xml")
        for name, row in rows.items()
    ]


def _of_menagerie() -> list[KnownRobot]:
    return [
        KnownRobot(
            *(f"menagerie:{name}", row.title, row.kind, row.licence, f"{name}/{row.model}.xml"),
            f"{name}/{row.scene}.xml" if row.scene else "",
        )
        for name, row in menagerie.rows().items()
    ]


def _nearest(name: str, known: list[str]) -> str:
    """Return the nearest names in words: those alike behind the colon, and of the same source before others."""
    source, _, wanted = name.lower().rpartition(":")
    scores = {}
    for each in known:
        of, _, other = each.lower().partition(":")
        alike = difflib.SequenceMatcher(None, wanted, other).ratio()
        contained = len(wanted) > 2 and wanted in other
        scores[each] = max(alike, 0.8 * contained) + 0.1 * (of == source)
    shown = [each for each in sorted(known, key=lambda each: -scores[each])[:3] if scores[each] > 0.65]
    return f"; nearest: {', '.join(shown)}" if shown else f"; sources are {', '.join(SOURCES)}"
