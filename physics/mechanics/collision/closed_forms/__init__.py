"""Contacts of planes, spheres, capsules, boxes and cylinders in closed form."""
