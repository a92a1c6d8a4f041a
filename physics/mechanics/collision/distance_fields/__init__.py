"""Contacts of meshes that have distance fields."""
