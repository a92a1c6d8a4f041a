"""Shapes: files of meshes, their convex pieces, and the store of all geometry of a model. No kernels.

Lengths are metres, in the frame of the file (before MuJoCo's `refpos`, `refquat` and `scale`) or of the geom.
Faces are triangles, their vertices counter-clockwise seen from outside. Bounds are (lower, upper) corners.
"""
