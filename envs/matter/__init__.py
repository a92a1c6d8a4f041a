"""Bodies and matter in the same environments: a solver with all members of that of rigid bodies."""
