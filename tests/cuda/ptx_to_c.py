"""Translates a module of PTX into C: each thread of a kernel is a call of a function, and one runs after the other.

Therefore nothing for which threads meet can be translated: barriers, shuffles, votes. A kernel NAME becomes
`entry_NAME(parameters, grid, block)`, which the emulated driver calls. In counting mode every stretch of code without a
branch adds what it holds to the counts of the launch (prelude.h writes them).
"""

from pathlib import Path

from .ptx_counts import Tally
from .ptx_instructions import BITS, WIDE, c_type, computation
from .ptx_operands import Operands, Symbols
from .ptx_reader import Function, Instruction, Module, Statement, Variable, read_instruction, read_module

_PRELUDE = Path(__file__).with_name("prelude.h")
_GIVEN = ("__assertfail", "vprintf")  # functions in the prelude
_SIGNATURE = "static void function_{}(const thread_place *place, char **parameters, char *result)"
_SPACES = {"global", "local", "const", "param"}
_ORDERS = {"volatile", "relaxed", "acquire", "release", "acq_rel", "weak", "gpu", "sys", "cta", "nc", "v2", "v4"}
_ATOMIC = {
    "add": "before + {0}",
    "min": "before < {0} ? before : {0}",
    "max": "before > {0} ? before : {0}",
    "and": "before & {0}",
    "or": "before | {0}",
    "xor": "before ^ {0}",
    "exch": "{0}",
    "cas": "before == {0} ? {1} : before",
}
_END_A_BLOCK = ("bra", "ret", "exit", "trap")


class FunctionWriter:
    """Writes one function in C. Statements are taken in order; `lines` is what stands so far."""

    def __init__(self, function: Function, symbols: Symbols, counting: bool):
        self.function = function
        self.operands = Operands(function, symbols)
        self.symbols = symbols
        self.lines: list[str] = []
        self.tally = Tally() if counting else None

    def text(self) -> str:
        """The whole function."""
        for statement in self.function.body or ():
            self.write(statement)
        head = [_SIGNATURE.format(self.function.name) + " {", "u32 carry;"]
        if self.tally is not None:
            head.append(f"calls_{self.function.name}++;")
        return "\n".join([*head, *self.lines, "}"])

    def write(self, statement: Statement) -> None:
        """Translate one statement."""
        text = statement.text
        if text in "{}":
            self.lines.append(text)
        elif text.endswith(":"):
            self._count_block()
            self.lines.append(f"{text};")
        elif text.startswith("."):
            self._declare(statement)
        elif ".callprototype" not in text:
            self._instruction(read_instruction(statement))

    def _declare(self, statement: Statement) -> None:
        """Registers, and memory with a name: `.local .align 8 .b8 depot[32]`, `.param .b64 param0`."""
        directive, kind, names = [*statement.text.split(maxsplit=2), "", ""][:3]
        if directive == ".reg":
            self.lines.append(self.operands.declare_registers(kind.removeprefix("."), names))
        elif directive in (".local", ".param"):
            *_, kind, name = statement.text.split()
            name, _, count = name.rstrip("]").partition("[")
            self.operands.declare_block(name)
            size = BITS[kind.removeprefix(".")] // 8 * int(count or 1)
            self.lines.append(f"_Alignas(16) char {name}[{size}];")
        elif directive not in (".loc", ".pragma"):
            raise statement.refused()

    def _instruction(self, instruction: Instruction) -> None:
        """Translate an instruction with its guard: `@!%p1 bra $L` is `if (!p1) goto $L`."""
        if self.tally is not None:
            self.tally.add(instruction)
        if instruction.name in _END_A_BLOCK:
            self._count_block()
        write = _WRITERS.get(instruction.name, FunctionWriter._compute)
        if "cc" in instruction.parts or instruction.name in ("addc", "subc", "madc"):
            write = FunctionWriter._carry
        try:
            done = write(self, instruction)
        except (KeyError, ValueError):  # another type, or another number of operands, than any that is known
            raise instruction.refused() from None
        if instruction.guard:
            negated = instruction.guard.startswith("!")
            register = self.operands.read(instruction.guard.removeprefix("!"), "pred", instruction)
            done = f"if ({'!' * negated}{register}) {{ {done} }}"
        self.lines.append(done)

    def _count_block(self) -> None:
        """A stretch without branches ends here: add what it held to the counts."""
        if self.tally is not None:
            self.lines.append(self.tally.take())

    def _compute(self, instruction: Instruction) -> str:
        """Arithmetic, comparison, conversion: what the table of instructions says."""
        found = computation(instruction.opcode)
        target, *sources = instruction.operands
        if found is None or len(sources) != len(found.reads):
            raise instruction.refused()
        pairs = zip(sources, found.reads, strict=True)
        values = [self.operands.read(source, kind, instruction) for source, kind in pairs]
        return self.operands.assign(target, found.result, found.expression.format(*values), instruction)

    def _carry(self, instruction: Instruction) -> str:
        """Sums of numbers longer than a word: `.cc` leaves a carry, which `addc`, `subc` and `madc` add."""
        target, *sources = instruction.operands
        name, half, kind = instruction.name[:3], instruction.parts[1], f"u{instruction.type[1:]}"
        if kind not in ("u32", "u64"):
            raise instruction.refused()
        wide, bits = WIDE[kind], BITS[kind]
        values = [f"({wide}){self.operands.read(source, kind, instruction)}" for source in sources]
        if name == "mad":
            values[:2] = [f"({wide})({kind})({values[0]} * {values[1]} >> {bits if half == 'hi' else 0})"]
        carried = " {} carry".format("-" if name == "sub" else "+") if len(instruction.name) == 4 else ""
        done = f"{wide} sum = {values[0]} {'-' if name == 'sub' else '+'} {values[1]}{carried};"
        given = self.operands.assign(target, kind, f"({kind})sum", instruction)
        left = f"carry = sum >> {bits} & 1;" if "cc" in instruction.parts else ""
        return f"{{ {done} {given} {left} }}"

    def _branch(self, instruction: Instruction) -> str:
        return f"goto {instruction.operands[0]};"

    def _return(self, instruction: Instruction) -> str:
        return "return;"

    def _trap(self, instruction: Instruction) -> str:
        return "abort();"

    def _nothing(self, instruction: Instruction) -> str:
        return ""

    def _move(self, instruction: Instruction) -> str:
        """`mov`, and its forms that join and split words: `mov.b64 {%r1, %r2}, %rd1`."""
        (target, source), kind = instruction.operands, c_type(instruction.type)
        if target[0] == "{":
            pieces = _listed(target)
            bits = BITS[kind] // len(pieces)
            word = self.operands.read(source, kind, instruction)
            put = [(piece, f"{word} >> {bits * i}") for i, piece in enumerate(pieces)]
            return " ".join(self.operands.assign(piece, f"u{bits}", f"(u{bits})({e})", instruction) for piece, e in put)
        if source[0] == "{":
            pieces = _listed(source)
            bits = BITS[kind] // len(pieces)
            words = [self.operands.read(piece, f"u{bits}", instruction) for piece in pieces]
            joined = " | ".join(f"(u64){word} << {bits * i}" for i, word in enumerate(words))
            return self.operands.assign(target, kind, joined, instruction)
        return self.operands.assign(target, kind, self.operands.read(source, kind, instruction), instruction)

    def _generic_address(self, instruction: Instruction) -> str:
        """`cvta`: all kinds of memory have the host's addresses."""
        target, source = instruction.operands
        return self.operands.assign(target, "u64", self.operands.read(source, "u64", instruction), instruction)

    def _words(self, instruction: Instruction, at: str) -> list[str]:
        """The words in memory that a load or store takes: one, or those of a vector."""
        if instruction.type not in BITS or not set(instruction.parts[1:-1]) <= _SPACES | _ORDERS:
            raise instruction.refused()
        kind, address = c_type(instruction.type), self.operands.address(at, instruction)
        count = next((int(part[1]) for part in instruction.parts if part in ("v2", "v4")), 1)
        return [f"(({kind} *){address})[{i}]" for i in range(count)] if count > 1 else [f"*({kind} *){address}"]

    def _load(self, instruction: Instruction) -> str:
        targets, at = instruction.operands
        pairs = zip(_listed(targets), self._words(instruction, at), strict=True)
        kind = c_type(instruction.type)
        return " ".join(self.operands.assign(target, kind, word, instruction) for target, word in pairs)

    def _store(self, instruction: Instruction) -> str:
        at, sources = instruction.operands
        pairs = zip(_listed(sources), self._words(instruction, at), strict=True)
        kind = c_type(instruction.type)
        return " ".join(f"{word} = {self.operands.read(source, kind, instruction)};" for source, word in pairs)

    def _atomic(self, instruction: Instruction) -> str:
        """`atom` gives what was there before; `red` does not."""
        names = [part for part in instruction.parts[1:-1] if part in _ATOMIC]
        if len(names) != 1 or not set(instruction.parts[1:-1]) <= {*names, *_SPACES, *_ORDERS}:
            raise instruction.refused()
        target, at, *sources = instruction.operands if instruction.name == "atom" else ("_", *instruction.operands)
        kind = c_type(instruction.type)
        values = [self.operands.read(source, kind, instruction) for source in sources]
        where = f"*({kind} *){self.operands.address(at, instruction)}"
        done = f"{kind} before = {where}; {where} = {_ATOMIC[names[0]].format(*values)};"
        given = "" if target == "_" else self.operands.assign(target, kind, "before", instruction)
        return f"{{ {done} {given} }}"

    def _call(self, instruction: Instruction) -> str:
        """`call (result), function, (parameters), prototype`; a register holds the address of an indirect function."""
        operands = list(instruction.operands)
        result = operands.pop(0).strip("() ") if operands[0][0] == "(" else "0"
        name = operands.pop(0)
        parameters = _listed(operands[0]) if operands else []
        function = f"((ptx_function){self.operands.read(name, 'u64', instruction)})"
        return f"{function}(place, (char *[]){{{', '.join([*parameters, '0'])}}}, {result});"


_WRITERS = {
    "atom": FunctionWriter._atomic,
    "bra": FunctionWriter._branch,
    "call": FunctionWriter._call,
    "cvta": FunctionWriter._generic_address,
    "exit": FunctionWriter._return,
    "fence": FunctionWriter._nothing,
    "ld": FunctionWriter._load,
    "membar": FunctionWriter._nothing,
    "mov": FunctionWriter._move,
    "red": FunctionWriter._atomic,
    "ret": FunctionWriter._return,
    "st": FunctionWriter._store,
    "trap": FunctionWriter._trap,
}


def _listed(text: str) -> list[str]:
    """The names in braces or parentheses; a name without them is a list of one."""
    return [name.strip() for name in text.strip("{}()").split(",") if name.strip()]


def _variable(variable: Variable, symbols: Symbols) -> str:
    """A variable of the module; numbers as they stand, names as addresses."""
    initial = variable.initial.strip("{} ")
    values = []
    for value in filter(None, (one.strip() for one in initial.split(","))):
        name = value.removeprefix("generic(").removesuffix(")")
        values.append(f"(u64)&{symbols[name]}" if symbols[name] else value)
        if not symbols[name] and not value.lstrip("-").isdigit():
            raise variable.statement.refused("has a first value that is not understood")
    kind = c_type(variable.type)
    given = f" = {{{', '.join(values)}}}" if values else ""
    return f"static _Alignas({variable.alignment}) {kind} {symbols[variable.name]}[{variable.count}]{given};"


def _entry(function: Function, counting: bool) -> str:
    """What the driver calls to launch a kernel."""
    name = function.name
    lines = [
        f"void entry_{name}(char **parameters, const u32 grid[3], const u32 block[3]) {{",
        f"run_grid(function_{name}, parameters, grid, block);",
        f'write_counts("{name}", functions);' if counting else "",
        "}",
    ]
    return "\n".join(filter(None, lines))


def _call_counts(functions: list[Function]) -> list[str]:
    """In counting mode, a counter for each function, and the list of them."""
    counters = [f"static u64 calls_{function.name};" for function in functions]
    rows = [f'{{"{function.name}", &calls_{function.name}}},' for function in functions]
    return [*counters, "static call_count functions[] = {", *rows, "{0}};"]


def translated(ptx: str, counting: bool = False) -> str:
    """The C of a module."""
    module: Module = read_module(ptx)
    symbols = Symbols(module)
    defined = [function for function in module.functions if function.body is not None]
    missing = [f for f in module.functions if f.body is None and f.name not in _GIVEN]
    parts = [f"#define FLUSH {int(module.flushes)}", "#define COUNTING" if counting else "", _PRELUDE.read_text()]
    parts += [_SIGNATURE.format(function.name) + ";" for function in defined]
    parts += [_SIGNATURE.format(function.name) + " { abort(); }" for function in missing]
    parts += [_variable(variable, symbols) for variable in module.variables]
    parts += _call_counts(defined) if counting else []
    parts += [FunctionWriter(function, symbols, counting).text() for function in defined]
    parts += [_entry(function, counting) for function in defined if function.kind == "entry"]
    return "\n".join(parts) + "\n"
