"""A first look at a COLLADA file while its XML streams by: nothing is built of it.

Refused are documents whose nodes refer to each other in circles, or so often that their copies would fill the memory,
and documents with entities, which can do the same in three lines.
"""

from dataclasses import dataclass, field
from xml.parsers import expat

from .files import MeshFileError

LARGEST = 64 << 20
"""Bytes of a COLLADA file: each takes some ten times its own room as a tree of XML."""
MOST_ELEMENTS = 200_000
MOST_NODES = 100_000


@dataclass
class _Scan:
    """The findings of `expat` so far."""

    elements: int = 0
    unit: float = 1.0
    inside: str = ""
    stack: list[str] = field(default_factory=list)
    uses: dict[str, list[str]] = field(default_factory=lambda: {"": []})

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        if self.elements > MOST_ELEMENTS:
            raise MeshFileError(f"it has more than {MOST_ELEMENTS:,} XML elements")
        self.inside = tag = tag.rsplit(":", 1)[-1]
        if tag == "node":
            name = attributes.get("id") or f"#{self.elements}"
            self.uses[self.stack[-1] if self.stack else ""].append(name)
            self.uses.setdefault(name, [])
            self.stack.append(name)
        elif tag == "instance_node":
            self.uses[self.stack[-1] if self.stack else ""].append(attributes.get("url", "").removeprefix("#"))
        elif tag == "unit":
            self.unit = _positive(attributes.get("meter", "1"))

    def end(self, tag: str) -> None:
        self.inside = ""
        if tag.rsplit(":", 1)[-1] == "node":
            self.stack.pop()

    def text(self, text: str) -> None:
        """Numbers that `pycollada` makes others of: it reads nan as 0, and -1 as the last."""
        if self.inside == "float_array" and ("n" in text.lower()):
            raise MeshFileError("a float_array has a number that is not finite")
        if self.inside == "p" and "-" in text:
            raise MeshFileError("a face has a vertex below 0")


def check_dae(data: bytes) -> float:
    """Metres in a unit of a COLLADA file.

    Raises:
        MeshFileError: it is no XML, it has entities, too many elements, or nodes in circles.
    """
    if len(data) > LARGEST:
        raise MeshFileError(f"it has {len(data):,} bytes, and {LARGEST:,} are the most for COLLADA; a .glb is smaller")
    scan, parser = _Scan(), expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise MeshFileError("it has a document type (DOCTYPE), which a COLLADA file does not need")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = scan.start, scan.end
    parser.CharacterDataHandler = scan.text
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:  # LookupError: an encoding that there is not
        if isinstance(error, MeshFileError):
            raise
        raise MeshFileError(f"its XML is broken or truncated: {error}") from error
    _count_copies(scan.uses)
    return scan.unit


def _count_copies(uses: dict[str, list[str]]) -> None:
    """Walk all nodes as a reader would, copies of copies too, and stop where that is too far."""
    pending, seen = [("", 0)], 0
    while pending:
        name, depth = pending.pop()
        seen += 1
        if seen > MOST_NODES or depth > 200:
            raise MeshFileError(f"its nodes refer to each other in circles, or make more than {MOST_NODES:,} copies")
        pending += [(used, depth + 1) for used in uses.get(name, ())]


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1.0e6:
        raise MeshFileError(f"its unit is {text[:40]!r} metres")
    return value
