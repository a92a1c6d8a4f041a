"""A task on a solver: the batch moves all environments at once, and checks the task's results."""
