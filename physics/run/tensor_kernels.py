"""Kernels whose arguments are tensors and numbers, on a CPU or a GPU, for pictures, rays and distances.

On a CPU they are machine code that another process compiles: each is one loop over items, which threads share
(`codegen.loops`), and its arguments are all that it reads. On a GPU, and if no process can be
started for it, Taichi compiles and launches them (`taichi_kernel`).
"""

import ctypes
import hashlib
import inspect
import struct
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import taichi as ti
import torch

from ..machine.codegen.ir import ENTRY
from ..machine.codegen.keys import hash_of, key_of
from ..machine.codegen.llvm import load
from ..machine.codegen.loops import BEFORE, COUNTER_OFFSET, RUNTIME_BYTES, TEMPORARIES_BYTES, TEMPORARIES_OFFSET
from ..machine.codegen.pool import shared_pool
from ..machine.runtime import Runtime
from .compile.compilers import Compilation, stored
from .programs import Context, can_compile_apart, layout_of, words_of
from .taichi_kernel import Argument, TaichiKernel

__all__ = ["Argument", "Launch", "Recipe", "shared_kernels"]

Launch = Callable[[Sequence[Argument]], Any]
"""A function that launches a kernel with arguments; tensors must be contiguous. On a GPU it returns before the end."""


_ROOMS = ("solver/planning", "solver/queries", "rendering")
"""Rooms of the package `physics` that define these kernels, besides the rooms of all machine code."""


class Recipe(NamedTuple):
    """The function that makes a kernel, in this process or another.

    Attributes:
        make: a function of a module, which returns the decorated function.
        arguments: the arguments of `make`.
    """

    make: Callable[..., Any]
    arguments: tuple[str | bool, ...] = ()

    @property
    def words(self) -> list[str | bool]:
        """The recipe for another process: module, function and arguments."""
        return [self.make.__module__, self.make.__qualname__, *self.arguments]

    def key(self, literals: str) -> str:
        """Return the key of the machine code. It covers the file of `make`, which may be outside of the rooms."""
        home = hashlib.sha256(Path(inspect.getfile(self.make)).read_bytes()).hexdigest()
        return key_of("loop", literals, self.words, home, hash_of(_ROOMS))


class LoopProgram:
    """The machine code of a kernel over tensors, and the memory with which it is launched.

    Args:
        addresses: returns the addresses of the functions ENTRY and BEFORE; called at the first launch.
        threads: the threads that share the loop.
        floats: the `struct` code of real arguments: "f" or "d".
    """

    def __init__(self, addresses: Callable[[], Sequence[int]], threads: int, floats: str) -> None:
        self._addresses, self._threads, self._floats = addresses, threads, floats
        self._lock = threading.Lock()  # held during a launch, as all launches use the same memory
        self._launch: Callable[[], None] | None = None

    def __call__(self, arguments: Sequence[Argument]) -> None:
        """Launch with these arguments (tensors must be contiguous); it returns when the loop has finished."""
        with self._lock:
            if self._launch is None:
                self._prepare(arguments)
            assert self._launch is not None
            self._layout.pack_into(self._words, 0, *words_of(arguments))
            self._counter.value = 0
            self._before(self._context_at)
            self._launch()

    def _prepare(self, arguments: Sequence[Argument]) -> None:
        """Load the code, and make the records and buffers that all launches use."""
        entry, before = self._addresses()
        self._layout = layout_of(arguments, self._floats)
        self._words = ctypes.create_string_buffer(self._layout.size)
        self._counter, self._temporaries = ctypes.c_int32(), torch.empty(TEMPORARIES_BYTES, dtype=torch.uint8)
        self._runtime = ctypes.create_string_buffer(RUNTIME_BYTES)
        struct.pack_into("Q", self._runtime, COUNTER_OFFSET, ctypes.addressof(self._counter))
        struct.pack_into("Q", self._runtime, TEMPORARIES_OFFSET, self._temporaries.data_ptr())
        self._context = Context(ctypes.addressof(self._words), ctypes.addressof(self._runtime), 0, None)
        self._context_at = ctypes.c_void_p(ctypes.addressof(self._context))
        self._before = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(before)
        self._launch = shared_pool(self._threads).bind(entry, [self._context_at.value or 0] * self._threads)


def loop_programs(literals: str, recipes: Sequence[Recipe], threads: int, what: str) -> list[LoopProgram]:
    """Return programs of kernels that are used together; if one is missing in the store, one process compiles all.

    Args:
        literals: the type of real literals in the kernels and of their real arguments: "f32" or "f64".
        recipes: the recipes of the kernels.
        threads: the threads that share a loop.
        what: the name, in log messages, of the thing that the kernels are part of.
    """
    group = _Group(literals, recipes, what)
    floats = "f" if literals == "f32" else "d"
    return [LoopProgram(partial(group.addresses_of, key), threads, floats) for key in group.kernels]


_loaded: dict[str, list[int]] = {}
"""Addresses of loaded functions by the key of their machine code, which stays loaded while the process lives."""


class _Group:
    """Kernels that are loaded together."""

    def __init__(self, literals: str, recipes: Sequence[Recipe], what: str) -> None:
        self.kernels = {recipe.key(literals): recipe.words for recipe in recipes}
        self._literals, self._what = literals, what

    def addresses_of(self, key: str) -> list[int]:
        """Load all kernels, if necessary; return the addresses of the functions ENTRY and BEFORE of one."""
        missing = [name for name in self.kernels if name not in _loaded]
        for name, code in self._machine_code(missing).items():
            _loaded[name] = load(code, ENTRY, BEFORE)
        return _loaded[key]

    def _machine_code(self, keys: list[str]) -> dict[str, bytes]:
        code = stored({key: key for key in keys})
        if missing := {key: key for key in keys if key not in code}:
            job = {"kernels": self.kernels, "literals": self._literals}
            with Compilation(job, self._what) as compilation:
                code |= compilation.compile(missing)
        return code


def shared_kernels(runtime: Runtime, literals: str, recipes: tuple[Recipe, ...], what: str) -> list[Launch]:
    """Return kernels that are used together; they are compiled at the first launch, made once, then shared.

    Args:
        runtime: the runtime that they run in.
        literals: the type of real literals in the kernels and of their real arguments: "f32" or "f64".
        recipes: the recipes of the kernels.
        what: the name, in log messages, of the thing that they are part of.
    """
    key = what, literals, recipes
    if key not in runtime.pool:
        if runtime.columns or not can_compile_apart():
            made: Sequence[Launch] = [_by_taichi(runtime, literals, recipe, what) for recipe in recipes]
        else:
            made = loop_programs(literals, recipes, runtime.threads, what)
        runtime.pool.setdefault(key, made)
    return runtime.pool[key]


def _by_taichi(runtime: Runtime, literals: str, recipe: Recipe, what: str) -> TaichiKernel:
    kernel = TaichiKernel(runtime, partial(recipe.make, *recipe.arguments), getattr(ti, literals), what=what)
    return runtime.pool.setdefault((literals, recipe), kernel)
