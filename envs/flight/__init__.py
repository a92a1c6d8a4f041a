"""Drones that hover and fly to places."""
