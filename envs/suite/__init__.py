"""Tasks of the DeepMind control suite, on models of our own: a file for each robot."""
