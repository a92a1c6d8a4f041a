"""Gymnasium's two faces of a task: the vector environment and the single one."""
