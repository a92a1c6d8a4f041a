"""The names of a model's elements, and where in its files they stand, for messages that people can act on.

MuJoCo's parser notes "line N" in every element of an MjSpec, but neither the file nor the lines inside included files
or of `<option>` and `<flag>`. The files are therefore read once more here, only for line numbers: everything about the
model itself comes from the compiled MjModel.
"""

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

import mujoco

KINDS: dict[str, tuple[str, str, str]] = {
    "body": ("bodies", "nbody", "worldbody"),
    "joint": ("joints", "njnt", "worldbody"),
    "geom": ("geoms", "ngeom", "worldbody"),
    "site": ("sites", "nsite", "worldbody"),
    "camera": ("cameras", "ncam", "worldbody"),
    "light": ("lights", "nlight", "worldbody"),
    "mesh": ("meshes", "nmesh", "asset"),
    "hfield": ("hfields", "nhfield", "asset"),
    "skin": ("skins", "nskin", "deformable"),
    "texture": ("textures", "ntex", "asset"),
    "material": ("materials", "nmat", "asset"),
    "flex": ("flexes", "nflex", "deformable"),
    "pair": ("pairs", "npair", "contact"),
    "equality": ("equalities", "neq", "equality"),
    "tendon": ("tendons", "ntendon", "tendon"),
    "actuator": ("actuators", "nactuator", "actuator"),
    "sensor": ("sensors", "nsensor", "sensor"),
    "numeric": ("numerics", "nnumeric", "custom"),
    "text": ("texts", "ntext", "custom"),
    "tuple": ("tuples", "ntuple", "custom"),
    "key": ("keys", "nkey", "keyframe"),
}
"""Kinds of elements by their tags: the list in an MjSpec, the size in an mjModel, and the section of MJCF."""
# Kinds whose elements stand in several sections.
_ANYWHERE = {"flex": ("flex", "flexcomp")}


@dataclass(frozen=True)
class ModelSource:
    """The origin of a model: a label for messages, and the file or the text if there is one."""

    label: str
    path: Path | None = None
    text: str | None = None


@dataclass
class Places:
    """The tags of a model's files: ``tags`` holds (section, tag, attributes, file name, line).

    ``devices`` lists, each with its place, paths that are no regular files: reading a device may never end.
    ``folders`` are the folders of other models' files that this one attaches: their meshes are there.
    """

    label: str
    tags: list[tuple[str, str, dict[str, str], str, int]] = field(default_factory=list)
    root: str = ""
    devices: list[str] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)

    @classmethod
    def read(cls, source: ModelSource) -> "Places":
        """Read the tags of ``source`` and of the files that it includes; broken XML yields the part before it."""
        places = cls(source.label)
        if source.path is not None:
            places._read_file(source.path, source.path.parent, ("",), depth=0)
        elif source.text is not None:
            places._read_text(source.text.encode(), source.label, Path(), ("",), depth=0)
        return places

    def of_element(self, kind: str, name: str, info: str) -> str:
        """Return "file, line N" of an element whose MjSpec note is ``info``, or as much of it as is known."""
        line = re.search(r"\d+", info or "")
        if line and int(line.group()) > 0:
            return f"{self.label}, line {line.group()}"
        wanted = KINDS[kind][2]
        for section, tag, attributes, file, number in self.tags:
            fits = section == wanted and (tag == kind or wanted != "worldbody")
            if name and attributes.get("name") == name and (fits or tag in _ANYWHERE.get(kind, ())):
                return f"{file}, line {number}"
        return f"{self.label}, in an included file" if line else self.label

    def of_attribute(self, wanted: str, attribute: str) -> str:
        """Return where an attribute or flag of a section such as "option" is set; the last wins, as in MuJoCo."""
        for section, _, attributes, file, number in reversed(self.tags):
            if section == wanted and attribute in attributes:
                return f"{file}, line {number}"
        return self.label

    def _read_file(self, path: Path, folder: Path, stack: tuple[str, ...], depth: int) -> None:
        try:
            data = path.read_bytes()
        except OSError:
            return  # MuJoCo reports missing files itself, with the line of the include
        label = self.label if depth == 0 else path.name
        self._read_text(data, label, folder, stack, depth)

    def _read_attached(self, file: Path) -> None:
        """Note the folders of a model's file and of attached files, each once; ignore their tags."""
        folders = [*self.folders, file.parent]
        if file.parent not in self.folders:
            self.folders = folders
            below = Places(self.label, folders=folders)
            below._read_file(file, file.parent, ("",), depth=1)
            self.folders, self.devices = below.folders, self.devices + below.devices

    def _read_text(self, data: bytes, label: str, folder: Path, stack: tuple[str, ...], depth: int) -> None:
        path: list[str] = list(stack)
        parser = expat.ParserCreate()

        def start(tag: str, attributes: dict[str, str]) -> None:
            self.root = self.root or tag
            file = folder / attributes.get("file", "")
            if "file" in attributes and _is_device(file):
                self.devices.append(
                    f"{label}, line {parser.CurrentLineNumber}: {file} is a device or a pipe, not a file"
                )
            elif tag == "include" and depth < 20:
                self._read_file(file, folder, tuple(path), depth + 1)
            elif tag == "model" and "file" in attributes and os.path.isfile(file):
                self._read_attached(file)
            path.append(tag)
            # path: "", mujoco, section, ...; the root of an included file takes mujoco's place
            if depth and len(path) == len(stack) + 1:
                path[-1] = path[-2] or tag
                return
            below = [step for step in path if step not in ("", "mujoco", "mujocoinclude")]
            if below:
                self.tags.append((below[0], tag, attributes, label, parser.CurrentLineNumber))

        parser.StartElementHandler = start
        parser.EndElementHandler = lambda tag: path.pop()
        try:
            parser.Parse(data, True)
        except expat.ExpatError:
            return


@dataclass(frozen=True)
class Elements:
    """The elements of a model.

    Attributes:
        mjm: the compiled model.
        spec: the spec it was compiled from, if any.
        places: the tags of its files.
    """

    mjm: mujoco.MjModel
    spec: mujoco.MjSpec | None
    places: Places

    def of(self, kind: str) -> Any:
        """Return the elements of a kind in the spec; none without a spec."""
        return getattr(self.spec, KINDS[kind][0]) if self.spec is not None else []

    def name(self, kind: str, index: int) -> str:
        """Return the name of an element, or its number, such as "#3", if it has none."""
        number = int(getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"))
        return mujoco.mj_id2name(self.mjm, number, index) or f"#{index}"

    def place(self, kind: str, index: int) -> str:
        """Return the file and line of an element, as far as they are known."""
        elements = self.of(kind)
        if index >= len(elements):
            return self.places.label
        return self.places.of_element(kind, elements[index].name, elements[index].info)


def _is_device(path: Path) -> bool:
    """Return True if a path is neither a file nor a folder, so that reading it may never end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
