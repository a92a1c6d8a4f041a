"""Learners: algorithms of Stable-Baselines3, their networks, callbacks and logs."""
