"""Programs: the machine code of a launch on a CPU, assembled from units, and the records that it is called with.

A unit is called with a context (`codegen.ir`): addresses of the launch's arguments, of the scratch, and of the stages.
There is one context per worker. Their layout is Taichi's; `codegen.ir` and the tests keep it to version 1.7.4.
"""

import ctypes
import os
import platform
import struct
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import torch

from ..base.math import Lanes
from ..base.stage import TURN
from ..machine.codegen.ir import ENTRY
from ..machine.codegen.llvm import llvm, load
from ..machine.codegen.pool import shared_pool
from ..machine.runtime import Runtime
from ..machine.taichi_thread import in_taichis_thread
from ..model.features import Features
from ..model.state.sizes import kinds
from .bound_kernel import Kernel
from .kernel import make_kernel
from .settings import Setting
from .taichi_kernel import Argument, TaichiKernel, nothing_to_do
from .tiles.scratch import FIRST, shared_scratch
from .tiles.tile_view import ARGUMENTS

_CALL = list(ARGUMENTS).index("call")
_ITEM_BYTES = 4
"""The bytes of the tile's number, the last of the arguments."""
_OF_LANES = [place for place, (kind, _) in enumerate(ARGUMENTS.values()) if kind.endswith("lanes")]
"""Indices of the arguments whose last dimension is a tile's lanes, if there are several lanes."""


class Context(ctypes.Structure):
    """Taichi's RuntimeContext, with the table of stages instead of the pointer to results.

    A worker (`codegen.worker`) reads its last three members.
    """

    _fields_ = (
        ("arguments", ctypes.c_void_p),
        ("runtime", ctypes.c_void_p),
        ("thread", ctypes.c_int32),
        ("table", ctypes.c_void_p),
        ("taken", ctypes.c_void_p),
        ("count", ctypes.c_void_p),
        ("item", ctypes.c_void_p),
    )


_ROOTS, _RECORD_BYTES = 88, 4096
"""Byte offset of the fields' addresses in Taichi's LLVMRuntime (runtime.cpp); bytes of the record that code reads."""
LINE = 64
"""Bytes to which lane numbers are aligned, at least."""
_WIDEST = 128
"""Bytes of the widest lane number, to which arrays are aligned here."""


class HostScratch:
    """Scratch for one lane width; all programs of that width share it.

    Attributes:
        runtime: address of the record by which programs find the scratch; it stays the same when the scratch grows.
        lock: held while the scratch is used or replaced.
    """

    _arrays: tuple[int, ...] = (0, 1, 2, 3)
    """For each array the place in `state.sizes.ARRAYS` of the one whose kind and size it has."""

    def __init__(self, width: int, precision: str) -> None:
        self.lock = threading.Lock()
        self._record = ctypes.create_string_buffer(_RECORD_BYTES)
        self.runtime = ctypes.addressof(self._record)
        self._kinds = kinds(width, precision)
        self._sizes = (0,) * len(FIRST)
        self.grow(FIRST)

    def grow(self, rows: Sequence[int]) -> None:
        """Make room for so many items of each array."""
        with self.lock:
            sizes = tuple(map(max, rows, self._sizes))
            if sizes != self._sizes:
                whole = [(sizes[place], *self._kinds[place]) for place in self._arrays]
                self._room = [aligned(count * width, np.dtype(kind)) for count, width, kind in whole]
                self._sizes = sizes
                roots = (array.ctypes.data for array in self._room)
                struct.pack_into(f"{len(whole)}Q", self._record, _ROOTS, *roots)


def aligned(numbers: int, dtype: np.dtype) -> np.ndarray:
    """Zeros; numpy's, which are no memory until they are used, where torch would wake threads to write them."""
    whole = np.zeros(numbers + _WIDEST // dtype.itemsize, dtype)
    skip = -whole.ctypes.data % _WIDEST // dtype.itemsize
    return whole[skip : skip + numbers]


class Program:
    """The machine code of all launches with a lane width, a precision and features (see `bound_kernel.Kernel`).

    Args:
        runtime: the runtime, with its threads and precision.
        width: the lane width.
        features: the features of the models.
        scratch: the scratch that it computes in.
        turn: the unit that takes a tile through a launch.
        entries: what `compile.compilers.units_of_program` needs for other units than the plain ones.
    """

    def __init__(
        self,
        runtime: Runtime,
        width: int,
        features: Features,
        scratch: HostScratch,
        turn: str = TURN,
        entries: Mapping[str, Any] | None = None,
    ) -> None:
        self.scratch, self._turn, self._entries = scratch, turn, entries or {}
        self._runtime, self._width, self._features = runtime, width, features
        self._code: tuple[int, ctypes.Array] | None = None  # address of the turn, and table of the stages
        self._lock = threading.Lock()

    @property
    def ready(self) -> bool:
        """True if its code is loaded."""
        return self._code is not None

    def bind(self, arguments: Sequence[torch.Tensor], rows: Sequence[int] = ()) -> Callable[[], None]:
        """Load or compile the code, if necessary; return a launch (`bound_kernel.Kernel`).

        The arguments equal those of the units' kernels without the last two, the numbers of worker and tile.
        """
        with self._lock:  # only the first of several threads loads the code
            if self._code is None:
                self._code = self._load()
        entry, table = self._code
        self.scratch.grow(rows)
        assert all(arguments[place].data_ptr() % LINE == 0 for place in _OF_LANES), "lane numbers are aligned"
        workers = int(arguments[_CALL][Setting.WORKERS])
        words = [_pack(arguments, self._width, worker) for worker in range(workers)]
        packed = [ctypes.create_string_buffer(text, len(text)) for text in words]
        stages, room_at = ctypes.addressof(table), self.scratch.runtime
        taken, count = (arguments[_CALL][setting].data_ptr() for setting in (Setting.NEXT, Setting.TILES))
        starts = [ctypes.addressof(record) for record in packed]
        item = len(words[0]) - _ITEM_BYTES
        contexts = [Context(start, room_at, 0, stages, taken, count, start + item) for start in starts]
        pool = shared_pool(self._runtime.threads)
        launch = pool.bind(entry, [ctypes.addressof(context) for context in contexts])
        return _Bound(launch, arguments[_CALL], self.scratch.lock, (packed, contexts, arguments, self))

    def _load(self) -> "tuple[int, ctypes.Array]":
        """Return the address of the turn and the table of stages, with all units loaded or compiled."""
        from .compile.compilers import units_of_program

        plan, code = units_of_program(self._width, self._runtime.precision, self._features, **self._entries)
        addresses = {name: _loaded(key, code[name]) for name, key in plan.units.items()}
        table = (ctypes.c_void_p * (1 + max(plan.numbers.values())))()
        for name, number in plan.numbers.items():
            table[number] = addresses[name]
        return addresses[self._turn], table


class _Bound:
    """A launch, the lock of its scratch, and the objects that it needs to stay alive."""

    def __init__(self, launch: Callable[[], None], call: torch.Tensor, lock: threading.Lock, keeps: tuple) -> None:
        self._launch, self._settings, self._lock, self._keeps = launch, call.numpy().data, lock, keeps

    def __call__(self) -> None:
        with self._lock:
            self._settings[_NEXT] = 0
            self._launch()


_NEXT = int(Setting.NEXT)


def _pack(arguments: Sequence[torch.Tensor], width: int, worker: int) -> bytes:
    """Return the record of arguments, the numbers of worker and tile included."""
    first = [tensor[..., 0] if width > 1 and place in _OF_LANES else tensor for place, tensor in enumerate(arguments)]
    return layout_of([*first, worker, 0]).pack(*words_of([*first, worker, 0]))


def layout_of(arguments: Sequence[Argument], floats: str = "f") -> struct.Struct:
    """Return Taichi's layout of arguments; a tensor is its shape and address, and begins at a multiple of 8 bytes."""
    codes = (
        f"0Q{argument.ndim}iQ" if isinstance(argument, torch.Tensor) else "i" if isinstance(argument, int) else floats
        for argument in arguments
    )
    return struct.Struct("@" + "".join(codes))


def words_of(arguments: Sequence[Argument]) -> list[int | float]:
    """Return the numbers that `layout_of` packs."""
    words: list[int | float] = []
    for argument in arguments:
        if isinstance(argument, torch.Tensor):
            words += [*argument.shape, argument.data_ptr()]
        else:
            words.append(argument)
    return words


_addresses: dict[str, int] = {}


def _loaded(key: str, code: bytes) -> int:
    """Load machine code, unless it is loaded, until the process ends; return the address of its entry."""
    if key not in _addresses:
        (_addresses[key],) = load(code, ENTRY)
    return _addresses[key]


@cache
def can_compile_apart() -> bool:
    """Return True if units can be compiled here: with llvmlite, and LLVM's settings known and wanted."""
    from ..machine.children import can_start_python
    from ..machine.compiler import SWITCH, address_of

    try:
        llvm()
    except ImportError as error:  # llvmlite is a dependency, so its absence deserves a warning
        warnings.warn(
            f"Tumble: Taichi compiles each solver as one kernel, which takes several times as long: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    if not can_start_python():
        return False
    enabled = os.environ.get(SWITCH) != "0"
    return enabled and platform.system() == "Linux" and address_of("LLVMParseCommandLineOptions") is not None


def is_there(runtime: Runtime, width: int, features: Features) -> bool:
    """Return True if the code for a lane width and features is loaded or kept, so that nothing is compiled for it."""
    if not can_compile_apart():
        return False
    from .compile.compilers import is_compiled

    program = runtime.pool.get(("program", width, features))
    return (program is not None and program.ready) or is_compiled(width, runtime.precision, features)


def lanes_of_one(runtime: Runtime, features: Features) -> int:
    """Return the lanes of a single environment: one, which steps quickest, unless the code of a batch is there already.

    Then it has the lanes of the batch, so that nothing is compiled for it; its bits are the same. A batch with
    per-environment parameters has compiled only the code with that feature.
    """
    for width in dict.fromkeys((1, runtime.lanes)):
        for has in (features, replace(features, parameters=True)):
            if is_there(runtime, width, has):
                return width
    return 1


def shared_program(runtime: Runtime, width: int, features: Features) -> Kernel:
    """Return the code for a lane width and features; it is made once, then shared."""
    if not can_compile_apart():
        return in_taichis_thread(_whole_kernel, runtime, width, features)
    pool, key = runtime.pool, ("host scratch", width)
    if key not in pool:
        pool[key] = HostScratch(width, runtime.precision)
    return pool.setdefault(("program", width, features), Program(runtime, width, features, pool[key]))


def _whole_kernel(runtime: Runtime, width: int, features: Features) -> Kernel:
    """Return the code as one kernel that Taichi compiles in this process; to be called in Taichi's thread."""
    runtime.require()
    scratch, key = shared_scratch(runtime, width), ("kernel", width, features)
    make = partial(make_kernel, Lanes(width, runtime.dtype), features, scratch)
    return runtime.pool.setdefault(key, TaichiKernel(runtime, make, idle=nothing_to_do, scratch=scratch))
