"""How a batch of environments is kept and launched.

The driver (`driver.py`) has the memory of all environments and takes it through steps and evaluations. Nothing above it
knows of tiles, workers, scratch or launch arguments. Its batch has one of two arrangements: tiles of vector lanes on a
CPU (`cpu.py`), columns on a GPU (`gpu.py`).
"""
