"""What a stretch of code without branches holds, by the kinds that decide how fast it is on a device."""

from dataclasses import asdict, dataclass

from .ptx_instructions import BITS, FLOATS
from .ptx_reader import Instruction

_FLOPS = {"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2}
_SPECIAL = ("div", "rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh")


@dataclass
class Tally:
    """Numbers of things, in the order of COUNT in prelude.h."""

    instructions: int = 0
    pointer_loads: int = 0  # words of 64 bits that are not floats
    float_loads: int = 0
    integer_loads: int = 0
    stores: int = 0
    local_accesses: int = 0  # loads and stores on the thread's own stack, where the instruction says so
    flops: int = 0  # a fused product and sum is two
    special: int = 0  # divisions, roots, sines and their like, in floats

    def add(self, instruction: Instruction) -> None:
        """Count an instruction, whether its guard lets it act or not. A vector of four words is four accesses."""
        self.instructions += 1
        name, kind = instruction.name, instruction.type
        words = next((int(part[1]) for part in instruction.parts if part in ("v2", "v4")), 1)
        if name in ("ld", "st") and instruction.space == "param":
            return  # parameters lie in a memory of their own, as quick as registers
        if name in ("ld", "st") and instruction.space == "local":
            self.local_accesses += words
        elif name == "ld" and kind in FLOATS:
            self.float_loads += words
        elif name == "ld" and BITS.get(kind) == 64:
            self.pointer_loads += words
        elif name == "ld":
            self.integer_loads += words
        elif name == "st":
            self.stores += words
        elif kind in FLOATS:
            self.flops += _FLOPS.get(name, 0)
            self.special += name in _SPECIAL

    def take(self) -> str:
        """The C statement that adds all numbers to the launch's counts; begins anew at 0."""
        numbers = list(asdict(self).values())
        self.__init__()  # type: ignore[misc]
        return f"COUNT({', '.join(map(str, numbers))});" if any(numbers) else ""
