"""Tasks with matter."""
