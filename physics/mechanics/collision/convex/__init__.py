"""Contacts of any two convex shapes: distance, depth, and several points of flat sides."""
