"""The static numbers of a mechanism: loading and checking MJCF, and what the kernels read of it.

MuJoCo compiles; Tumble copies the numbers of the compiled model and never parses XML for them.
"""
