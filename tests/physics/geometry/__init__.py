"""Geometry: files of meshes, convex pieces, the store."""
