"""The XML of a URDF file as a tree of elements that know their lines.

The file comes from anywhere: entities, which blow three lines up to gigabytes, and files, trees and nestings of absurd
sizes are refused while they stream by.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from ..geometry.files import MeshFileError, read_file
from .faults import UrdfError, UrdfReport

LARGEST = 32 << 20
"""Bytes of a URDF file; that of a humanoid with all its sensors has about half a megabyte."""
MOST_ELEMENTS = 500_000
DEEPEST = 64
"""Elements inside each other; URDF itself needs five."""
_SPACE = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"
_OTHER_ROOTS = {
    "mujoco": "an MJCF file; load it by from_mjcf",
    "sdf": "an SDF file; convert it to URDF first",
    "COLLADA": "a COLLADA file, not a robot; a URDF file names it in a <mesh>",
}


@dataclass(eq=False)
class Element:
    """An element: its tag, attributes, the line it begins in, and its text and children."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)

    def all(self, tag: str) -> list["Element"]:
        """Return the children of a tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> "Element | None":
        """Return the first child of a tag, if there is one."""
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self) -> Iterator["Element"]:
        """Yield this element and all below it, in the file's order."""
        pending = [self]
        while pending:
            element = pending.pop()
            yield element
            pending += reversed(element.children)


def is_text(path_or_xml: object) -> bool:
    """Return True for URDF as a string: it begins with "<"."""
    return isinstance(path_or_xml, str) and path_or_xml.lstrip("\ufeff \t\r\n").startswith("<")


def read_root(path_or_xml: str | os.PathLike) -> tuple[Element, UrdfReport, Path | None]:
    """Return the <robot> element of a file or string, the report of its faults, and the path if it is a file.

    Raises:
        UrdfError: the file does not exist, or is no URDF.
        TypeError: for a value that is neither a path nor a string.
    """
    if not isinstance(path_or_xml, str | os.PathLike):
        raise TypeError(f"expected the path of a URDF file, or URDF as a string, not {type(path_or_xml).__name__}")
    if is_text(path_or_xml):
        report, path = UrdfReport("URDF string"), None
        data = str(path_or_xml).encode("utf-8", "surrogatepass")
        if len(data) > LARGEST:
            raise report.fault(0, f"it has {len(data):,} bytes, and {LARGEST:,} are the most")
    else:
        path = Path(path_or_xml)
        report = UrdfReport(os.fspath(path_or_xml) if path.name else "''")
        try:
            data = read_file(path, LARGEST)
        except MeshFileError as error:
            hint = "" if os.path.exists(path) else " (URDF as a string begins with '<')"
            raise report.fault(0, f"{error}{hint}") from error
    root = _parse(data, report, is_string=path is None)
    if root.tag != "robot":
        known = _OTHER_ROOTS.get(root.tag)
        if known is None:
            raise report.fault(root.line, f"the root of a URDF file is <robot>, and this one's is <{root.tag}>")
        raise report.fault(root.line, f"this is {known}")
    _refuse_xacro(root, report)
    return root, report, path


def _refuse_xacro(root: Element, report: UrdfReport) -> None:
    """Refuse a file that xacro has yet to expand."""
    for element in root.walk():
        value = next((value for value in element.attributes.values() if "${" in value or "$(" in value), None)
        if element.tag.startswith("xacro:") or value is not None:
            found = f"<{element.tag}>" if value is None else f"'{value[:40]}'"
            raise report.fault(
                element.line,
                f"{found} is xacro, from which URDF is made; expand it first: xacro robot.urdf.xacro > robot.urdf",
            )


def _parse(data: bytes, report: UrdfReport, is_string: bool) -> Element:
    """Return the root element of a document."""
    start = data.removeprefix(_BOM).lstrip(_SPACE)  # a declaration may stand behind blank lines, as many parsers allow
    skipped = data[: len(data) - len(start)].count(b"\n")
    if not start:
        raise report.fault(0, "it is empty")
    parser = expat.ParserCreate("utf-8" if is_string else None)
    top, stack = Element("", {}, 0), list[Element]()
    count = 0

    def refuse(*_: object) -> None:
        line = parser.CurrentLineNumber + skipped
        raise report.fault(line, "it declares a document type or entities (<!DOCTYPE>), which no URDF file needs")

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        element = Element(tag, attributes, parser.CurrentLineNumber + skipped)
        if count > MOST_ELEMENTS or len(stack) >= DEEPEST:
            what = f"more than {MOST_ELEMENTS:,} elements" if count > MOST_ELEMENTS else f"{DEEPEST} in each other"
            raise report.fault(element.line, f"<{tag}> is one element too many: {what}")
        (stack[-1] if stack else top).children.append(element)
        stack.append(element)

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda tag: stack.pop()
    try:
        parser.Parse(start, True)
    except UrdfError:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:  # the last two: an unknown encoding
        raise _xml_fault(error, start, skipped, report) from error
    return top.children[0]


def _xml_fault(error: Exception, data: bytes, skipped: int, report: UrdfReport) -> UrdfError:
    """Return the error about a document that is no XML."""
    if b"\0" in data[:1024] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return report.fault(0, "it is no text")
    line = getattr(error, "lineno", 1) + skipped
    if b"encoding=" not in data[:100].split(b">")[0]:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as wrong:
            line = data[: wrong.start].count(b"\n") + 1 + skipped
            return report.fault(line, f"byte 0x{data[wrong.start]:02x} is not UTF-8; save the file as UTF-8")
    reason = str(error).partition(": line")[0]
    return report.fault(line, f"its XML is broken or truncated: {reason}")
