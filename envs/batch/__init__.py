"""A task on a solver: the batch moves all environments at once, and checks what the task returns."""
