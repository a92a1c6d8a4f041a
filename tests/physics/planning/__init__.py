"""Inverse kinematics and paths."""
