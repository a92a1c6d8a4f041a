"""The machine code of learning: compiled once on a machine, kept in the store, and called through ctypes."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ...physics.machine.codegen.keys import key_of
from ...physics.machine.codegen.llvm import llvm, load, optimized_machine_code
from ...physics.machine.codegen.pool import Pool, shared_pool
from ...physics.machine.codegen.store import shared_store
from ...physics.machine.codegen.words import Module
from ...physics.machine.runtime import ensure_runtime
from .distributions import Distributions
from .networks import Networks
from .ppo_update import UpdateFunctions
from .products import Products
from .q_update import QUpdateFunctions
from .rollouts import Rollouts

_TASKS = ("gradients_task", "sums_task", "steps_task", "fused_task", "act_task")
_CALLED = (
    *("update", "transpose_all", "prepare_distribution"),
    *("record", "normalize_block", "value_block", "advantages_of_rollout"),
)
NAMES = (*_TASKS, *_CALLED)
"""The names of the functions of `Code`, in its order."""
Q_NAMES = ("critics_task", "steps_task", "actor_task", "rest_task", "q_update", "transpose_network")
"""The names of the functions of `QCode`, in its order."""
_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # calls release the GIL


class Code(NamedTuple):
    """Functions by address, and those that Python calls."""

    gradients: int
    sums: int
    steps: int
    fused: int
    act: int
    update: Callable[[int], None]
    transpose: Callable[[int], None]
    prepare: Callable[[int], None]
    record: Callable[[int], None]
    normalize: Callable[[int], None]
    value: Callable[[int], None]
    advantages: Callable[[int], None]


class QCode(NamedTuple):
    """Functions of SAC and TD3 by address, and those that Python calls."""

    critics: int
    steps: int
    actor: int
    rest: int
    update: Callable[[int], None]
    transpose: Callable[[int], None]


def source(tile_rows: int) -> str:
    """Return the module as LLVM IR, with tiles of so many rows."""
    module = Module()
    networks, distributions = Networks(module, Products(module, tile_rows)), Distributions(module)
    update = UpdateFunctions(module, networks, distributions)
    Rollouts(module, networks, distributions, update.gather)
    return module.text()


def q_source(tile_rows: int) -> str:
    """Return the module of SAC and TD3 as LLVM IR."""
    module = Module()
    products = Products(module, tile_rows)
    QUpdateFunctions(module, products, Networks(module, products))
    return module.text()


def tile_rows() -> int:
    """Return the rows of a tile: 8 with the 32 registers of AVX-512, else 4: as many as sums stay in registers."""
    return 8 if llvm().get_host_cpu_features().get("avx512f") else 4


@cache
def code() -> Code:
    """Return the functions, compiled if the store does not have them."""
    return code_at(load(_compiled(source), *NAMES))


@cache
def q_code() -> QCode:
    """Return the functions of SAC and TD3, compiled if the store does not have them."""
    return q_code_at(load(_compiled(q_source), *Q_NAMES))


def learning_pool() -> Pool:
    """Return the threads that learn: as many as the solver has."""
    return shared_pool(ensure_runtime().threads)


def _compiled(write: Callable[[int], str]) -> bytes:
    """Return a module as an object file, from the store if it has this very text."""
    text = write(tile_rows())
    store, key = shared_store(), key_of("learning", text)
    binary = store.load(key)
    if binary is None:
        store.save(key, binary := optimized_machine_code(text))
    return binary


def code_at(addresses: list[int]) -> Code:
    """Return the functions at the addresses of NAMES."""
    gradients, sums, steps, fused, act, *called = addresses
    return Code(gradients, sums, steps, fused, act, *map(_FUNCTION, called))


def q_code_at(addresses: list[int]) -> QCode:
    """Return the functions at the addresses of Q_NAMES."""
    critics, steps, actor, rest, *called = addresses
    return QCode(critics, steps, actor, rest, *map(_FUNCTION, called))
