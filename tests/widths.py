"""How wide the solvers of tests are."""

WIDTH = 4
"""Lanes of the solvers of tests that ask for no other width (`tests/conftest.py`)."""
