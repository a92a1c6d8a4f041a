"""The objects of a `RigidSolver`, which users call: state, inputs, joints, parameters, quantities, queries, sensors.

Each holds the `Environments` of its solver (model, driver, per-environment parameters), not the solver. Their public
methods are for users. Helpers that several of them use are here, too: sleep (`sleep.py`), readings of sensors
(`sensor_reader.py`), and which fields of memory resets, writes and MuJoCo's state vectors go over (`memory.py`).
"""
