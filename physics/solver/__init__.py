"""The solver that users hold, and what it answers: quantities, sensors, queries, plans."""
