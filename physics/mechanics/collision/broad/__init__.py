"""Pairs of geoms that may touch: a list of all, a sweep, or a grid of static geoms."""
