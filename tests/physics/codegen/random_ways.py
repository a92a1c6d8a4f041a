"""Random functions of LLVM's IR with branches and loops, on numbers that are the same in all lanes or not."""

import random

from tumble.physics.machine.codegen.llvm import llvm, target_machine

NUMBERS = 4
"""Variables that vary between lanes, and as many that do not."""
PASSES = ("sroa", "instruction_combine", "simplify_cfg", "jump_threading", "loop_rotate", "new_gvn", "simplify_cfg")


class RandomWays:
    """The text of a function, by a seed: statements on variables in stack slots."""

    def __init__(self, seed: int) -> None:
        self.random, self.count = random.Random(seed), 0
        self.lines, self.slots, self.loops = [], [], []

    def name(self, kind: str) -> str:
        """A new name."""
        self.count += 1
        return f"{kind}{self.count}"

    def put(self, line: str) -> None:
        """Write a line."""
        self.lines.append(line)

    def let(self, line: str) -> str:
        """Write an instruction; its value."""
        name = "%" + self.name("t")
        self.put(f"{name} = {line}")
        return name

    def number(self, same: bool) -> str:
        """A variable's value, or a constant."""
        if self.random.random() < 0.2:
            return str(self.random.randint(-3, 9))
        kind = "u" if same else self.random.choice("vvu")
        return self.let(f"load i32, ptr %{kind}{self.random.randrange(NUMBERS)}")

    def condition(self, same: bool) -> str:
        """A comparison that holds now and then."""
        some = self.let(f"and i32 {self.number(same)}, {self.random.choice([1, 3, 7])}")
        return self.let(
            f"icmp {self.random.choice(['slt', 'eq', 'ne', 'sgt'])} i32 {some}, {self.random.randint(0, 3)}"
        )

    def statements(self, depth: int, same: bool) -> None:
        """Write some statements; `same`: all lanes, or none, come here, so that variables without lanes may change."""
        for _ in range(self.random.randint(1, 4)):
            choice = self.random.random()
            if depth and choice < 0.35:
                self.branch(depth - 1, same)
            elif depth and choice < 0.6:
                self.loop(depth - 1, same)
            elif self.loops and choice < 0.7:
                self.jump(same)
            else:
                alike = same and self.random.random() < 0.4
                op, a, b = self.random.choice(["add", "mul", "xor", "sub"]), self.number(alike), self.number(alike)
                value = self.let(f"{op} i32 {a}, {b}")
                self.put(f"store i32 {value}, ptr %{'u' if alike else 'v'}{self.random.randrange(NUMBERS)}")

    def branch(self, depth: int, same: bool) -> None:
        """Write an if, with or without an else."""
        alike, yes, no, on = self.random.random() < 0.4, self.name("yes"), self.name("no"), self.name("on")
        self.put(f"br i1 {self.condition(alike)}, label %{yes}, label %{no}")
        for label in (yes, no):
            self.put(f"{label}:")
            if label == yes or self.random.random() < 0.6:
                self.statements(depth, same and alike)
            self.put(f"br label %{on}")
        self.put(f"{on}:")

    def loop(self, depth: int, same: bool) -> None:
        """Write a loop of a few turns, as many for all lanes or not."""
        alike, slot = self.random.random() < 0.5, "%" + self.name("turn")
        head, body, step, over = (self.name(kind) for kind in ("head", "body", "step", "over"))
        turns = self.let(f"and i32 {self.number(alike)}, 3")
        self.slots.append(f"{slot} = alloca i32")
        self.put(f"store i32 0, ptr {slot}\nbr label %{head}\n{head}:")
        turn = self.let(f"load i32, ptr {slot}")
        more = self.let(f"icmp sle i32 {turn}, {turns}")
        self.put(f"br i1 {more}, label %{body}, label %{over}\n{body}:")
        self.loops.append((step, over))
        self.statements(depth, False)
        self.loops.pop()
        self.put(f"br label %{step}\n{step}:")
        turn = self.let(f"load i32, ptr {slot}")
        self.put(f"store i32 {self.let(f'add i32 {turn}, 1')}, ptr {slot}")
        self.put(f"br label %{head}\n{over}:")

    def jump(self, same: bool) -> None:
        """Write a break or a continue under a condition."""
        on = self.name("on")
        goal = self.random.choice(self.loops[-1])
        self.put(f"br i1 {self.condition(self.random.random() < 0.4)}, label %{goal}, label %{on}\n{on}:")

    def text(self) -> str:
        """The function: numbers from one array, as many in each lane, to another one."""
        self.statements(3, True)
        for kind in "uv":
            for i in range(NUMBERS):
                start = f"%start.{kind}{i}"
                value = f"%n, {i + 1}" if kind == "u" else f"%x, {2 * i + 1}"
                self.slots += [f"%{kind}{i} = alloca i32", f"{start} = mul i32 {value}"]
                self.slots.append(f"store i32 {start}, ptr %{kind}{i}")
        total = "0"
        for kind in "uv":
            for i in range(NUMBERS):
                scaled, more = self.let(f"mul i32 {total}, 31"), self.let(f"load i32, ptr %{kind}{i}")
                total = self.let(f"add i32 {scaled}, {more}")
        body = "\n".join([*self.slots, "br label %begin\nbegin:", *self.lines])
        return f"""
declare float @atan2f(float, float)
define internal void @function_body(ptr %context, ptr %none, i32 %item) {{
%item.number = sitofp i32 %item to float
%lane.number = call float @atan2f(float %item.number, float 1.234500e+04)
%lane = fptosi float %lane.number to i32
%in = load ptr, ptr %context
%out.at = getelementptr i8, ptr %context, i64 8
%out = load ptr, ptr %out.at
%n.at = getelementptr i8, ptr %context, i64 16
%n = load i32, ptr %n.at
%in.at = getelementptr i32, ptr %in, i32 %lane
%x = load i32, ptr %in.at
{body}
%result = getelementptr i32, ptr %out, i32 %lane
store i32 {total}, ptr %result
ret void
}}
"""


def optimised(text: str) -> str:
    """A module's text after the passes."""
    binding = llvm()
    module = binding.parse_assembly(text)
    builder = binding.create_pass_builder(target_machine(), binding.create_pipeline_tuning_options(2))
    passes = binding.create_new_function_pass_manager()
    for name in PASSES:
        getattr(passes, f"add_{name}_pass")()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    return str(module)
