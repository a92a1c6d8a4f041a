"""Kinematics: poses of bodies and geoms, centres of mass, motion subspaces of dofs, and tendon paths.

Everything is in the world frame. Spatial quantities are about the centre of mass of the body's kinematic tree, as in
MuJoCo. A *root* is the body at the top of a kinematic tree. Fields named `*_offset` are positions from the origin of
the root's frame, so that differences within a mechanism keep their digits far from the world's origin. A *spatial*
tendon's path consists of *links*, each from one site to the next, possibly around a geom.
"""
