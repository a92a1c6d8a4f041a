"""Results of evaluations: which are asked for, and which still hold."""
