"""Rays: where they meet planes, spheres, capsules, cylinders, ellipsoids, boxes and meshes; `RigidSolver.ray`.

Lengths are metres. Solids are met in their frames (`shapes`); meshes are triangles in a tree of boxes
(`mesh_tree.py`, `traverse.py`). Pictures and queries share both. Kernels compute in the precision in force when they
are traced: single in pictures, the solver's in queries.
"""
