"""Machine code of the solver on a CPU: how Taichi's kernels become object files, and how these are loaded and run.

Nothing here knows the solver. `vectors` has Taichi keep lane numbers whole, `reach` finds what a function may ask for,
`ir` edits the code that Taichi makes, `llvm` makes machine code of it, `store` keeps that in files, and `pool` runs it
on several cores.
"""
