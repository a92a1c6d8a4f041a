"""How a batch of environments is kept and launched.

A driver has the memory of all environments and takes it through steps and evaluations. Nothing above it knows of tiles,
workers, scratch or launch arguments; `Driver` (`interface.py`) is all that the solver says.
"""
