"""Forces and accelerations without constraints: mass matrix, bias, passive forces, actuators.

The mass matrix is sparse along the kinematic tree: row i has entries only at the ancestors of dof i.
"""
