"""Derivatives of a step: the solver's own stages, traced once more with numbers that carry a tangent.

A *tangent* of a number is its derivative along one direction in the space of states, controls and parameters. While a
unit is traced, every operation on a number with a tangent also computes the tangent of its result (`rules`,
`tangents`), so the stages are not changed and know nothing of this room. Newton's method is not traced: the condition
at its optimum gives the tangents of qacc (`optimum`).

A *pass* computes the tangents of a step along one direction in each lane. Lanes are environments, or directions of one
environment; the code is the same.
"""
