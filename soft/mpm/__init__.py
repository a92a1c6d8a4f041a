"""Matter by the material point method: materials, particles, their solver. It knows nothing of rigid bodies."""
