"""Machine code of the solver on a CPU: turns Taichi's kernels into object files, loads them and runs them.

This room knows nothing of models or states. `vectors` makes Taichi keep lane vectors whole, `ir` edits Taichi's LLVM
IR of a kernel with one serial task, `loops` that of a kernel with a parallel loop, `addresses` adds alias information,
`worker` adds the loop over items, `llvm` makes object files and loads them, `keys` and `store` cache them on disk, and
`pool` runs them on several cores.

Words of this room: the *entry* is the exported function `ir.ENTRY` of a module; a *context* is the `RuntimeContext`
that Taichi hands to every kernel; a *unit* is one compiled stage; an *item* is one index of a loop that workers share;
a *launch* calls one function once per context, each call being a *task*; *helpers* are the threads of a pool.
"""
