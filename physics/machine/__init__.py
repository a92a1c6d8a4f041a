"""The things that a process has once: Taichi with its thread, cache and LLVM's settings; cores, memory, signals.

Nothing here knows a model or a kernel. `runtime` is the door: `tumble.init` chooses device, precision, lanes, threads.
"""
