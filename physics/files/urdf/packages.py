"""Finding the files that a URDF file names: meshes and textures, by path, `package://`, `model://` and `file://`.

A package is looked for in the user's map, then from the folder of the URDF file upwards, then where ROS and Gazebo
look.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from urllib.parse import unquote
from xml.parsers import expat

Packages = Mapping[str, str | os.PathLike] | Iterable[str | os.PathLike] | str | os.PathLike | None
"""Folders of packages by their name, or folders in which packages lie."""
VARIABLES = (
    ("ROS_PACKAGE_PATH", ""),
    ("AMENT_PREFIX_PATH", "share"),
    ("COLCON_PREFIX_PATH", "share"),
    ("GAZEBO_MODEL_PATH", ""),
    ("GZ_SIM_RESOURCE_PATH", ""),
)
"""Environment variables with folders of packages, and the folder below each in which they lie."""
HIGHEST = 12
"""Folders that are looked at upwards from a URDF file."""
MOST_FOLDERS = 5_000
"""Folders that are looked at, at each depth, below one in which packages lie."""


@dataclass
class Finder:
    """Finds the files of one URDF file.

    Attributes:
        folder: of the URDF file.
        packages: the user's map; under "" a folder in which packages lie.
        meshdir, strippath: from the file's <mujoco><compiler>.
        missing: names of the files that were not found, with the lines that name them.
        guessed: packages whose files were found without them, and the folder.
        above: folders above that of the URDF file from which paths were found to count, and the first of these.
    """

    folder: Path
    packages: list[tuple[str, Path]]
    meshdir: str = ""
    strippath: bool = False
    missing: dict[str, list[int]] = field(default_factory=dict)
    guessed: dict[str, Path] = field(default_factory=dict)
    above: dict[Path, str] = field(default_factory=dict)
    _known: dict[str, list[Path]] = field(default_factory=dict)

    def find(self, name: str, line: int) -> Path | None:
        """Return the path of a file; None if it is missing, which is noted."""
        for candidate in dict.fromkeys((name, unquote(name), name.replace("\\", "/"))):
            path = next((path for path in self._places(candidate) if os.path.isfile(path)), None)
            if path is not None:
                return path
        self.missing.setdefault(name, []).append(line)
        return None

    def _places(self, name: str) -> Iterator[Path]:
        """Yield the places in which a file may be."""
        scheme, _, rest = name.rpartition("://")
        if scheme in ("package", "model"):
            package, _, inside = rest.lstrip("/").partition("/")
            if self.strippath:
                yield self.folder / self.meshdir / PurePosixPath(inside).name
            for folder in self._folders(package):
                yield folder / inside
            for folder in _upwards(self.folder):
                guess = folder / (inside or package)
                if os.path.isfile(guess):
                    self.guessed.setdefault(package, folder)
                    yield guess
        elif scheme == "file":
            yield (
                Path("/" + rest.lstrip("/")) if not PureWindowsPath(rest.lstrip("/")).drive else Path(rest.lstrip("/"))
            )
            yield self.folder / rest
            yield from self._above(rest)
        elif not scheme:
            if self.strippath:
                name = PurePosixPath(name).name
            yield self.folder / self.meshdir / name
            yield self.folder / name
            yield from self._above(name)

    def _above(self, name: str) -> Iterator[Path]:
        """Yield a file whose path counts from a folder above that of the URDF file, such as its package's root."""
        for folder in _upwards(self.folder)[1:]:
            if os.path.isfile(folder / name):
                self.above.setdefault(folder, name)
                yield folder / name

    def _folders(self, package: str) -> list[Path]:
        """Return the folders in which a package may be, the likeliest first."""
        if package not in self._known:
            self._known[package] = list(dict.fromkeys(self._search(package)))
        return self._known[package]

    def _search(self, package: str) -> Iterator[Path]:
        for name, folder in self.packages:
            if name == package:
                yield folder
            elif not name:
                yield from _inside(folder, package)
        for folder in _upwards(self.folder):
            if _package_name(folder) == package or (folder.name == package and not _package_name(folder)):
                yield folder
            if os.path.isdir(folder / package):
                yield folder / package
        for variable, below in VARIABLES:
            for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
                yield from _inside(Path(entry) / below, package)


def as_packages(packages: Packages) -> list[tuple[str, Path]]:
    """Return the user's packages as pairs of name and folder; "" is the name of a folder in which packages lie.

    Raises:
        ValueError: a folder does not exist, or something is no path.
    """
    if packages is None:
        return []
    if isinstance(packages, str | os.PathLike):
        packages = [packages]
    if isinstance(packages, Mapping):
        pairs = [(str(name).removeprefix("package://").strip("/"), folder) for name, folder in packages.items()]
    else:
        pairs = [("", folder) for folder in packages]
    for name, folder in pairs:
        shown = f"packages[{name!r}]" if name else "packages"
        if not isinstance(folder, str | os.PathLike):
            raise ValueError(f"{shown}={folder!r}: expected the path of a folder")
        if not os.path.isdir(folder):
            raise ValueError(f"{shown}={os.fspath(folder)!r}: there is no such folder")
    return [(name, Path(folder)) for name, folder in pairs]


def _inside(folder: Path, package: str) -> Iterator[Path]:
    """Yield the folders of a package in a folder of packages, up to two levels down."""
    level = [folder]
    for _ in range(3):
        for each in level:
            if each.name == package or _package_name(each) == package:
                yield each
        level = [below for each in level for below in _folders_in(each)][:MOST_FOLDERS]


def _folders_in(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if os.path.isdir(each))
    except OSError:
        return []


def _upwards(folder: Path) -> list[Path]:
    folder = Path(os.path.abspath(folder))
    return [folder, *folder.parents][:HIGHEST]


def _package_name(folder: Path) -> str:
    """Return the name that a folder's package.xml gives; "" if it has none."""
    file = folder / "package.xml"
    try:
        if not os.path.isfile(file) or file.stat().st_size > 1 << 20:
            return ""
        data = file.read_bytes()
    except OSError:
        return ""
    path, words = list[str](), list[str]()
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, _: path.append(tag)
    parser.EndElementHandler = lambda tag: path.pop()
    parser.CharacterDataHandler = lambda text: words.append(text) if path == ["package", "name"] else None
    parser.EntityDeclHandler = lambda *_: path.clear()
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError, IndexError):
        pass
    return "".join(words).strip()
