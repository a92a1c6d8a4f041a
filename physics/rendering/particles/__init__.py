"""Particles in pictures: groups of spheres, or the smooth surface around them, beside the geoms of a model.

`group.ParticleGroup` is what a user gives: places, radii and the look. A group is one row of the render model
(`placed.py`), whose spheres or triangles are in a tree of boxes of each environment (`trees.py`), built for every
picture. Rays walk through the tree as through that of a mesh (`spheres.py`).
"""
