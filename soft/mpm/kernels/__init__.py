"""Compiled code of the material point method: particles, grid, and the program of a worker."""
