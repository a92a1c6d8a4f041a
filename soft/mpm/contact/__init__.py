"""Compiled code of contact between the grid and rigid geoms: distances, friction, and the recoil of bodies."""
