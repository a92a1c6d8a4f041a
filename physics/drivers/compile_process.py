"""The process that compiles units: Taichi runs in it as the solver wants it, apart from that of the user's process.

It is started by `compilers.py`, reads jobs from its standard input, a line of JSON each, and writes answers to its
standard output: a line of JSON, and behind it as many bytes of machine code as the line says.
"""

import json
import os
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any, BinaryIO

import taichi as ti
from taichi.lang import impl

from ..codegen.ir import machine_code, stand_alone
from ..codegen.keys import key_of
from ..codegen.vectors import SETTINGS, use_vectors
from ..compiler import NO_RUNTIME_UNROLLING, NO_STRENGTH_REDUCTION, SHORT_ROTATIONS, ask
from ..math import Lanes
from ..model.features import Features
from ..tracing import quick_tracing
from .kernel import sample_arguments
from .scratch import Scratch
from .units import features_asked, make_unit, numbers_of_stages, units_of


def main() -> None:
    """Answer jobs until there are no more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Taichi prints is no answer
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # Taichi writes its code there
        compiler: _Compiler | None = None
        for line in sys.stdin.buffer:
            job, code = json.loads(line), b""
            try:
                compiler = compiler or _Compiler(job["width"], job["precision"])
                answer, code = compiler.plan(job) if job["do"] == "plan" else compiler.compile(job)
            except Exception:
                answer = {"error": traceback.format_exc()}
            _send(answers, answer, code)
        os.chdir("/")


def _send(answers: BinaryIO, answer: dict[str, Any], code: bytes) -> None:
    answers.write(json.dumps({**answer, "length": len(code)}).encode() + b"\n" + code)
    answers.flush()


class _Compiler:
    """Taichi, started for a lane width and a precision."""

    def __init__(self, width: int, precision: str) -> None:
        for setting in (NO_STRENGTH_REDUCTION, NO_RUNTIME_UNROLLING, SHORT_ROTATIONS):
            ask(setting)
        vectors = SETTINGS if use_vectors() else {}
        dtype = ti.f32 if precision == "32" else ti.f64
        ti.init(
            arch=ti.cpu,
            default_fp=dtype,
            cpu_max_num_threads=1,
            log_level=ti.ERROR,
            offline_cache=False,
            fast_math=False,  # results must not depend on the width of the lanes
            advanced_optimization=False,
            cfg_optimization=False,  # five times shorter compilation, no slower code
            make_cpu_multithreading_loop=False,
            print_kernel_llvm_ir_optimized=True,
            **vectors,
        )
        self._lanes, self._precision = Lanes(width, dtype), precision
        self._scratch = Scratch(width, dtype)
        self._texts: dict[int, tuple[Any, str]] = {}
        assert self._scratch.trees == (0, 1), "the units find the scratch by these numbers of its trees"

    def plan(self, job: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """The units that a model with these features may need, each with its key."""
        has = Features(**job["features"])
        units = {name: self._key(name, has) for name in units_of(has)}
        return {"units": units, "numbers": {name: n for name, n in numbers_of_stages().items() if name in units}}, b""

    def _key(self, name: str, has: Features) -> str:
        asked = {feature: getattr(has, feature) for feature in features_asked(name)}
        return key_of("unit", name, asked, self._lanes.width, self._precision)

    def compile(self, job: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        """The machine code of a unit, and the stages that it calls."""
        kernel, calls = make_unit(job["unit"], self._lanes, Features(**job["features"]), self._scratch)
        code = machine_code(stand_alone(self._optimised(kernel)))
        return {"calls": list(calls)}, code

    def _optimised(self, kernel: Any) -> str:
        """The text of a kernel's code as Taichi has optimised it."""
        for path in Path().glob("*.ll"):
            path.unlink()
        program = impl.get_runtime().prog
        with warnings.catch_warnings(), quick_tracing():
            warnings.filterwarnings("ignore", message=".*Calling non-taichi function", category=SyntaxWarning)
            primal = kernel._primal
            traced = primal.compiled_kernels[primal.ensure_compiled(*sample_arguments(self._lanes), 0)]
            compiled = program.compile_kernel(program.config(), program.get_device_caps(), traced)
        for path in Path().glob("*.ll"):
            self._texts[id(compiled)] = compiled, path.read_text()
        return self._texts[id(compiled)][1]  # of two units with the same code Taichi compiles the first alone


if __name__ == "__main__":
    main()
