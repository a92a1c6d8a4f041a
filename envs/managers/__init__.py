"""Parts that tasks are put together from: commands, randomization, observation terms, curricula, terminations."""
