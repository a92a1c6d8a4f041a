"""A function of LLVM's IR, read from its text: blocks, loops, and which of its values vary between lanes.

A value varies if lanes may have different ones: the number of the lane, what follows from it, and what depends on the
way on which lanes came to a block. Lanes that leave a loop at different times have different values of what is made in
it, too.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property

LANE, RANK, LARGEST = 12345.0, 23451.0, 54321.0
"""Second arguments of arctangents in a kernel that stand for something else: the number of the lane, the number of
active lanes before it, and the largest of the lanes' numbers (the first argument, -1 or more)."""


NAME = r'%(?:[-\w.$]+|"[^"]*")'
TYPE = r"(?:float|double|i\d+|ptr)"
_FLAGS = r"(?:(?:nuw|nsw|exact|inbounds|nnan|ninf|nsz|arcp|contract|afn|reassoc|fast|disjoint|nneg|samesign) )*"
ARITHMETIC = "fadd fsub fmul fdiv frem add sub mul sdiv udiv srem urem shl lshr ashr and or xor".split()
CASTS = "trunc zext sext fptrunc fpext fptosi fptoui sitofp uitofp bitcast ptrtoint inttoptr".split()


@dataclass(eq=False)
class Instruction:
    """An instruction, as text."""

    result: str  # with its %, "" for none
    op: str
    text: str  # what follows the operation, without flags and metadata
    block: "CodeBlock"

    @cached_property
    def operands(self) -> list[str]:
        """Return the names in it, which may be labels or types, too."""
        return re.findall(NAME, self.text)

    @cached_property
    def type(self) -> str:
        """Return the type of its result."""
        if self.op in ("icmp", "fcmp"):
            return "i1"
        if self.op == "getelementptr":
            return "ptr"
        if self.op in CASTS:
            return self.text.rpartition(" to ")[2].strip()
        text = self.text.partition(",")[2].strip() if self.op == "select" else self.text
        found = re.match(rf"(?:noundef )*({TYPE}|void)\b", text)
        if not found:
            raise ValueError(f"the type of {self.op} {self.text!r} has no vectors")
        return found[1]

    @cached_property
    def incoming(self) -> list[tuple[str, str]]:
        """Return the values of a phi, and the blocks that they come from."""
        return re.findall(rf"\[ ([^,\]]+), ({NAME}) \]", self.text)


@dataclass(eq=False)
class CodeBlock:
    """A block: instructions, and where they lead."""

    name: str
    phis: list[Instruction] = field(default_factory=list)
    body: list[Instruction] = field(default_factory=list)
    condition: str = ""  # the value that decides where it leads, "" if there is one way
    type: str = "i1"  # of the condition
    ways: list[tuple[str, str]] = field(default_factory=list)  # label and the condition's value; "": any other
    before: list["CodeBlock"] = field(default_factory=list)
    after: list["CodeBlock"] = field(default_factory=list)
    number: int = 0  # in an order in which no edge but that to a loop's head leads back
    dominators: int = 0  # bits of their numbers
    loops: list["Loop"] = field(default_factory=list)  # from the outermost to the innermost

    @property
    def parent(self) -> int:
        """Return the number of the nearest dominator before this block, -1 for the first one."""
        return (self.dominators & ~(1 << self.number)).bit_length() - 1


@dataclass(eq=False)
class Loop:
    """A loop, by its blocks."""

    head: CodeBlock
    members: set[str]
    latches: list[CodeBlock]
    varied: bool = False  # lanes may leave it at different times


def blocks_of(body: str, arguments: str) -> list[CodeBlock]:
    """Parse a function's body."""
    unnamed = len(re.findall(r"%\d+(?=,|$)", arguments))
    body = re.sub(r"\n\s*(?=(?:i\d+ -?\d+, label|\]))", " ", body)  # a switch on one line
    blocks = [CodeBlock(f"%{unnamed}")]
    for line in body.split("\n"):
        line = re.sub(r"\s+;.*$|, ![\w.]+ ![\w.]+|,? ?#\d+$|, align \d+", "", line)
        if label := re.match(r'([-\w.$]+|"[^"]*"):\s*$', line):
            if len(blocks) == 1 and not blocks[0].body and not blocks[0].ways and not blocks[0].phis:
                blocks = []
            blocks.append(CodeBlock(f"%{label[1]}"))
        elif line.strip():
            _parse(line.strip(), blocks[-1])
    return blocks


def _parse(line: str, block: CodeBlock) -> None:
    """Add an instruction to a block."""
    found = re.match(rf"(?:({NAME}) = )?(?:tail |musttail |notail )?(\w+) ?(.*)$", line)
    if not found:
        raise ValueError(f"no instruction: {line}")
    result, op, text = found[1] or "", found[2], found[3]
    if op in ("br", "switch", "ret", "unreachable"):
        labels = re.findall(rf"label ({NAME})", text)
        if op == "switch":
            head = re.match(rf"({TYPE}) ([^,]+), label", text)
            cases = re.findall(rf"i\d+ (-?\d+), label ({NAME})", text.partition("[")[2])
            assert head is not None
            block.type, block.condition = head[1], head[2]
            block.ways = [(label, value) for value, label in cases] + [(labels[0], "")]
        elif len(labels) == 2 and labels[0] != labels[1]:
            block.condition = text.split(",")[0].removeprefix("i1 ")
            block.ways = [(labels[0], "true"), (labels[1], "")]
        elif labels:
            block.ways = [(labels[0], "")]
        elif op == "ret" and text.strip() != "void":
            raise ValueError("the function returns something")
        return
    if op == "call" and re.search(r"@llvm\.(?:lifetime|assume|experimental\.noalias|dbg)", text):
        return
    text = re.sub(rf"^{_FLAGS}", "", text)
    (block.phis if op == "phi" else block.body).append(Instruction(result, op, text, block))


def read_arguments_once(blocks: list[CodeBlock], context: str) -> None:
    """Read the kernel's arguments, to which a context points, once, in the first block: nothing is written there.

    LLVM reads them after each write, and so has several names for each, which it chooses between.
    """
    same = {context: context}  # the first name of each by its names
    first: dict[str, Instruction] = {}  # by what they are
    read = {context: 0}  # 1: where the arguments are; 2: where one is; 3: one
    size = 0
    while size < len(same):
        size = len(same)
        for one in (one for block in blocks for one in (*block.phis, *block.body) if one.result not in same):
            if one.op == "phi":
                continue
            found = re.match(rf"(?:{TYPE}|.*), ptr ({NAME})((?:, i\d+ \d+)*)$", one.text)
            name = same.get(found[1], "") if found and one.op in ("load", "getelementptr") else ""
            if not name or not found or read[name] not in ((0, 1, 2) if one.op == "load" else (1, 2)):
                continue
            text = one.text[: found.start(1)] + name + found[2]
            kept = first.setdefault(f"{one.op} {text}", Instruction(one.result, one.op, text, blocks[0]))
            same[one.result] = kept.result
            read.setdefault(kept.result, 2 if one.op == "getelementptr" else 1 if name == context else 3)
        same |= _of_one_value([one for block in blocks for one in block.phis], same)
    del same[context]
    for block in blocks:
        for part in (block.phis, block.body):
            part[:] = [one for one in part if one.result not in same]
            for one in part:
                one.text = re.sub(NAME, lambda m: same.get(m[0], m[0]), one.text)
        block.condition = same.get(block.condition, block.condition)
    blocks[0].body[:0] = first.values()


def _of_one_value(phis: list[Instruction], same: dict[str, str]) -> dict[str, str]:
    """Return the phis whose values have all one name, and that name, by the names of others."""
    size, found = -1, dict(same)
    while size < len(found):
        size = len(found)
        for one in phis:
            values = {found[value] for value, _ in one.incoming if value in found}
            if len(values) == 1:
                found.setdefault(one.result, values.pop())
    wrong = [""]
    while wrong:
        wrong = [
            one.result
            for one in phis
            if one.result in found and {found.get(value) for value, _ in one.incoming} != {found[one.result]}
        ]
        for name in wrong:
            del found[name]
    return {name: value for name, value in found.items() if name not in same}


class Graph:
    """The blocks of a function in order, its loops, and which of its values vary between lanes."""

    def __init__(self, blocks: list[CodeBlock], arguments: list[str]) -> None:
        self.named = {block.name: block for block in blocks}
        self.first = blocks[0]
        self.blocks = self._numbered()
        self._dominate()
        self.loops = self._find_loops()
        self.defined = {one.result: one for block in self.blocks for one in (*block.phis, *block.body) if one.result}
        self.arguments = set(arguments)
        self.reached = self._reach()
        self.varying: set[str] = set()
        while self._spread():
            pass
        self.order: list[CodeBlock] = []
        self._arrange(self.first, [])

    def _numbered(self) -> list[CodeBlock]:
        """Return the blocks that are reached, in reverse postorder, with their neighbours."""
        found: list[CodeBlock] = []
        seen, stack = {self.first.name}, [(self.first, iter(self._targets(self.first)))]
        while stack:
            block, rest = stack[-1]
            nearer = next((b for b in rest if b.name not in seen), None)
            if nearer is None:
                found.append(block)
                stack.pop()
            else:
                seen.add(nearer.name)
                stack.append((nearer, iter(self._targets(nearer))))
        found.reverse()
        for number, block in enumerate(found):
            block.number, block.after = number, self._targets(block)
        for block in found:
            for other in block.after:
                other.before.append(block)
        return found

    def _targets(self, block: CodeBlock) -> list[CodeBlock]:
        return [self.named[label] for label in dict.fromkeys(label for label, _ in block.ways)]

    def _dominate(self) -> None:
        every = (1 << len(self.blocks)) - 1
        for block in self.blocks:
            block.dominators = every if block.number else 1
        changed = True
        while changed:
            changed = False
            for block in self.blocks[1:]:
                met = every
                for other in block.before:
                    met &= other.dominators
                met |= 1 << block.number
                changed |= met != block.dominators
                block.dominators = met

    def dominates(self, a: CodeBlock, b: CodeBlock) -> bool:
        """Return True if each way to b leads through a."""
        return bool(b.dominators >> a.number & 1)

    def _find_loops(self) -> list[Loop]:
        loops = []
        for head in self.blocks:
            latches = [b for b in head.before if b.number >= head.number]
            if not latches:
                continue
            if not all(self.dominates(head, b) for b in latches):
                raise ValueError("a loop with two entries")
            members, waiting = {head.name}, list(latches)
            while waiting:
                block = waiting.pop()
                if block.name not in members:
                    members.add(block.name)
                    waiting += block.before
            loops.append(Loop(head, members, latches))
        for loop in loops:
            for name in loop.members:
                self.named[name].loops.append(loop)
        for block in self.blocks:
            block.loops.sort(key=lambda loop: -len(loop.members))
        return loops

    def _reach(self) -> list[int]:
        """Return the blocks that each may lead to without going back to the head of a loop, as bits."""
        found = [0] * len(self.blocks)
        for block in reversed(self.blocks):
            for other in block.after:
                if other.number > block.number:
                    found[block.number] |= found[other.number] | 1 << other.number
        return found

    def is_varying(self, value: str, at: CodeBlock) -> bool:
        """Return True if a value, used in a block, may differ between the lanes there."""
        return value in self.varying or self.left(value, at)

    def left(self, value: str, at: CodeBlock) -> bool:
        """Return True if lanes come to a block from different turns of a loop in which a value is made."""
        one = self.defined.get(value)
        return one is not None and any(loop.varied and at.name not in loop.members for loop in one.block.loops)

    def parts(self, block: CodeBlock) -> bool:
        """Return True if lanes may leave a block to different ones."""
        return bool(block.condition) and self.is_varying(block.condition, block)

    def _spread(self) -> bool:
        """Find more values that vary; return True if there are any."""
        size, varied = len(self.varying), sum(loop.varied for loop in self.loops)
        parting = [block for block in self.blocks if self.parts(block)]
        for block in self.blocks:
            mixed = None
            for one in block.phis:
                if one.result in self.varying:
                    continue
                mixed = self._is_mixed(block, parting) if mixed is None else mixed
                values = {value for value, _ in one.incoming}
                if (mixed and len(values) > 1) or any(
                    self.is_varying(value, self.named[label]) or self.left(value, block)
                    for value, label in one.incoming
                ):
                    self.varying.add(one.result)
            for one in block.body:
                if one.result and one.result not in self.varying and self._varies(one):
                    self.varying.add(one.result)
        for loop in self.loops:
            loop.varied = loop.varied or self._is_varied(loop, parting)
        return (size, varied) != (len(self.varying), sum(loop.varied for loop in self.loops))

    def _varies(self, one: Instruction) -> bool:
        mark = marked(one)
        if mark:
            return mark != LARGEST
        return any(self.is_varying(name, one.block) for name in one.operands)

    def _is_mixed(self, block: CodeBlock, parting: list[CodeBlock]) -> bool:
        """Return True if lanes that part somewhere may come to a block from different ones in the same turn."""
        head = next((loop for loop in block.loops if loop.head is block), None)
        groups = [block.before]
        if head is not None:
            groups = [head.latches, [b for b in block.before if b not in head.latches]]
        start = self.blocks[block.parent]
        for group in (group for group in groups if len(group) > 1):
            if any(loop.varied and block.name not in loop.members for b in group for loop in b.loops):
                return True  # at different turns
            if any((head is not None or self.dominates(start, b)) and self._meets(b, block, group) for b in parting):
                return True
        return False

    def _meets(self, other: CodeBlock, block: CodeBlock, group: list[CodeBlock]) -> bool:
        """Return True if the ways on from a block lead to another one by different neighbours of a group."""
        ways = []
        for after in other.after:
            if after is block:
                ways.append({other.name} if other in group else set())
                continue
            reached = self.reached[after.number] | 1 << after.number
            for loop in other.loops:
                if block.name not in loop.members and after.name in loop.members:  # by way of later turns
                    reached |= self.reached[loop.head.number] | 1 << loop.head.number
            ways.append({b.name for b in group if reached >> b.number & 1})
        ways = [way for way in ways if way]
        return len(ways) > 1 and len(set().union(*ways)) > 1

    def _is_varied(self, loop: Loop, parting: list[CodeBlock]) -> bool:
        """Return True if lanes may leave a loop at different times."""
        for name in loop.members:
            block = self.named[name]
            if all(b.name in loop.members for b in block.after):
                continue
            if block in parting:
                return True
            every = block.loops[-1] is loop and all(self.dominates(block, latch) for latch in loop.latches)
            if not every and any(b.name in loop.members for b in parting):
                return True
        return False

    def _arrange(self, block: CodeBlock, later: list[CodeBlock]) -> None:
        """Order a block and the blocks that it dominates; `later` collects blocks outside of its loop."""
        self.order.append(block)
        children = sorted((b for b in self.blocks[1:] if b.parent == block.number), key=lambda b: b.number)
        own = later if not (block.loops and block.loops[-1].head is block) else []
        inside = block.loops[-1].members if block.loops else None
        for child in children:
            if inside is not None and child.name not in inside:
                own.append(child)
            else:
                self._arrange(child, own)
        if own is not later:
            outer = block.loops[-2].members if len(block.loops) > 1 else None
            for child in sorted(own, key=lambda b: b.number):
                if outer is not None and child.name not in outer:
                    later.append(child)
                else:
                    self._arrange(child, later)


def marked(one: Instruction) -> float:
    """Return the mark that an instruction is: `LANE`, `RANK`, `LARGEST`, or 0 for none."""
    if one.op != "call" or "@atan2f(" not in one.text:
        return 0.0
    constant = re.search(r", float (?:noundef )?([-+.\de]+)\)", one.text)
    return float(constant[1]) if constant and float(constant[1]) in (LANE, RANK, LARGEST) else 0.0
