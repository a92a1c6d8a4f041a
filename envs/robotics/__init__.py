"""The tasks of Gymnasium-Robotics on models of its package: Fetch, mazes, Adroit, the Shadow hand and a kitchen."""
