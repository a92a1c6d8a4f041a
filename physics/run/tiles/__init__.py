"""Batches on a CPU: tiles of environments in vector lanes, and the scratch of a step."""
