"""Stages that compute readings of sensors in the kernel: of contacts, of limits, and of the motion of bodies.

Only a kernel knows its contacts and limits, whose number changes from step to step, and sums along the tree cost a
kernel next to nothing. `physics.sensors` makes MuJoCo's `sensordata` of it.
"""
