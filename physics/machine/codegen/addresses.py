"""Alias information for a unit's memory accesses, which LLVM cannot infer. It removes half of all loads.

Taichi loads the address of an array again for each access, through the context, and LLVM has to keep these loads, for
each store might have changed the address. No store does. So an address is loaded once, where the unit begins; numbers
of the model, which nothing writes while a unit runs, are marked as invariant; and accesses to the scratch tell which of
its fields they belong to, so that stores to one leave only loads from the others in place (type-based alias analysis:
LLVM Language Reference, `tbaa` and `invariant.load` metadata).
"""

import re

from .ir import ENTRY

_MODEL = (0, 1, 2)
"""Places of the arguments that hold the model: integers and real numbers."""
_FIELDS = ("numbers", "integers", "doubles", "convex", "twin_numbers", "twin_doubles", "twin_convex")
"""Names of the fields of the scratch, by the number of their tree; the last three are of units with tangents."""
_ROOTS = {"i64 0, i32 7": "numbers"} | {f"i64 0, i32 7, i64 {k}": name for k, name in enumerate(_FIELDS)}
"""Names of the fields whose addresses are elements of LLVMRuntime's `roots`, by the indices of the elements."""
_TAGS = {"model": ", !invariant.load !900"} | {name: f", !tbaa !{920 + k}" for k, name in enumerate(_FIELDS)}
_METADATA = '\n!900 = !{}\n!901 = !{!"tumble"}\n' + "".join(
    f'!{910 + k} = !{{!"{name}", !901}}\n!{920 + k} = !{{!{910 + k}, !{910 + k}, i64 0}}\n'
    for k, name in enumerate(_FIELDS)
)
_ENTRY = re.compile(rf"^define [^\n]*@{ENTRY}\(ptr [^)\n]*?(%[\w.]+)\)[^\n]*\{{\n[\w.]+:[^\n]*\n", re.MULTILINE)
_ELEMENT = re.compile(r"  (%[\w.]+) = getelementptr (?:inbounds )?(.*), ptr (%[\w.]+), (.*)$")
_LOAD = re.compile(r"  (%[\w.]+) = load (.*), ptr (%[\w.]+), align \d+$")
_STORE = re.compile(r"  store .*, ptr (%[\w.]+), align \d+$")


def tell_addresses(text: str) -> str:
    """Return the module with its entry's addresses loaded once and with metadata on loads and stores.

    Raises:
        ValueError: the module has no entry.
    """
    start = _ENTRY.search(text)
    if start is None:
        raise ValueError("the module has no entry")
    end = text.index("\n}", start.end())
    addresses = _Addresses(start[1])
    lines = [addresses.annotated(line) for line in text[start.end() : end].split("\n")]
    return "\n".join([text[: start.end()] + "\n".join(addresses.head), *lines]) + text[end:] + _METADATA


class _Addresses:
    """The table of the meaning of each name in an entry, as an address, filled line by line.

    An address is that of the context, the runtime, the arguments, an array of the model ("model"), a field of the
    scratch ("numbers" or "integers"), or any other array.

    Attributes:
        head: lines that load addresses, to be put at the beginning of the entry.
    """

    def __init__(self, context: str) -> None:
        self.head: list[str] = []
        self._heads: dict[str, str] = {}  # names of addresses in the head, by the place they are loaded from
        self._of = {context: "context"}
        self._name = {context: context}  # for each address, its name in the head
        self._stored = {context: ("", "arguments")}  # for each place, the expression that reaches it, and its contents

    def annotated(self, line: str) -> str:
        """Return a line, with metadata if its address is known, or with a load replaced by the address in the head."""
        if match := _ELEMENT.match(line):
            self._note_element(*match.groups())
        elif match := _LOAD.match(line):
            name, _, place = match.groups()
            if place in self._stored:
                self._of[name], self._name[name] = self._stored[place][1], self._in_head(place)
                return f"  {name} = getelementptr i8, ptr {self._name[name]}, i64 0"
            return line + _TAGS.get(self._of.get(place, ""), "")
        elif (match := _STORE.match(line)) and self._of.get(match[1]) in _FIELDS:
            return line + _TAGS[self._of[match[1]]]
        return line

    def _note_element(self, name: str, kind: str, base: str, indices: str) -> None:
        """Note the result of a `getelementptr`, or the address that is stored there."""
        of = self._of.get(base, "")
        if of in _TAGS:
            self._of[name] = of
        elif stored := _stored_there(of, kind, indices):
            self._stored[name] = (f"{kind}, ptr {self._name[base]}, {indices}", stored)

    def _in_head(self, place: str) -> str:
        """Return the name, in the head, of the address stored at a place; load it there at its first use."""
        reached = self._stored[place][0] or place
        if reached not in self._heads:
            name = self._heads[reached] = f"%head{len(self._heads)}"
            if reached != place:
                self.head.append(f"  {name}.place = getelementptr {reached}")
                place = f"{name}.place"
            self.head.append(f"  {name} = load ptr, ptr {place}, align 8")
        return self._heads[reached]


def _stored_there(of: str, kind: str, indices: str) -> str:
    """Name the array that an element of the context, runtime or arguments points to; "" if the address is unknown."""
    if of == "context" and indices == "i64 0, i32 1":
        return "runtime"
    if of == "runtime":
        return _ROOTS.get(indices, "")
    if of == "arguments":
        only_first = kind.startswith("{ { i32 }, ptr }") and indices == "i64 0, i32 1"
        place = "0" if only_first else (re.fullmatch(r"i64 0, i32 (\d+), i32 1", indices) or ("", ""))[1]
        return ("model" if int(place) in _MODEL else "array") if place else ""
    return ""
