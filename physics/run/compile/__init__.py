"""Compilation of the solver's units, in processes apart."""
