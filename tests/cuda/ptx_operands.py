"""The operands of PTX in C: registers are local variables, memory is the host's.

`.reg .b64 %rd<20>` becomes an array `u64 rd[20]`, and the register `%rd12` is rd[12]. (With a variable for each, gcc
takes twice the time: it looks through all variables at every label.) An instruction may read a register as another type
of the same width: as a signed integer, or its bits as a float.
"""

import math
import re
import struct

from .ptx_instructions import FLOATS, c_type
from .ptx_reader import Function, Module, Statement

_PLACE = re.compile(r"%(tid|ntid|ctaid|nctaid)\.([xyz])")
_WARP = {"%laneid": "(place->tid[0] % 32)", "%warpid": "(place->tid[0] / 32)"}
_FLOAT_BITS = re.compile(r"0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}")
_INTEGER = re.compile(r"-?(0x[0-9a-fA-F]+|\d+)U?")
_ADDRESS = re.compile(r"\[\s*(%?[\w$]+)\s*(?:\+\s*(-?\d+))?\s*\]")


def float_literal(text: str) -> str:
    """PTX writes floats by their bits: 0f3F800000 is 1.0f."""
    single = text[1] in "fF"
    value = struct.unpack(">f" if single else ">d", bytes.fromhex(text[2:]))[0]
    if math.isfinite(value):
        return f"({value.hex()}{'f' * single})"
    return f"f{'32' if single else '64'}_of_bits(0x{text[2:]})"


class Symbols:
    """The names of a module, and what they are in C."""

    def __init__(self, module: Module):
        self._names = {variable.name: f"variable_{variable.name}" for variable in module.variables}
        self._names |= {function.name: f"function_{function.name}" for function in module.functions}

    def __getitem__(self, name: str) -> str | None:
        return self._names.get(name)


class Operands:
    """What names mean inside one function."""

    def __init__(self, function: Function, symbols: Symbols):
        self._symbols = symbols
        self._classes: dict[str, str] = {}
        self._addresses = {name: f"parameters[{i}]" for i, name in enumerate(function.parameters)}
        self._addresses |= dict.fromkeys(function.results, "result")

    def declare_registers(self, kind: str, names: str) -> str:
        """The declaration of `.reg .b64 %rd<20>`, a class of twenty registers, or `.reg .b64 %SP`, one of its own."""
        declared = []
        for name in names.replace(" ", "").split(","):
            family, _, count = name.rstrip(">").partition("<")
            self._classes[family] = c_type(kind)
            declared.append(family.removeprefix("%") + (f"[{count}]" if count else ""))
        return f"{c_type(kind)} {', '.join(declared)};"

    def declare_block(self, name: str) -> None:
        """Memory with a name: the stack of a thread, or a parameter of a call."""
        self._addresses[name] = name

    def register(self, text: str) -> tuple[str, str] | None:
        """A register in C and its type; None of what is none. Assembly in CUDA's own library has names without a %."""
        if text in self._classes:
            return text.removeprefix("%"), self._classes[text]
        family = text.rstrip("0123456789")
        if family not in self._classes:
            return None
        return f"{family.removeprefix('%')}[{text[len(family) :]}]", self._classes[family]

    def read(self, text: str, kind: str, statement: Statement) -> str:
        """An operand as an expression of a C type."""
        if found := self.register(text):
            return converted(*found, kind)
        if _FLOAT_BITS.fullmatch(text):
            return float_literal(text)
        if _INTEGER.fullmatch(text):
            return f"({kind})({text.removesuffix('U')}{'ULL' if len(text) > 18 else 'LL'})"
        if place := _PLACE.fullmatch(text):
            return f"place->{place[1]}[{'xyz'.index(place[2])}]"
        if text in _WARP:
            return _WARP[text]
        symbol = self._addresses.get(text) or self._symbols[text]
        if symbol is None:
            raise statement.refused(f"names {text}, which is not known here")
        return f"(u64){symbol}"

    def assign(self, text: str, kind: str, expression: str, statement: Statement) -> str:
        """The C statement that writes a value of a C type to a register."""
        found = self.register(text)
        if found is None:
            raise statement.refused(f"names {text}, which no .reg declares")
        name, own = found
        if own == kind:
            return f"{name} = {expression};"
        if own in FLOATS or kind in FLOATS:
            return f"{name} = {converted(f'({kind})({expression})', kind, own)};"
        # Where the register is wider, C extends the sign of a signed type, and fills up others with zeros.
        return f"{name} = ({kind})({expression});"

    def address(self, text: str, statement: Statement) -> str:
        """`[%rd1+8]` as an expression, to be cast to a pointer."""
        match = _ADDRESS.fullmatch(text)
        if not match:
            raise statement.refused(f"has the address {text}, which is not understood")
        base = self.read(match[1], "u64", statement)
        return f"({base} + ({match[2]}))" if match[2] else f"({base})"


def converted(expression: str, kind: str, wanted: str) -> str:
    """A value of one C type as another: between floats and integers by its bits, else by C's rules."""
    if kind == wanted:
        return expression
    if kind in FLOATS and wanted not in FLOATS:
        return f"({wanted})bits_of_{kind}({expression})"
    if wanted in FLOATS and kind not in FLOATS:
        return f"{wanted}_of_bits({expression})"
    return f"({wanted}){expression}"
