"""Reads PTX, in the layout of LLVM's NVPTX back end, into functions, variables and statements.

A statement keeps its line, so that whoever refuses it can say where it stands. What LLVM never writes (nested blocks
with registers of the same name, `.file` with a quoted name that holds `//`) is not provided for.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

_HEADER = re.compile(
    r"(?P<linkage>(?:\.visible |\.weak |\.extern )*)\.(?P<kind>entry|func) *"
    r"(?:\((?P<results>[^)]*)\))? *(?P<name>[\w$]+) *(?:\((?P<parameters>[^)]*)\))?"
)
_VARIABLE = re.compile(
    r"(?:\.visible |\.weak |\.extern )*\.(?P<space>global|const|shared) +(?:\.align +(?P<alignment>\d+) +)?"
    r"\.(?P<type>\w+) +(?P<name>[\w$]+)(?:\[(?P<count>\d*)\])?(?: *= *(?P<initial>.*))?"
)
_INSTRUCTION = re.compile(r"(?:@(?P<guard>!?%\w+)\s+)?(?P<opcode>[a-z][\w.:]*)\s*(?P<operands>.*)", re.DOTALL)
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^,\s]+")
_FILE_DIRECTIVES = (".version", ".target", ".address_size", ".file")


class Refused(Exception):
    """The PTX holds something that the emulation does not know; the message says what, and in which line."""


@dataclass(frozen=True)
class Statement:
    """The text between two semicolons; `{`, `}` and labels (with their colon) are statements of their own."""

    line: int
    text: str

    def refused(self, reason: str = "is not emulated") -> Refused:
        return Refused(f"line {self.line}: {' '.join(self.text.split())} {reason}")


@dataclass(frozen=True)
class Instruction(Statement):
    """`@guard opcode operands`: `@%p1 add.ftz.f32 %f3, %f1, %f2`."""

    guard: str
    opcode: str
    operands: tuple[str, ...]

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The opcode at its dots: name, modifiers and, in most, the type."""
        return tuple(self.opcode.replace("::", "_").split("."))

    @property
    def name(self) -> str:
        return self.parts[0]

    @property
    def type(self) -> str:
        return self.parts[-1]

    @property
    def space(self) -> str:
        """The memory that a load or store names; "generic" where it names none."""
        spaces = [part for part in self.parts if part in ("global", "local", "shared", "const", "param")]
        return spaces[0] if spaces else "generic"


@dataclass(frozen=True)
class Variable:
    """A variable of the module, outside of functions."""

    statement: Statement
    space: str
    type: str
    name: str
    alignment: int
    count: int
    initial: str


@dataclass(frozen=True)
class Function:
    """A kernel (`kind` "entry") or a device function ("func"); a body of None is a declaration."""

    kind: str
    name: str
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    body: tuple[Statement, ...] | None


@dataclass(frozen=True)
class Module:
    """All of a PTX text; `flushes` where any instruction takes denormal numbers for 0."""

    functions: tuple[Function, ...]
    variables: tuple[Variable, ...]
    flushes: bool


def read_instruction(statement: Statement) -> Instruction:
    """Take a statement apart."""
    match = _INSTRUCTION.fullmatch(statement.text)
    if not match:
        raise statement.refused()
    operands = tuple(_OPERAND.findall(match["operands"]))
    return Instruction(statement.line, statement.text, match["guard"] or "", match["opcode"], operands)


def statements(text: str) -> Iterator[Statement]:
    """Split PTX into statements, without comments."""
    start, pending = 0, ""
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.partition("//")[0].strip()
        if not line or line.startswith(_FILE_DIRECTIVES):
            continue
        if line in "{}" or (not pending and line.endswith(":")):
            if pending:
                yield Statement(start, pending)
            yield Statement(number, line)
            pending = ""
            continue
        start = start if pending else number
        pending = f"{pending} {line}" if pending else line
        if pending.endswith(";"):
            yield from (Statement(start, part.strip()) for part in pending.split(";") if part.strip())
            pending = ""
    if pending.strip("\0 "):
        raise Statement(start, pending).refused("has no end")


def _names(parameters: str | None) -> tuple[str, ...]:
    """The names in a list of parameters: `.param .align 8 .b8 a[32], .param .u64 b` gives a and b."""
    declared = (one.split()[-1] for one in (parameters or "").split(",") if one.strip())
    return tuple(name.partition("[")[0] for name in declared)


def _read_variable(statement: Statement) -> Variable:
    match = _VARIABLE.fullmatch(statement.text)
    if not match or match["space"] == "shared":
        raise statement.refused()
    name, count = match["name"], int(match["count"] or 1)
    return Variable(
        statement, match["space"], match["type"], name, int(match["alignment"] or 8), count, match["initial"] or ""
    )


def _read_body(rest: Iterator[Statement]) -> tuple[Statement, ...]:
    """The statements up to the brace that closes a function; its opening brace is read already."""
    body: list[Statement] = []
    depth = 1
    for statement in rest:
        depth += {"{": 1, "}": -1}.get(statement.text, 0)
        if depth == 0:
            return tuple(body)
        body.append(statement)
    raise Refused("the last function has no end")


def read_module(text: str) -> Module:
    """Read a whole PTX text. Of a function that is declared and defined, the definition stays."""
    functions: dict[str, Function] = {}
    variables = []
    rest = statements(text)
    header: Function | None = None
    for statement in rest:
        if statement.text == "{" and header:
            functions[header.name] = replace(header, body=_read_body(rest))
            header = None
        elif match := _HEADER.match(statement.text):
            header = Function(match["kind"], match["name"], _names(match["parameters"]), _names(match["results"]), None)
            functions.setdefault(header.name, header)
        else:
            variables.append(_read_variable(statement))
    return Module(tuple(functions.values()), tuple(variables), ".ftz" in text)
