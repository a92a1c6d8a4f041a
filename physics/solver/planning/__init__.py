"""Planning of motions: inverse kinematics of many environments at once, and paths without collisions.

`inverse.py` finds coordinates that bring points of bodies to poses; its kernels compute chains, the parts of a model
that move these points (`chain.py`, `workspace.py`, `errors.py`, `kernels.py`). `paths.py` finds ways between
configurations. Neither touches the state of a solver.
"""
