"""The quantities of a step: their declarations, their sizes, and the views through which kernels access them.

Words of this room:

- A *tile* is as many environments as a kernel has lanes; a *worker* is a thread that processes one tile after the
  other. The *scratch* of a worker holds all quantities of its tile (`fields`).
- An *evaluation* computes all other quantities from the state and the inputs. Fields `eval_*` are the state and inputs
  of the last one, since a step integrates the state afterwards; such a copy of a field is its *twin*.
- A *mask* is a number that is 1 in lanes in which a condition holds, else 0.
- *Capacities* are the sizes of arrays whose use depends on the state: contacts, Hessian entries, near pairs
  (`capacity`).
- A *mechanism* is a part (`physics/model/parts`); it declares its fields, sizes and memory.
"""
