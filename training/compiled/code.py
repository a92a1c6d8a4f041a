"""The machine code of learning: compiled once on a machine, kept in the store, and called through ctypes."""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...physics.machine.codegen.keys import key_of
from ...physics.machine.codegen.llvm import llvm, load, optimized_machine_code
from ...physics.machine.codegen.store import shared_store
from ...physics.machine.codegen.words import Module
from .distributions import Distributions
from .networks import Networks
from .ppo_update import UpdateFunctions
from .products import Products
from .rollouts import Rollouts

_TASKS = ("gradients_task", "sums_task", "steps_task")
_CALLED = (
    *("update", "transpose_all", "prepare_distribution"),
    *("act", "record", "normalize_block", "value_block", "advantages_of_rollout"),
)
NAMES = (*_TASKS, *_CALLED)
"""The names of the functions of `Code`, in its order."""
_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # calls release the GIL


class Code(NamedTuple):
    """Functions by address, and those that Python calls."""

    gradients: int
    sums: int
    steps: int
    update: Callable[[int], None]
    transpose: Callable[[int], None]
    prepare: Callable[[int], None]
    act: Callable[[int], None]
    record: Callable[[int], None]
    normalize: Callable[[int], None]
    value: Callable[[int], None]
    advantages: Callable[[int], None]


def source(tile_rows: int) -> str:
    """Return the module as LLVM IR, with tiles of so many rows."""
    module = Module()
    networks, distributions = Networks(module, Products(module, tile_rows)), Distributions(module)
    update = UpdateFunctions(module, networks, distributions)
    Rollouts(module, networks, distributions, update.gather)
    return module.text()


def tile_rows() -> int:
    """Return the rows of a tile: 8 with the 32 registers of AVX-512, else 4: as many as sums stay in registers."""
    return 8 if llvm().get_host_cpu_features().get("avx512f") else 4


@cache
def code() -> Code:
    """Return the functions, compiled if the store does not have them."""
    rows = tile_rows()
    store, key = shared_store(), key_of("learning", rows, _sources())
    binary = store.load(key)
    if binary is None:
        store.save(key, binary := optimized_machine_code(source(rows)))
    return code_at(load(binary, *NAMES))


def code_at(addresses: list[int]) -> Code:
    """Return the functions at the addresses of NAMES."""
    gradients, sums, steps, *called = addresses
    return Code(gradients, sums, steps, *map(_FUNCTION, called))


def _sources() -> list[str]:
    return [path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("*.py"))]
