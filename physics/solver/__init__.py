"""The solver that users hold, and its answers: quantities, sensors, queries, plans."""
