"""Particles in pictures: groups of spheres, or the smooth surface of a liquid, beside the geoms of a model.

`group.ParticleGroup` is what a user gives: places, radii and the look. A group is one row of the render model
(`placed.py`). Its spheres are in the cells of a grid of each environment (`cells.py`, `placing.py`, `spheres.py`), and
the triangles of a surface (`surface.py`, `cubes.py`) in a tree of boxes (`trees.py`); both are built for every picture.
"""
