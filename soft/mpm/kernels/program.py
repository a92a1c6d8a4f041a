"""The program of a worker: it takes environments, and all substeps of one at once."""

from functools import cache
from typing import Any

from ....physics.machine.codegen.ir import ENTRY
from ....physics.machine.codegen.keys import key_of
from ....physics.machine.codegen.llvm import load, optimized_machine_code
from ....physics.machine.codegen.store import shared_store
from ....physics.machine.codegen.words import FLOAT, INT, INT32, Function, Module
from ....physics.machine.codegen.worker import of_workers
from ..contact.touching import Contact
from .grid import Grid
from .layout import BODY, LANES, NUMBERS, POSE, WORKER, WRENCH
from .particles import BLOCK, Particles
from .transfer import REACH


def source() -> str:
    """Return the module as LLVM IR."""
    module = Module()
    contact = Contact(module)
    _program(module, Particles(module, contact), Grid(module), contact)
    return of_workers(module.text())


@cache
def program() -> int:
    """Return the address of a worker's program, compiled if the store does not have it."""
    text = source()
    store, key = shared_store(), key_of("mpm", text)
    binary = store.load(key)
    if binary is None:
        store.save(key, binary := optimized_machine_code(text))
    return load(binary, ENTRY)[0]


def _program(module: Module, particles: Particles, grid: Grid, contact: Contact) -> None:
    with module.function(ENTRY, public=True, context=WORKER) as (f, worker):
        batch = worker.batch
        e = f.emit(f"load i32, ptr {worker.item.name}", INT32)
        env = f.convert(e, INT)
        with f.when(env >= 0), f.when(batch.faults[env].equals(0)):
            _environment(f, worker, batch, env, particles, grid, contact)


def _environment(
    f: Function, worker: Any, batch: Any, env: Any, particles: Particles, grid: Grid, contact: Contact
) -> None:
    """Write all substeps of an environment."""
    size = batch.blocks * BLOCK
    memory = batch.memory + env * size
    low, high, box = f.array(FLOAT, 3 * LANES), f.array(FLOAT, 3 * LANES), f.array(INT, 6)
    reach, gravity = f.record(REACH), batch.gravity + env * 3
    reach.grid = worker.grid
    reach.weights, reach.inside, reach.node = f.array(FLOAT, 9 * LANES), f.array(FLOAT, 3 * LANES), f.array(INT, LANES)
    reach.moments = f.array(FLOAT, 16 * LANES)
    reach.along_x, reach.along_y = batch.nodes[1] * batch.nodes[2], batch.nodes[2]
    with f.loop(0, size, LANES) as k:
        f.store(worker.before + k, memory.vector(k, LANES))
    f.call(particles.find_box, batch.blocks, memory, low, high)
    wrenches = batch.wrenches + env * batch.bodies * WRENCH
    for own, all_of, count, numbers in (
        (worker.poses, batch.poses, batch.geoms, POSE),
        (worker.body, batch.body, batch.bodies, BODY),
    ):
        with f.loop(0, count * numbers) as k:
            own[k] = (all_of + env * count * numbers)[k]
    with f.loop(0, batch.bodies * WRENCH) as k:
        wrenches[k] = 0.0
    fault = f.variable(INT, 0)
    with f.loop(0, batch.substeps), f.when(fault.value.equals(0)):
        f.call(grid.nodes_of, batch, low, high, box)
        f.call(grid.clear, batch, worker.grid, box)
        with f.loop(0, batch.entities) as n:
            entity = batch.entity[n]
            numbers = batch.numbers + (env * batch.entities + n) * NUMBERS
            law = entity.law
            for number, to_grid in enumerate(particles.to_grid):
                with f.when(law.equals(number)):
                    f.call(to_grid, batch, reach, memory, entity.first, entity.end, numbers, gravity)
        f.call(grid.move, batch, worker.grid, box)
        with f.when(batch.geoms > 0):
            f.call(contact.recoil.move, batch, worker)
            f.call(contact.touch, batch, worker, box, wrenches)
        fault.set(f.call(particles.from_grid, batch, worker, reach, memory, batch.held + env, low, high))
    with f.when(fault.value > 0):
        batch.faults[env] = 1
        with f.loop(0, size, LANES) as k:
            f.store(memory + k, worker.before.vector(k, LANES))
