"""Settings of LLVM, the compiler inside Taichi, that Taichi does not expose.

The wheel of Taichi hides LLVM's way in, `LLVMParseCommandLineOptions` (llvm-c/Support.h), from the linker; on Linux its
library still lists it in the table of symbols, where it is found here. Elsewhere, or with another version of Taichi,
nothing is set: results have the same bits, and kernels start later and run slower. `TUMBLE_LLVM=0` in the environment
turns all of it off.
"""

import ctypes
import mmap
import os
import platform
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .libraries import NO_NEWS, load_taichi, taichi_home_variables, variables

NO_STRENGTH_REDUCTION = "-disable-lsr"
"""No loop strength reduction. It takes a third of the time from cached code to machine code, to rewrite how addresses
are counted up in loops; here they are short and read their addresses from tables."""
WHOLE_REGISTERS = "-slp-max-reg-size=512"
"""Sixteen numbers of 32 bits in one register, where LLVM prefers eight in each of two: 10 to 20 % faster."""
NO_RUNTIME_UNROLLING = "-unroll-runtime=0"
"""Loops whose length is known only at run time are not unrolled: they are short here, and their bodies long."""
SHORT_ROTATIONS = "-rotation-max-header-size=6"
"""Only loops with a head of at most so many instructions get their test at the end. Each such change walks through all
code behind it, a quarter of LLVM's time. With both an ant compiles in a tenth less time and steps 4 to 7 % faster."""
NO_PACKING = "-slp-threshold=10000"
"""Numbers are not packed into vectors: it is never worth that much."""
SWITCH = "TUMBLE_LLVM"
"""Environment variable: "0" asks LLVM for nothing."""

_KNOWN = (1, 7, 4)
"""The version of Taichi whose LLVM (15.0.4) has these settings. It ends the process for one that it does not know."""
_WAY_IN, _LANDMARK = "LLVMParseCommandLineOptions", "PyInit_taichi_python"
_SYMBOL_TABLE = 2
_SYMBOL = np.dtype([("name", "u4"), ("info", "u1"), ("other", "u1"), ("part", "u2"), ("value", "u8"), ("size", "u8")])


@cache
def ask(setting: str) -> bool:
    """Compile all kernels of this process from now on with a setting; LLVM takes each only once.

    Returns:
        Whether LLVM was asked.
    """
    call = None if os.environ.get(SWITCH) == "0" else _way_in()
    if call is not None:
        call(2, (ctypes.c_char_p * 2)(b"tumble", setting.encode()), None)
    return call is not None


def start_taichi(arch: str, real: str, threads: int, **more: Any) -> None:
    """Start Taichi, with LLVM's settings, on an architecture, by its name.

    Args:
        arch: such as "cpu".
        real: the type of numbers in kernels, "f32" or "f64".
        threads: on a processor, how many share a loop.
        more: further arguments of `ti.init`.
    """
    load_taichi()
    import taichi as ti

    for setting in (NO_STRENGTH_REDUCTION, NO_RUNTIME_UNROLLING, SHORT_ROTATIONS):
        ask(setting)
    with variables(NO_NEWS | taichi_home_variables()):
        ti.init(
            arch=getattr(ti, arch),
            default_fp=getattr(ti, real),
            cpu_max_num_threads=threads,
            log_level=ti.ERROR,
            fast_math=False,  # results must not depend on the width of the lanes
            advanced_optimization=False,
            cfg_optimization=False,  # five times shorter compilation, no slower code
            make_cpu_multithreading_loop=False,  # one task for each worker, not one for each 512 iterations
            **more,
        )


@cache
def _way_in() -> Callable | None:
    """LLVM's function in Taichi's library, as loaded into this process: void (int count, char **words, char *title)."""
    address = address_of(_WAY_IN)
    if address is None:
        return None
    signature: Any = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.c_char_p)
    return signature(address)


def address_of(name: str) -> int | None:
    """Return the address of a symbol of Taichi's library in this process; None if it cannot be found."""
    library = _library()
    if library is None:
        return None
    values = symbol_values(library, (name, _LANDMARK))
    if not all(values):
        return None
    landmark = ctypes.cast(getattr(ctypes.CDLL(str(library)), _LANDMARK), ctypes.c_void_p).value or 0
    return landmark + values[0] - values[1]


def _library() -> Path | None:
    """Return Taichi's library, if it is the one that is known."""
    load_taichi()
    import taichi

    if taichi.__version__ != _KNOWN or platform.system() != "Linux" or platform.machine() != "x86_64":
        return None
    return next(iter(sorted(Path(taichi.__file__).parent.glob("_lib/core/taichi_python*.so"))), None)


def symbol_values(library: Path, names: tuple[str, ...]) -> list[int]:
    """Addresses inside a library of 64 bits, from its table of symbols; 0 for a name that is not listed exactly once.

    Source: System V ABI (gABI 4.1), chapter 4, "Section Header" and "Symbol Table".
    """
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as image:
        (headers,) = struct.unpack_from("<Q", image, 0x28)
        size, count = struct.unpack_from("<HH", image, 0x3A)
        sections = [struct.unpack_from("<IIQQQQIIQQ", image, headers + k * size) for k in range(count)]
        for _, kind, _, _, start, length, linked, *_ in sections:
            if kind == _SYMBOL_TABLE:
                symbols = np.frombuffer(image[start : start + length], _SYMBOL)
                _, _, _, _, start, length, *_ = sections[linked]
                places = [image.find(f"\0{name}\0".encode(), start, start + length) + 1 - start for name in names]
                found = [symbols["value"][symbols["name"] == place] for place in places]
                return [int(values[0]) if len(values) == 1 else 0 for values in found]
    return [0] * len(names)
