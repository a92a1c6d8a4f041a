"""Tasks: the base class, and what a task's methods use."""
