"""Where everything is: body poses, centres of mass, motion subspaces.

World frame throughout. Spatial quantities are about the centre of mass of the body's kinematic tree, as in MuJoCo.
"""
