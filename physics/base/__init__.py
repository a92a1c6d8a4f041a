"""Common ground of all rooms of the physics: arithmetic, kinds of geoms, fields, stages, indices of environments."""
