"""Readers of a compiled `mujoco.MjModel` that several parts use. They know no field of Tumble."""
