"""Cameras of a scene, debug objects in their pictures, and the page in a browser."""
