"""Items of a loop side by side in a register: LLVM's IR of the work on one item becomes that on several at a time.

The code of an item, such as a pixel, branches and loops as it likes. Here each of its numbers becomes a vector with one
entry per lane, and each operation one on vectors, with the same bits. A branch becomes masks: a block runs if a lane
has to go there, and changes only the numbers of its lanes (single instruction, multiple threads). The blocks are in one
order, in which loops and the blocks behind a branch are contiguous. So a block without lanes is skipped together with
those to which only it leads. Numbers that are the same in all lanes stay plain numbers, and branches on them cost no
masks.

Karrenberg and Hack, Whole-function vectorization (CGO 2011); Moll and Hack, Partial control-flow linearization (PLDI
2018). Values that pass from block to block lie in stack slots; LLVM makes registers of these.
"""

import re
from typing import Any

from .lockstep_graph import (
    ARITHMETIC,
    CASTS,
    LANE,
    LARGEST,
    NAME,
    RANK,
    TYPE,
    CodeBlock,
    Graph,
    Instruction,
    Loop,
    blocks_of,
    marked,
    read_arguments_once,
)

_WHOLE = "sqrt fabs floor ceil trunc rint maxnum minnum maximum minimum smax smin umax umin copysign fma abs".split()
"""LLVM's functions that take vectors, too."""
_SMALL = 12  # instructions of a block that runs with no lane rather than being left out


def in_lockstep(text: str, name: str, width: int) -> str:
    """Return a module in which a function does the work of `width` lanes at once.

    Args:
        text: the module.
        name: of the function, whose blocks may have marks: see `LANE`.
        width: lanes.

    Raises:
        ValueError: the function has an instruction that has no counterpart for vectors.
    """
    found = re.search(rf"^(define [^\n]*@{re.escape(name)}\(([^\n]*)\)[^\n]*\{{)\n(.*?)^\}}\n", text, re.M | re.S)
    if not found:
        raise ValueError(f"there is no function {name}")
    arguments = re.findall(rf"({NAME})(?=,|$)", found[2])
    blocks = blocks_of(found[3], found[2])
    read_arguments_once(blocks, arguments[0])
    graph = Graph(blocks, arguments)
    written = _Writer(graph, width)
    head = re.sub(NAME + r"(?=[,)])", lambda m: _renamed(m[0]), found[1])
    return (
        text[: found.start()] + head + "\n" + written.text() + "}\n" + text[found.end() :] + written.declarations(text)
    )


def _renamed(name: str) -> str:
    return '%"v.' + name[1:].strip('"') + '"'


class _Writer:
    """Writes the blocks of a graph one after the other, on vectors."""

    def __init__(self, graph: Graph, width: int) -> None:
        self.graph, self.width = graph, width
        self._lines: list[str] = []
        self._slots: dict[str, str] = {}  # name and type
        self._declared: set[str] = set()
        self._count, self._label = 0, ""
        self._cache: dict[str, Any] = {}  # what is already there of a block, by name
        self._place = {block.name: i for i, block in enumerate(graph.order)}
        self._ends: dict[int, list[Loop]] = {}
        for loop in graph.loops:
            places = [self._place[name] for name in loop.members]
            if max(places) - min(places) + 1 != len(places):
                raise ValueError("a loop whose blocks are not side by side")
            self._ends.setdefault(max(places) + 1, []).append(loop)
        for ends in self._ends.values():
            ends.sort(key=lambda loop: len(loop.members))
        self._crossing, self._leaving = self._uses()
        self._resets: dict[str, list[CodeBlock]] = {}
        for block in graph.blocks[1:]:
            at = graph.blocks[block.parent]
            while any(loop not in block.loops for loop in at.loops):
                at = graph.blocks[at.parent]
            self._resets.setdefault(at.name, []).append(block)
        self._free = {block.name for i, block in enumerate(graph.order) if i and self._is_free(i, block)}
        for i, block in enumerate(graph.order):
            self._write(i, block)
        self._end_loops(len(graph.order))
        self._put("ret void")

    def text(self) -> str:
        """Return the body of the function."""
        slots = [f"  {name} = alloca {kind}\n" for name, kind in self._slots.items()]
        head = ["start:\n", f"  %dummy = alloca <{self.width} x i64>\n", *slots, "  br label %check.0\n"]
        return "".join([*head, *(line + "\n" for line in self._lines)])

    def declarations(self, text: str) -> str:
        """Return the declarations of functions that a module does not have yet."""
        return "".join(f"{line}\n" for line in sorted(self._declared) if line.split("(")[0].split("@")[1] not in text)

    def _uses(self) -> tuple[set[str], set[str]]:
        """Return the values that other blocks use, and the values of loops that lanes leave at different times."""
        crossing: set[str] = set()
        leaving: set[str] = set()
        graph = self.graph
        for block in graph.blocks:
            uses = [(name, block) for one in block.body for name in one.operands]
            uses += [(value, graph.named[label]) for one in block.phis for value, label in one.incoming]
            uses += [(value, block) for one in block.phis for value, _ in one.incoming if graph.left(value, block)]
            uses += [(block.condition, block)] if block.condition else []
            uses += [(one.condition, block) for one in block.before if one.condition]
            for name, at in uses:
                one = graph.defined.get(name)
                if one is not None and one.block is not at:
                    (leaving if graph.left(name, at) else crossing).add(name)
        return crossing, leaving

    # -- words

    def _put(self, line: str) -> None:
        self._lines.append(f"  {line}")

    def _let(self, line: str) -> str:
        self._count += 1
        self._put(f"%t.{self._count} = {line}")
        return f"%t.{self._count}"

    def _start(self, label: str) -> None:
        self._lines.append(f"{label}:")
        self._label, self._cache = label, {}

    def _wide(self, kind: str) -> str:
        return f"<{self.width} x {kind}>"

    def _slot(self, name: str, kind: str) -> str:
        self._slots.setdefault(name, kind)
        return name

    def _kept(self, kind: str, varying: bool) -> str:
        """Return the type in which a value lies in a slot: LLVM has no good code for vectors of single bits there."""
        return kind if not varying else self._wide("i32" if kind == "i1" else kind)

    def _store(self, value: str, kind: str, varying: bool, slot: str) -> None:
        kept = self._kept(kind, varying)
        if varying and kind == "i1":
            value = self._let(f"sext {self._wide('i1')} {value} to {kept}")
        self._put(f"store {kept} {value}, ptr {self._slot(slot, kept)}")

    def _load(self, kind: str, varying: bool, slot: str) -> str:
        kept = self._kept(kind, varying)
        value = self._let(f"load {kept}, ptr {self._slot(slot, kept)}")
        return self._bits(value) if varying and kind == "i1" else value

    def _bits(self, value: str) -> str:
        return self._let(f"icmp slt {self._wide('i32')} {value}, zeroinitializer")

    def _any(self, bits: str) -> str:
        number = self._let(f"bitcast {self._wide('i1')} {bits} to i{self.width}")
        return self._let(f"icmp ne i{self.width} {number}, 0")

    def _pick(self, bits: str, kind: str, a: str, b: str) -> str:
        return self._let(f"select {self._wide('i1')} {bits}, {self._wide(kind)} {a}, {self._wide(kind)} {b}")

    def _plain(self, value: str, at: CodeBlock) -> str:
        """Return a value that is the same in all lanes."""
        if not value.startswith("%"):
            return value
        one = self.graph.defined.get(value)
        if one is None or one.block is at or one.block is self.graph.first:
            return _renamed(value)
        if value not in self._cache:
            self._cache[value] = self._load(one.type, False, _slot_of("s", value))
        return self._cache[value]

    def _vector(self, value: str, kind: str, at: CodeBlock) -> str:
        """Return a value in all lanes."""
        if not value.startswith("%"):
            return f"<{', '.join([f'{kind} {value}'] * self.width)}>"
        key = f"{value} in lanes"
        if key in self._cache:
            return self._cache[key]
        if self.graph.left(value, at):
            found = self._load(kind, True, _slot_of("o", value))
        elif value in self.graph.varying:
            block = self.graph.defined[value].block
            if block is at or block is self.graph.first:
                return _renamed(value)
            found = self._load(kind, True, _slot_of("s", value))
        else:
            found = self._splat(self._plain(value, at), kind)
        self._cache[key] = found
        return found

    def _splat(self, value: str, kind: str) -> str:
        one = self._let(f"insertelement {self._wide(kind)} poison, {kind} {value}, i64 0")
        return self._let(
            f"shufflevector {self._wide(kind)} {one}, {self._wide(kind)} poison, {self._wide('i32')} zeroinitializer"
        )

    # -- blocks

    def _write(self, i: int, block: CodeBlock) -> None:
        graph = self.graph
        self._end_loops(i)
        after = self._after(i, block)
        if block is graph.first:
            self._kept_mask = self._vector("-1", "i32", block)
        else:
            guard = self._guard(block)
            if guard:
                self._put(f"br i1 {guard}, label %do.{i}, label %{self._next(block, after)}")
                self._start(f"do.{i}")
            self._kept_mask = self._load("i32", True, _slot_of("pend", block.name))
        self._mask = self._bits(self._kept_mask)
        for other in self._resets.get(block.name, []):
            self._clear(other)
        if self._is_head(block):
            self._put(f"store {self._wide('i32')} zeroinitializer, ptr {_slot_of('pend', block.name)}")
        for one in block.phis:
            varying = one.result in graph.varying
            kept = self._kept(one.type, varying)
            name = _renamed(one.result)
            slot = self._slot(_slot_of("in", one.result), kept)
            if varying and one.type == "i1":
                self._put(f"{name} = icmp slt {kept} {self._let(f'load {kept}, ptr {slot}')}, zeroinitializer")
            else:
                self._put(f"{name} = load {kept}, ptr {slot}")
        for one in block.phis:
            self._share(one)
        for one in block.body:
            if one.result in graph.varying or (not one.result and self._has_lanes(one)):
                _WIDE.get(one.op, _Writer._refuse)(self, one)
            else:
                self._same(one)
            if one.result:
                self._share(one)
        self._lead_on(block)
        self._put(f"br label %{self._next(block, i + 1)}")

    def _end_loops(self, i: int) -> None:
        """Begin the place before block i: loops that end there begin again if lanes have come to their heads."""
        ends = self._ends.get(i, [])
        heads = [self._place[loop.head.name] for loop in ends]
        for k, head in enumerate(heads):
            self._start(f"end.{head}")
            again = self._any(self._load("i1", True, _slot_of("pend", ends[k].head.name)))
            on = f"end.{heads[k + 1]}" if k + 1 < len(heads) else f"check.{i}"
            self._put(f"br i1 {again}, label %check.{head}, label %{on}")
        self._start(f"check.{i}")

    def _next(self, block: CodeBlock, i: int) -> str:
        """Return the label by which to go on from a block before block i: the ends of loops around it are on the way.

        Those of others are not, as no lane has been in them, and their masks may not be there.
        """
        ends = [loop for loop in self._ends.get(i, []) if block.name in loop.members]
        return f"end.{self._place[ends[0].head.name]}" if ends else f"check.{i}"

    def _guard(self, block: CodeBlock) -> str:
        """Return the condition that a lane comes to a block; "" if the block runs without one."""
        if block.name in self._free:
            return ""
        if self._is_led(block):
            before = block.before[0]
            condition = self._plain(before.condition, block)
            return condition if before.ways[0][0] == block.name else self._let(f"xor i1 {condition}, true")
        return self._any(self._load("i1", True, _slot_of("pend", block.name)))

    def _is_free(self, i: int, block: CodeBlock) -> bool:
        """Return True if a block may run without lanes, and is so small that this is better than to skip it."""
        heavy = ("load", "store", "call", "sdiv", "srem", "udiv", "urem")
        if self._after(i, block) > i + 1 or len(block.body) > _SMALL or self._is_head(block):
            return False
        leads = block.condition and not self.graph.is_varying(block.condition, block)
        feeds = any(one.result not in self.graph.varying for other in block.after for one in other.phis)
        return not leads and not feeds and not any(one.op in heavy and not _is_whole(one) for one in block.body)

    def _after(self, i: int, block: CodeBlock) -> int:
        """Return the place behind block i and those to which only it leads."""
        order = self.graph.order
        return next((k for k in range(i + 1, len(order)) if not self.graph.dominates(block, order[k])), len(order))

    def _is_head(self, block: CodeBlock) -> bool:
        return bool(block.loops) and block.loops[-1].head is block

    def _clear(self, block: CodeBlock) -> None:
        kept = self._wide("i32")
        slot = self._slot(_slot_of("pend", block.name), kept)
        self._put(f"store {kept} zeroinitializer, ptr {slot}")

    def _share(self, one: Instruction) -> None:
        """Put a value into slots for other blocks."""
        varying = one.result in self.graph.varying
        if one.result in self._crossing and one.block is not self.graph.first:
            self._store(_renamed(one.result), one.type, varying, _slot_of("s", one.result))
        if one.result in self._leaving:
            value = _renamed(one.result) if varying else self._splat(_renamed(one.result), one.type)
            old = self._load(one.type, True, _slot_of("o", one.result))
            self._store(self._pick(self._mask, one.type, value, old), one.type, True, _slot_of("o", one.result))

    def _lead_on(self, block: CodeBlock) -> None:
        """Send the lanes of a block on."""
        edges: dict[str, tuple[str, str]] = {}
        varying, rest = self.graph.parts(block), ""
        one, wide = "i1" if not varying else self._wide("i1"), self._wide("i32")
        for label, value in block.ways:
            mask, taken = self._kept_mask, ""
            if block.condition:
                of = self._vector if varying else lambda value, kind, at: self._plain(value, at)
                given = of(block.condition, block.type, block)
                if not value:
                    taken = rest
                elif block.type == "i1":
                    taken = given
                else:
                    kind = self._wide(block.type) if varying else block.type
                    taken = self._let(f"icmp eq {kind} {given}, {of(value, block.type, block)}")
                if value:
                    other = self._let(f"xor {one} {taken}, {of('true', 'i1', block)}")
                    rest = self._let(f"and {one} {rest}, {other}") if rest else other
                if label in edges:
                    taken = self._let(f"or {one} {taken}, {edges[label][1]}")
            edges[label] = mask, taken
        for label, (mask, taken) in edges.items():
            target, here = self.graph.named[label], mask
            if taken and varying:
                here = self._let(f"and {wide} {mask}, {self._let(f'sext {one} {taken} to {wide}')}")
            elif taken and not self._is_led(target):
                here = self._let(f"select i1 {taken}, {wide} {mask}, {wide} zeroinitializer")
            self._go(block, target, here, taken if not varying else "")

    def _is_led(self, block: CodeBlock) -> bool:
        """Return True if a block runs by a condition that is the same in all lanes of the only one before it."""
        before = block.before[0]
        return (
            len(block.before) == 1
            and block.name not in self._free
            and before.loops == block.loops
            and before.type == "i1"
            and bool(before.condition)
            and not self.graph.is_varying(before.condition, before)
        )

    def _go(self, block: CodeBlock, other: CodeBlock, mask: str, taken: str) -> None:
        """Send lanes from a block to another: its phis get their values, and its mask these lanes."""
        slot = _slot_of("pend", other.name)
        level = all(loop in other.loops for loop in block.loops)
        if len(other.before) > 1 or not level:
            wide = self._wide("i32")
            self._store(self._let(f"or {wide} {mask}, {self._load('i32', True, slot)}"), "i32", True, slot)
        else:
            self._store(mask, "i32", True, slot)
        group = [b for b in other.before if (b.number >= other.number) == (block.number >= other.number)]
        first = level and block is min(group, key=lambda b: self._place[b.name])
        for one in other.phis:
            value = next(value for value, label in one.incoming if label == block.name)
            slot = _slot_of("in", one.result)
            if one.result in self.graph.varying:
                given = self._vector(value, one.type, block)
                if not first or (block.number >= other.number and one.result in self._leaving):
                    given = self._pick(self._bits(mask), one.type, given, self._load(one.type, True, slot))
                self._store(given, one.type, True, slot)
                continue
            given = self._plain(value, block)
            if taken:
                given = self._let(
                    f"select i1 {taken}, {one.type} {given}, {one.type} {self._load(one.type, False, slot)}"
                )
            self._store(given, one.type, False, slot)

    # -- instructions

    def _has_lanes(self, one: Instruction) -> bool:
        return any(self.graph.is_varying(name, one.block) for name in one.operands)

    def _same(self, one: Instruction) -> None:
        """Write an instruction whose operands are the same in all lanes."""
        if marked(one) == LARGEST:
            return self._largest(one)
        if one.op in ("alloca", "fence", "atomicrmw", "cmpxchg"):
            self._refuse(one)
        text = re.sub(NAME, lambda m: self._plain(m[0], one.block) if self._is_value(m[0]) else m[0], one.text)
        self._put((f"{_renamed(one.result)} = " if one.result else "") + f"{one.op} {text}")
        return None

    def _is_value(self, name: str) -> bool:
        return name in self.graph.defined or name in self.graph.arguments

    def _refuse(self, one: Instruction) -> None:
        raise ValueError(f"no vectors for {one.op} {one.text}")

    def _result(self, one: Instruction, line: str) -> None:
        self._put(f"{_renamed(one.result)} = {line}")

    def _arithmetic(self, one: Instruction) -> None:
        head, kind, a, b = self._parsed(one, rf"((?:\w+ )??)({TYPE}) ([^,]+), (.+)$")
        known = not b.startswith("%")
        a, b = self._vector(a, kind, one.block), self._vector(b, kind, one.block)
        if one.op in ("sdiv", "udiv", "srem", "urem") and not known:  # the processor stops at a zero in any lane
            b = self._pick(self._mask, kind, b, self._vector("1", kind, one.block))
        self._result(one, f"{one.op} {head}{self._wide(kind)} {a}, {b}")

    def _parsed(self, one: Instruction, pattern: str) -> tuple[str, ...]:
        found = re.match(pattern, one.text)
        if not found:
            self._refuse(one)
        assert found is not None
        return found.groups()

    def _unary(self, one: Instruction) -> None:
        kind, a = self._parsed(one, rf"({TYPE}) (.+)$")
        self._result(one, f"{one.op} {self._wide(kind)} {self._vector(a, kind, one.block)}")

    def _cast(self, one: Instruction) -> None:
        kind, a, to = self._parsed(one, rf"({TYPE}) (\S+) to ({TYPE})$")
        self._result(one, f"{one.op} {self._wide(kind)} {self._vector(a, kind, one.block)} to {self._wide(to)}")

    def _choice(self, one: Instruction) -> None:
        condition, kind, a, b = self._parsed(one, rf"i1 ([^,]+), ({TYPE}) ([^,]+), {TYPE} (.+)$")
        a, b = self._vector(a, kind, one.block), self._vector(b, kind, one.block)
        if self.graph.is_varying(condition, one.block):
            how = f"{self._wide('i1')} {self._vector(condition, 'i1', one.block)}"
        else:
            how = f"i1 {self._plain(condition, one.block)}"
        self._result(one, f"select {how}, {self._wide(kind)} {a}, {self._wide(kind)} {b}")

    def _address(self, one: Instruction) -> None:
        def operand(match: re.Match[str]) -> str:
            kind, name = match[1], match[2]
            if self.graph.is_varying(name, one.block):
                return f"{self._wide(kind)} {self._vector(name, kind, one.block)}"
            return f"{kind} {self._plain(name, one.block)}"

        self._result(one, f"getelementptr {re.sub(rf'({TYPE}) ({NAME})', operand, one.text)}")

    def _addresses(self, one: Instruction, pointer: str) -> list[str]:
        """Return the address of each lane; an idle lane gets the address of a scratch number."""
        key = f"{pointer} as addresses"
        if key not in self._cache:
            wide = self._wide("ptr")
            safe = self._pick(self._mask, "ptr", self._vector(pointer, "ptr", one.block), self._splat("%dummy", "ptr"))
            self._cache[key] = [self._let(f"extractelement {wide} {safe}, i64 {k}") for k in range(self.width)]
        return self._cache[key]

    def _gather(self, one: Instruction) -> None:
        kind, pointer = self._parsed(one, rf"({TYPE}), ptr (\S+)$")
        found = "poison"
        for k, address in enumerate(self._addresses(one, pointer)):
            number = self._let(f"load {kind}, ptr {address}")
            found = self._let(f"insertelement {self._wide(kind)} {found}, {kind} {number}, i64 {k}")
        self._result(one, f"freeze {self._wide(kind)} {found}")

    def _scatter(self, one: Instruction) -> None:
        kind, value, pointer = self._parsed(one, rf"({TYPE}) ([^,]+), ptr (\S+)$")
        if not self.graph.is_varying(pointer, one.block):
            self._refuse(one)
        values = self._vector(value, kind, one.block)
        for k, address in enumerate(self._addresses(one, pointer)):
            number = self._let(f"extractelement {self._wide(kind)} {values}, i64 {k}")
            self._put(f"store {kind} {number}, ptr {address}")

    def _call(self, one: Instruction) -> None:
        kind, name, given = self._parsed(one, rf"(?:[\w()]+ )*?({TYPE}) @([\w.]+)\((.*)\)$")
        pairs = [(text.split()[0], text.split()[-1]) for text in given.split(", ")]
        if marked(one) == LANE:
            numbers = ", ".join(f"float {k}.0" for k in range(self.width))
            return self._result(one, f"freeze {self._wide(kind)} <{numbers}>")
        if marked(one) == RANK:
            return self._rank(one)
        if _is_whole(one):
            wide = f"llvm.{name.split('.')[1]}.v{self.width}{name.split('.')[2]}"
            args = [(k, v) if k == "i1" else (self._wide(k), self._vector(v, k, one.block)) for k, v in pairs]
            self._declared.add(f"declare {self._wide(kind)} @{wide}({', '.join(k for k, _ in args)})")
            return self._result(one, f"call {self._wide(kind)} @{wide}({', '.join(f'{k} {v}' for k, v in args)})")
        vectors = [(k, self._vector(v, k, one.block)) for k, v in pairs]
        found = "poison"
        for lane in range(self.width):
            there = self._let(f"extractelement {self._wide('i1')} {self._mask}, i64 {lane}")
            self._count += 1
            call, over, cache, before = f"call.{self._count}", f"over.{self._count}", self._cache, self._label
            self._put(f"br i1 {there}, label %{call}, label %{over}")
            self._start(call)
            own = [f"{k} " + self._let(f"extractelement {self._wide(k)} {v}, i64 {lane}") for k, v in vectors]
            number = self._let(f"call {kind} @{name}({', '.join(own)})")
            more = self._let(f"insertelement {self._wide(kind)} {found}, {kind} {number}, i64 {lane}")
            self._put(f"br label %{over}")
            self._start(over)
            found = self._let(f"phi {self._wide(kind)} [ {found}, %{before} ], [ {more}, %{call} ]")
            self._cache = cache
        return self._result(one, f"freeze {self._wide(kind)} {found}")

    def _rank(self, one: Instruction) -> None:
        """Write the number of active lanes before each lane."""
        wide, number = self._wide("i32"), f"i{self.width}"
        bits = self._let(f"bitcast {self._wide('i1')} {self._mask} to {number}")
        every = self._splat(self._let(f"zext {number} {bits} to i32"), "i32")
        before = ", ".join(f"i32 {(1 << lane) - 1}" for lane in range(self.width))
        self._declared.add(f"declare {wide} @llvm.ctpop.v{self.width}i32({wide})")
        count = self._let(
            f"call {wide} @llvm.ctpop.v{self.width}i32({wide} {self._let(f'and {wide} {every}, <{before}>')})"
        )
        self._result(one, f"sitofp {wide} {count} to {self._wide('float')}")

    def _largest(self, one: Instruction) -> None:
        """Write the largest number of all active lanes; positive floats have the order of their bits."""
        value = self._vector(self._parsed(one, r".*@atan2f\(float (?:noundef )?([^,]+),")[0], "float", one.block)
        numbers = self._let(f"bitcast {self._wide('float')} {value} to {self._wide('i32')}")
        least = self._vector(str(-(1 << 31)), "i32", one.block)
        name = f"@llvm.vector.reduce.smax.v{self.width}i32"
        self._declared.add(f"declare i32 {name}({self._wide('i32')})")
        bits = self._let(f"call i32 {name}({self._wide('i32')} {self._pick(self._mask, 'i32', numbers, least)})")
        self._result(one, f"bitcast i32 {bits} to float")


def _slot_of(kind: str, name: str) -> str:
    return f'%"{kind}.' + name[1:].strip('"') + '"'


def _is_whole(one: Instruction) -> bool:
    """Return True for a call of a function that LLVM has for vectors, too."""
    found = re.search(r"@llvm\.(\w+)\.", one.text) if one.op == "call" else None
    return found is not None and found[1] in _WHOLE


_WIDE = dict.fromkeys([*ARITHMETIC, "icmp", "fcmp"], _Writer._arithmetic) | dict.fromkeys(CASTS, _Writer._cast)
_WIDE |= {"fneg": _Writer._unary, "freeze": _Writer._unary, "select": _Writer._choice, "call": _Writer._call}
_WIDE |= {"getelementptr": _Writer._address, "load": _Writer._gather, "store": _Writer._scatter}
