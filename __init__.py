"""Tumble: robot-learning environments on a batched rigid-body solver."""

__version__ = "0.1.0"
