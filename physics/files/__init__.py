"""Files of models: a compiled MjModel, URDF, meshes. No kernel is here, and no state."""
