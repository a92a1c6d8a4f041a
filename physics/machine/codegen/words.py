"""Words to write functions in LLVM's intermediate representation (IR) as Python.

    module = Module()
    with module.function("scale", x=FLOATS, n=INT, by=FLOAT) as (f, x, n, by):
        with f.loop(0, n, 8) as i:
            x[i] = x.vector(i, 8) * by
    code = machine_code(module.text())

Values have operators: `a + b` writes an instruction. An array is an address and the type of its elements: `x[i]` loads
an element, `x[i] = v` stores v, an element or a vector of them, and `x + i` is the address of an element. A record is
an address and named fields: `point.x` loads, `point.x = v` stores. Loops and conditions are `with` blocks.

LLVM keeps the order of all operations. Only `f.fma` multiplies and adds with a single rounding. So results have the
same bits on all processors that have this instruction, whatever the width of their registers.

Source: LLVM Language Reference Manual.
"""

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Type:
    """A type of LLVM; `element` is that of an array or a vector, `lanes` the length of a vector."""

    name: str
    element: "Type | None" = None
    lanes: int = 0

    @property
    def scalar(self) -> "Type":
        """The type of the lanes of a vector, or the type itself."""
        return self.element if self.lanes and self.element else self

    @property
    def bytes(self) -> int:
        """The size of an element in memory."""
        return 4 if self.name in ("float", "i32") else 1 if self.name in ("i1", "i8") else 8

    @property
    def align(self) -> int:
        """The alignment in memory, in bytes; that of a vector is that of its elements."""
        return 8 if self.name == "ptr" else self.scalar.bytes

    def vector(self, lanes: int) -> "Type":
        """Return the type of vectors of so many of these; with 0 lanes this type itself."""
        return Type(f"<{lanes} x {self.name}>", self, lanes) if lanes else self

    def value(self, f: "Function", name: str) -> Any:
        """Return the value of this type that has a name in a function."""
        return Value(f, self, name)


INT, INT32, BOOL, BYTE = Type("i64"), Type("i32"), Type("i1"), Type("i8")
FLOAT, DOUBLE = Type("float"), Type("double")


def array_of(element: Type) -> Type:
    """Return the type of an array."""
    return Type("ptr", element)


INTS, BYTES, FLOATS, DOUBLES = (array_of(element) for element in (INT, BYTE, FLOAT, DOUBLE))


class Value:
    """A number, a vector or an array in a function; its operators write instructions."""

    def __init__(self, f: "Function", type: Type, name: str) -> None:
        self.f, self.type, self.name = f, type, name

    def _two(self, other: Any, of_floats: str, of_ints: str) -> Any:
        a, b = self.f.alike(self, other)
        operation = of_ints if a.type.scalar.name.startswith("i") else of_floats
        return self.f.emit(f"{operation} {a.type.name} {a.name}, {b.name}", a.type)

    def __add__(self, other: Any) -> Any:
        if self.type.name == "ptr":
            return self._at(other)
        return self._two(other, "fadd", "add")

    def __sub__(self, other: Any) -> Any:
        return self._two(other, "fsub", "sub")

    def __mul__(self, other: Any) -> Any:
        return self._two(other, "fmul", "mul")

    def __truediv__(self, other: Any) -> Any:
        return self._two(other, "fdiv", "sdiv")

    def __floordiv__(self, other: Any) -> Any:  # of whole numbers that are not negative
        return self._two(other, "", "udiv")

    def __mod__(self, other: Any) -> Any:  # of such numbers, too
        return self._two(other, "", "urem")

    def __and__(self, other: Any) -> Any:
        return self._two(other, "", "and")

    def __or__(self, other: Any) -> Any:
        return self._two(other, "", "or")

    def __xor__(self, other: Any) -> Any:
        return self._two(other, "", "xor")

    def __lshift__(self, other: Any) -> Any:
        return self._two(other, "", "shl")

    def __rshift__(self, other: Any) -> Any:  # as if there were no sign
        return self._two(other, "", "lshr")

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Any) -> Any:
        return self.f.constant(other, self.type) - self

    def __rtruediv__(self, other: Any) -> Any:
        return self.f.constant(other, self.type) / self

    def __neg__(self) -> Any:
        return self.f.constant(0.0, self.type) - self

    def _compare(self, other: Any, how: str) -> Any:
        a, b = self.f.alike(self, other)
        of_ints = a.type.scalar.name.startswith("i")
        relation = how.replace("l", "sl").replace("g", "sg") if of_ints else f"o{how}"
        operation = "icmp" if of_ints else "fcmp"
        result = BOOL.vector(a.type.lanes)
        return self.f.emit(f"{operation} {relation} {a.type.name} {a.name}, {b.name}", result)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, "lt")

    def __le__(self, other: Any) -> Any:
        return self._compare(other, "le")

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, "gt")

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, "ge")

    def equals(self, other: Any) -> Any:
        """Return whether both are equal."""
        return self._compare(other, "eq")

    def __bool__(self) -> bool:
        raise TypeError("a value of a compiled function has no truth in Python: use f.when or f.select")

    def _at(self, index: Any) -> Any:
        element = self.type.element
        assert element is not None
        place = self.f.constant(index, INT)
        if isinstance(element, Record):
            return self.f.emit(
                f"getelementptr [{element.bytes} x i8], ptr {self.name}, i64 {place.name}", array_of(element)
            )
        return self.f.emit(f"getelementptr {element.name}, ptr {self.name}, i64 {place.name}", self.type)

    def __getitem__(self, index: Any) -> Any:
        element, at = self.type.element, self._at(index)
        if isinstance(element, Record):
            return element.value(self.f, at.name)
        return self.f.load(at, element)

    def __setitem__(self, index: Any, value: Any) -> None:
        element = self.type.element
        assert element is not None
        if not isinstance(value, Value):
            value = self.f.constant(value, element)
        self.f.store(self._at(index), value)

    def vector(self, index: Any, lanes: int) -> Any:
        """Return a vector of the elements from an index on."""
        element = self.type.element
        assert element is not None
        return self.f.load(self._at(index), element.vector(lanes))

    def lane(self, k: int) -> Any:
        """Return a lane of a vector."""
        return self.f.emit(f"extractelement {self.type.name} {self.name}, i32 {k}", self.type.scalar)


class Record(Type):
    """A structure of fields of 8 bytes each: integers, doubles, arrays, and addresses of records.

    Tables of the rows of `pack` lie in memory as arrays of the record.
    """

    def __init__(self, name: str, **fields: Type) -> None:
        super().__init__("ptr")
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "title", name)

    fields: dict[str, Type]
    title: str

    @property
    def bytes(self) -> int:
        """The size of a record."""
        return 8 * len(self.fields)

    def value(self, f: "Function", name: str) -> Any:
        """Return the record at an address."""
        return RecordValue(f, self, name)

    def pack(self, **values: Any) -> np.ndarray:
        """Return a record (fields,) int64 as it lies in memory.

        Args:
            values: one for each field: an integer, a double, an address, or an array of numpy whose address is kept
                (the array itself must be kept by the caller).

        Raises:
            TypeError: a field is missing or unknown.
        """
        if values.keys() != self.fields.keys():
            raise TypeError(f"record {self.title}: {sorted(values.keys() ^ self.fields.keys())}")
        words = np.zeros(len(self.fields), np.int64)
        for k, (name, type) in enumerate(self.fields.items()):
            value = values[name]
            if type == DOUBLE:
                words[k : k + 1].view(np.float64)[:] = value
            else:
                words[k] = value.ctypes.data if isinstance(value, np.ndarray) else value
        return words

    def column(self, name: str) -> int:
        """Return the index of a field in what `pack` returns."""
        return list(self.fields).index(name)


class RecordValue:
    """A record in a function: its attributes load and store fields."""

    def __init__(self, f: "Function", type: Record, name: str) -> None:
        self.__dict__.update(f=f, type=type, name=name)

    def _place(self, field: str) -> tuple[Value, Type]:
        type: Record = self.type
        if field not in type.fields:
            raise AttributeError(f"record {type.title} has no field {field!r}")
        at = self.f.emit(f"getelementptr i64, ptr {self.name}, i64 {type.column(field)}", INTS)
        return at, type.fields[field]

    def __getattr__(self, field: str) -> Any:
        at, type = self._place(field)
        return self.f.load(at, type)

    def __setattr__(self, field: str, value: Any) -> None:
        at, type = self._place(field)
        self.f.store(at, self.f.constant(value, type))


class Variable:
    """A value that changes; LLVM keeps it in a register."""

    def __init__(self, f: "Function", type: Type, start: Any) -> None:
        self._f, self._type, self._name = f, type, f.fresh("v")
        f.rooms.append(f"  {self._name} = alloca {type.name}")
        self.set(start)

    @property
    def value(self) -> Any:
        """The present value."""
        return self._f.emit(f"load {self._type.name}, ptr {self._name}", self._type)

    def set(self, value: Any) -> None:
        """Change the value."""
        value = self._f.constant(value, self._type)
        self._f.line(f"store {value.type.name} {value.name}, ptr {self._name}")

    def add(self, value: Any) -> None:
        """Add to the value."""
        self.set(self.value + value)


class Function:
    """A function that is being written; `Module.function` makes it."""

    def __init__(self, module: "Module", name: str, args: dict[str, Type], returns: Type | None, public: bool) -> None:
        self._module, self.name, self.arguments, self.result = module, name, list(args.values()), returns
        listed = ", ".join(f"{type.name} %{key}" for key, type in args.items())
        kind = "" if public else "internal "
        self._head = f"define {kind}{returns.name if returns else 'void'} @{name}({listed}) #0 {{"
        self._values = [type.value(self, f"%{key}") for key, type in args.items()]
        self.rooms: list[str] = []
        self._lines: list[str] = []
        self._count = 0
        self._returned = False

    def __enter__(self) -> tuple[Any, ...]:
        return (self, *self._values)

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is None:
            if not self._returned:
                self.line("ret void")
            self._module.functions.append("\n".join([self._head, "entry:", *self.rooms, *self._lines, "}"]))

    # -- writing -----------------------------------------------------------------------------------------------------

    def fresh(self, prefix: str = "t") -> str:
        """Return a name that this function has not used."""
        self._count += 1
        return f"%{prefix}{self._count}"

    def line(self, text: str) -> None:
        """Write an instruction."""
        self._lines.append(f"  {text}")

    def emit(self, text: str, type: Type) -> Any:
        """Write an instruction, and return its result."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        return type.value(self, name)

    def constant(self, x: Any, type: Type) -> Any:
        """Return a number as a value of a type; a scalar fills the lanes of a vector; a value of the type stays."""
        if isinstance(x, Value | RecordValue):
            if x.type.name == type.name:
                return x
            assert x.type == type.scalar, (x.type, type)
            return self.splat(x, type.lanes)
        if type.lanes:
            one = f"{type.scalar.name} {_number(x, type.scalar)}"
            return Value(self, type, f"<{', '.join([one] * type.lanes)}>")
        return Value(self, type, _number(x, type))

    def alike(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Return two operands, of which one is a value, as values of one type."""
        if isinstance(a, Value) and isinstance(b, Value):
            type = a.type if a.type.lanes else b.type
        else:
            type = a.type if isinstance(a, Value) else b.type
        return self.constant(a, type), self.constant(b, type)

    def splat(self, x: Any, lanes: int) -> Any:
        """Return a vector with the same number in all lanes."""
        type = x.type.vector(lanes)
        one = self.emit(f"insertelement {type.name} poison, {x.type.name} {x.name}, i32 0", type)
        zeros = f"<{lanes} x i32> zeroinitializer"
        return self.emit(f"shufflevector {type.name} {one.name}, {type.name} poison, {zeros}", type)

    def indices(self, lanes: int) -> Any:
        """Return the vector of integers 0, 1, 2, ..."""
        return Value(self, INT.vector(lanes), f"<{', '.join(f'{INT.name} {k}' for k in range(lanes))}>")

    def sum(self, x: Any) -> Any:
        """Return the sum of a vector's lanes, added in their order."""
        total = x.lane(0)
        for k in range(1, x.type.lanes):
            total = total + x.lane(k)
        return total

    def load(self, at: Any, type: Type | None) -> Any:
        """Return what lies at an address."""
        assert type is not None
        return self.emit(f"load {type.name}, ptr {at.name}, align {type.align}", type)

    def store(self, at: Any, value: Any) -> None:
        """Put a value at an address."""
        self.line(f"store {value.type.name} {value.name}, ptr {at.name}, align {value.type.align}")

    def variable(self, type: Type, start: Any) -> Variable:
        """Return a new variable."""
        return Variable(self, type, start)

    def array(self, element: Type, n: int) -> Any:
        """Return an array of n elements that lives as long as the call of this function."""
        name = self.fresh("array")
        self.rooms.append(f"  {name} = alloca [{n} x {element.name}], align 64")
        return array_of(element).value(self, name)

    def record(self, record: Record) -> Any:
        """Return a record that lives as long as the call of this function."""
        return record.value(self, self.array(INT, len(record.fields)).name)

    # -- arithmetic --------------------------------------------------------------------------------------------------

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """Return a b + c, rounded once."""
        operands = [x for x in (a, b, c) if isinstance(x, Value)]
        type = next((x.type for x in operands if x.type.lanes), operands[0].type)
        return self.intrinsic("fma", *(self.constant(x, type) for x in (a, b, c)))

    def sqrt(self, x: Any) -> Any:
        """Return the square root."""
        return self.intrinsic("sqrt", x)

    def floor(self, x: Any) -> Any:
        """Return the largest whole number that is not above x."""
        return self.intrinsic("floor", x)

    def abs(self, x: Any) -> Any:
        """Return |x|."""
        return self.intrinsic("fabs", x)

    def intrinsic(self, name: str, *args: Any) -> Any:
        """Call an intrinsic of LLVM whose arguments and result have one type."""
        type = args[0].type
        short = {"float": "f32", "double": "f64"}[type.scalar.name]
        full = f"llvm.{name}.{f'v{type.lanes}' if type.lanes else ''}{short}"
        listed = ", ".join([type.name] * len(args))
        self._module.declared.add(f"declare {type.name} @{full}({listed})")
        return self.emit(f"call {type.name} @{full}({', '.join(f'{type.name} {x.name}' for x in args)})", type)

    def select(self, condition: Any, a: Any, b: Any) -> Any:
        """Return a where the condition holds, else b."""
        a, b = self.alike(a, b)
        return self.emit(
            f"select {condition.type.name} {condition.name}, {a.type.name} {a.name}, {b.type.name} {b.name}", a.type
        )

    def any(self, condition: Any) -> Any:
        """Return whether a condition holds in some lane of a vector."""
        lanes = condition.type.lanes
        bits = self.emit(f"bitcast {condition.type.name} {condition.name} to i{lanes}", Type(f"i{lanes}"))
        return self.emit(f"icmp ne i{lanes} {bits.name}, 0", BOOL)

    def no(self, condition: Any) -> Any:
        """Return whether a condition does not hold."""
        return self.select(condition, self.constant(0, condition.type), self.constant(1, condition.type))

    def replaced(self, vector: Any, lane: int, number: Any) -> Any:
        """Return a vector with another number in a lane."""
        type, one = vector.type, self.constant(number, vector.type.scalar)
        return self.emit(f"insertelement {type.name} {vector.name}, {one.type.name} {one.name}, i32 {lane}", type)

    def shuffle(self, a: Any, b: Any, lanes: Sequence[int]) -> Any:
        """Return a vector of lanes of a, which count from 0, and of b, which follow those of a."""
        type = a.type.scalar.vector(len(lanes))
        chosen = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.emit(
            f"shufflevector {a.type.name} {a.name}, {b.type.name} {b.name}, <{len(lanes)} x i32> <{chosen}>", type
        )

    def total(self, x: Any) -> Any:
        """Return the sum of the lanes of a vector: its halves are added until one number is left."""
        half = x.type.lanes // 2
        while half:
            x = self.shuffle(x, x, range(half)) + self.shuffle(x, x, range(half, 2 * half))
            half //= 2
        return x.lane(0)

    def load_first(self, at: Any, n: Any, lanes: int) -> Any:
        """Return a vector of the n elements at an address, or of so many as it has lanes; other lanes are 0."""
        type = at.type.element.vector(lanes)
        numbers = Value(self, INT.vector(lanes), f"<{', '.join(f'i64 {k}' for k in range(lanes))}>")
        few = numbers < n
        full = f"llvm.masked.load.v{lanes}f32.p0"
        self._module.declared.add(f"declare {type.name} @{full}(ptr, i32, {few.type.name}, {type.name})")
        rest = f"i32 {type.align}, {few.type.name} {few.name}, {type.name} zeroinitializer"
        return self.emit(f"call {type.name} @{full}(ptr {at.name}, {rest})", type)

    def minimum(self, a: Any, b: Any) -> Any:
        """Return the smaller one; b if one is not a number."""
        a, b = self.alike(a, b)
        return self.select(a < b, a, b)

    def maximum(self, a: Any, b: Any) -> Any:
        """Return the larger one; b if one is not a number."""
        a, b = self.alike(a, b)
        return self.select(a > b, a, b)

    def convert(self, x: Any, type: Type) -> Any:
        """Return a number, or each lane of a vector, as one of another type."""
        target = type.vector(x.type.lanes)
        before, after = x.type.scalar, type
        if before.name.startswith("i"):
            word = "sitofp" if after in (FLOAT, DOUBLE) else "sext" if after.bytes > before.bytes else "trunc"
            if before in (BOOL, BYTE):
                word = "uitofp" if after in (FLOAT, DOUBLE) else "zext"
        elif after.name.startswith("i"):
            word = "fptosi"
        else:
            word = "fpext" if after.bytes > before.bytes else "fptrunc"
        return self.emit(f"{word} {x.type.name} {x.name} to {target.name}", target)

    def reinterpret(self, x: Any, type: Type) -> Any:
        """Return the bits of a number, or of each lane of a vector, as another type of the same size."""
        target = type.vector(x.type.lanes)
        return self.emit(f"bitcast {x.type.name} {x.name} to {target.name}", target)

    # -- flow --------------------------------------------------------------------------------------------------------

    @contextmanager
    def loop(self, start: Any, stop: Any, step: Any = 1) -> Iterator[Any]:
        """Repeat a block with i = start, start + step, ... below stop."""
        i = self.variable(INT, start)
        stop, step = self.constant(stop, INT), self.constant(step, INT)
        head, body, end = (self.fresh(part)[1:] for part in ("head", "body", "end"))
        self.line(f"br label %{head}")
        self._lines.append(f"{head}:")
        now = i.value
        go = now < stop
        self.line(f"br i1 {go.name}, label %{body}, label %{end}")
        self._lines.append(f"{body}:")
        yield now
        i.set(now + step)
        self.line(f"br label %{head}")
        self._lines.append(f"{end}:")

    @contextmanager
    def when(self, condition: Any) -> Iterator[None]:
        """Run a block if a condition holds."""
        then, past = self.fresh("then")[1:], self.fresh("past")[1:]
        self.line(f"br i1 {condition.name}, label %{then}, label %{past}")
        self._lines.append(f"{then}:")
        yield
        self.line(f"br label %{past}")
        self._lines.append(f"{past}:")

    def call(self, function: "Function", *args: Any) -> Any:
        """Call a function that was written before; return its result, if it has one."""
        values = [self.constant(x, type) for x, type in zip(args, function.arguments, strict=True)]
        listed = ", ".join(f"{x.type.name} {x.name}" for x in values)
        if function.result is None:
            self.line(f"call void @{function.name}({listed})")
            return None
        return self.emit(f"call {function.result.name} @{function.name}({listed})", function.result)

    def call_address(self, address: Any, *args: Any) -> None:
        """Call the function at an address, which returns nothing."""
        self.line(f"call void {address.name}({', '.join(f'{x.type.name} {x.name}' for x in args)})")

    def give(self, value: Any) -> None:
        """Return a value; nothing may follow."""
        assert self.result is not None
        value = self.constant(value, self.result)
        self.line(f"ret {value.type.name} {value.name}")
        self._returned = True


class Module:
    """Functions that are compiled together."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.declared: set[str] = set()

    def function(self, name: str, returns: Type | None = None, public: bool = False, **args: Type) -> Function:
        """Begin a function; `with` gives the function and its arguments, and ends it.

        Args:
            name: of the function, unique in the module.
            returns: the type of the result; None: it has none.
            public: whether other code may call it.
            args: names and types.
        """
        return Function(self, name, args, returns, public)

    def text(self) -> str:
        """Return the module as LLVM reads it; vectors may be as wide as the processor's registers."""
        attributes = 'attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }'
        return "\n".join([*sorted(self.declared), *self.functions, attributes, ""])


def _number(x: Any, type: Type) -> str:
    """Return a constant as LLVM writes it; that of a float is rounded, and written as the double of the same value."""
    if type.name.startswith("i"):
        return str(int(x))
    if type.name == "ptr":
        assert x == 0
        return "null"
    value = float(np.float32(x)) if type == FLOAT else float(x)
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
