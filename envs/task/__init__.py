"""Tasks: the base class, and helpers of a task's methods."""
