"""Cameras: poses, fields of view, rays through pixels."""
