"""The compiling process: Taichi runs here with the settings of its jobs, apart from the user's process.

`compilers.py` starts it in a folder for temporary files, where Taichi writes its LLVM IR. It reads jobs from its
standard input, one line of JSON each, and writes answers to its standard output: one line of JSON, followed by as
many bytes of machine code as the line says.
"""

import gc
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, BinaryIO

import numpy as np
import taichi as ti

from ...base.math import Lanes
from ...base.stage import TURN
from ...machine.codegen.addresses import tell_addresses
from ...machine.codegen.ir import stand_alone
from ...machine.codegen.items import WIDTH, asks_for_lanes, side_by_side
from ...machine.codegen.keys import key_of
from ...machine.codegen.llvm import machine_code, promoted_machine_code
from ...machine.codegen.lockstep import in_lockstep
from ...machine.codegen.loops import arguments_type, body_of, loop_stands_alone
from ...machine.codegen.vectors import OPAQUE_POINTERS, SETTINGS, use_vectors
from ...machine.codegen.worker import of_workers
from ...machine.compiler import NO_PACKING, ask
from ...model.features import Features
from ..kernel import sample_arguments
from ..tiles.scratch import Scratch
from .taichi_code import optimised, start_to_compile
from .units import features_asked, make_unit, numbers_of_stages, units_of


def main() -> None:
    """Answer jobs until the standard input ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Taichi's prints go to the standard error
    try:
        compiler: UnitCompiler | LoopCompiler | None = None
        for line in sys.stdin.buffer:
            job, code = json.loads(line), b""
            try:
                compiler = compiler or _compiler_for(job)
                answer, code = compiler.answer(job)
            except Exception:
                answer = {"error": traceback.format_exc()}
            _send(answers, answer, code)
    finally:  # the process that started this one cannot remove the folder if it was killed
        shutil.rmtree(os.getcwd(), ignore_errors=True)


def _compiler_for(job: dict[str, Any]) -> "UnitCompiler | LoopCompiler":
    """Return the compiler for a job; all jobs of a process are of one kind, units or kernels over tensors."""
    if "kernels" not in job:
        make, arguments = _maker(job.get("compiler", [__name__, "UnitCompiler"]))
        return make(job["width"], job["precision"], *arguments)
    asked = any(asks_for_lanes(*_maker(words)) for words in job["kernels"].values())
    return LoopCompiler(job["literals"], job.get("lanes", WIDTH) if asked else 1)


def _send(answers: BinaryIO, answer: dict[str, Any], code: bytes) -> None:
    answers.write(json.dumps({**answer, "length": len(code)}).encode() + b"\n" + code)
    answers.flush()


class UnitCompiler:
    """Taichi, started for a lane width and a precision, as a compiler of units."""

    def __init__(self, width: int, precision: str) -> None:
        real = f"f{precision}"
        start_to_compile(real, **(SETTINGS if use_vectors() else {}))
        self.lanes, self.precision = Lanes(width, getattr(ti, real)), precision
        self.scratch = Scratch(width, precision)
        assert self.scratch.trees == [0, 1, 2, 3], "the units find the scratch by these numbers of its trees"

    def answer(self, job: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Return the plan of a program, or the machine code of a unit."""
        has = Features(**job["features"])
        return (self.plan(has), b"") if job["do"] == "plan" else ({}, self.compile(job["unit"], has))

    def plan(self, has: Features) -> dict[str, Any]:
        """Return the units that a model with these features may need, each with its key, and their numbers."""
        units = {name: self.key(name, has) for name in units_of(has)}
        return {"units": units, "numbers": {name: n for name, n in numbers_of_stages().items() if name in units}}

    def key(self, name: str, has: Features) -> str:
        """Return the key of a unit."""
        asked = {feature: getattr(has, feature) for feature in features_asked(name)}
        return key_of("unit", name, asked, self.lanes.width, self.precision)

    def compile(self, name: str, has: Features) -> bytes:
        """Return the machine code of a unit."""
        kernel, _ = make_unit(name, self.lanes, has, self.scratch)
        text = self.text_of(kernel)
        return machine_code(of_workers(text) if name == TURN else text)

    def text_of(self, kernel: Any) -> str:
        """Return the module of a unit's kernel as LLVM's text."""
        return tell_addresses(stand_alone(optimised(kernel, [*sample_arguments(self.lanes), 0, 0])))


if __name__ == "__main__":
    main()


def _maker(words: list[Any]) -> tuple[Callable[..., Any], list[Any]]:
    """Return the function that makes a kernel, and its arguments, by the words of its recipe."""
    home, function, *arguments = words
    return getattr(import_module(home), function), arguments


_NUMPY = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "u8": np.uint8}


class LoopCompiler:
    """Taichi, started for kernels whose real literals have one type.

    Vectors are split into scalars, Taichi's default: they are vectors of space, with three numbers.

    Args:
        literals: "f32" or "f64".
        lanes: items that a kernel works on at once if it asks; 1 if LLVM cannot be kept from packing their numbers.
    """

    def __init__(self, literals: str, lanes: int = 1) -> None:
        gc.disable()  # a tenth of the time; the process ends after a few kernels
        ask(OPAQUE_POINTERS)
        self._lanes = lanes if lanes > 1 and ask(NO_PACKING) else 1
        start_to_compile(literals)
        self._literals = literals

    def answer(self, job: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """Compile a kernel; return an empty answer and the machine code."""
        make, arguments = _maker(job["kernels"][job["unit"]])
        if self._lanes > 1 and asks_for_lanes(make, arguments):
            with suppress(ValueError), side_by_side(self._lanes):
                module = self._module(make(*arguments))
                return {}, promoted_machine_code(in_lockstep(module, body_of(module), self._lanes))
        return {}, machine_code(self._module(make(*arguments)))

    def _module(self, kernel: Any) -> str:
        annotations = [argument.annotation for argument in kernel._primal.arguments]
        text = optimised(kernel, [self._sample(annotation) for annotation in annotations])
        module = loop_stands_alone(text)
        if arguments_type(annotations) not in text:  # from which addresses of arguments are computed
            raise ValueError(f"Taichi lays arguments out otherwise than {arguments_type(annotations)}")
        return module

    def _sample(self, annotation: Any) -> Any:
        """Return an argument of the least size, from which Taichi reads its type."""
        if hasattr(annotation, "ndim"):
            return np.zeros((1,) * annotation.ndim, _NUMPY[str(annotation.dtype)])
        if str(annotation) not in ("i32", self._literals):
            raise ValueError(f"a number among the arguments is an i32 or has the literals' type, not {annotation}")
        return 0 if str(annotation) == "i32" else 0.0
