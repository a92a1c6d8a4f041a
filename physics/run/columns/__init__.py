"""Batches on a GPU: one thread for each environment."""
