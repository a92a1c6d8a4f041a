"""The driver: memory of a batch of environments, and the launches that step and evaluate it.

The driver (`driver.py`) holds the memory of all environments. Nothing above this room knows of tiles, workers, scratch
or launch arguments. A batch has one of two arrangements: tiles of vector lanes on a CPU (`cpu.py`), columns on a GPU
(`gpu.py`).

Words of this room:

- A *tile* is W environments that a thread computes side by side, one per lane. *Spare* lanes of the last tile start as
  copies of other environments; their results are not read. On a GPU a tile is one environment.
- The *memory* is kept for every environment between launches (`state.memory`). The *scratch* is where a thread
  computes: one buffer of real numbers and one of integers, with a row for every number of every field.
- A *launch* runs a kernel once over a batch. A *worker* is a thread of a launch on a CPU; workers take tiles from a
  common counter. A *turn* is what a launch does with one tile: load, step or evaluate, store.
- The *room* is the part of the scratch whose need depends on the state: contacts, Hessian entries, near pairs. A tile
  that needs more than the room has is *left*: its memory stays as it was, and it is launched again in a larger scratch.
- An *evaluation* computes all that follows from a state, without moving. The *last evaluation* is the one of the last
  step, or of `forward`. To *hand out* is to copy fields from the scratch to an output array of the launch.
- The *outputs* are fields that every step hands out. They are *stale* in environments whose state was changed since.
- *Own numbers* are per-environment parameters: fields of the model, such as body_mass, with a value per environment.
- A *unit* is a stage, or the turn, compiled on its own; a *program* is all units of a launch (CPU only).
"""
