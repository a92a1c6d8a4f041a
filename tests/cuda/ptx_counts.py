"""What a stretch of code without branches holds, by the kinds that decide how fast it is on a device."""

from .ptx_instructions import BITS, FLOATS
from .ptx_reader import Instruction

# What is counted, in the order of COUNT in prelude.h.
KINDS = (
    "instructions",
    "pointer_loads",  # words of 64 bits that are not floats
    "float_loads",
    "integer_loads",
    "stores",
    "local_accesses",  # loads and stores on the thread's own stack, where the instruction says so
    "flops",  # of sums and products; a fused product and sum is two
    "special",  # divisions, roots, sines and their like, in floats
)
_FLOPS = {"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2}
_SPECIAL = ("div", "rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh")


class Tally:
    """How many things of each kind were seen since the last `take`."""

    def __init__(self):
        self.numbers = dict.fromkeys(KINDS, 0)

    def add(self, instruction: Instruction) -> None:
        """Count an instruction, whether its guard lets it act or not. A vector of four words is four accesses."""
        self.numbers["instructions"] += 1
        name, kind = instruction.name, instruction.type
        words = next((int(part[1]) for part in instruction.parts if part in ("v2", "v4")), 1)
        if name in ("ld", "st"):
            what = self._memory(name, kind, instruction.space)
            if what:
                self.numbers[what] += words
        elif kind in FLOATS:
            self.numbers["flops"] += _FLOPS.get(name, 0)
            self.numbers["special"] += name in _SPECIAL

    def _memory(self, name: str, kind: str, space: str) -> str | None:
        """What a load or store counts as; parameters are not counted: they are as quick as registers."""
        if space == "param":
            return None
        if space == "local":
            return "local_accesses"
        if name == "st":
            return "stores"
        if kind in FLOATS:
            return "float_loads"
        return "pointer_loads" if BITS.get(kind) == 64 else "integer_loads"

    def take(self) -> str:
        """The C statement that adds the numbers to the launch's counts; begins anew at 0."""
        numbers = self.numbers.values()
        text = f"COUNT({', '.join(map(str, numbers))});" if any(numbers) else ""
        self.numbers = dict.fromkeys(KINDS, 0)
        return text
