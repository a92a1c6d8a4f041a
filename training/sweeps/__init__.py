"""Sweeps: many runs whose settings Optuna chooses."""
