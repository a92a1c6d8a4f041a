"""Forces and accelerations without constraints: mass matrix, bias, passive forces, actuators.

The mass matrix M is sparse along the kinematic tree: row i has entries only at the ancestors of dof i (`tree_matrix`).

Functions of kernels take `model`, views of the model's constant numbers, and `work`, views of the scratch of the W
environments that a thread computes side by side; their numbers are lane numbers (`math`). A *slope* is the derivative
of a force by a velocity. A *mechanism* is a part that adds code by hooks (`hooks`, `parts`). `drive_qacc` and
`drive_qvel` are the acceleration and velocity with which the integrator advances qvel and qpos.
"""
