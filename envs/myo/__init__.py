"""MyoSuite's tasks: a muscle-driven elbow, finger, hand and legs (Apache-2.0, models in the package `myosuite`)."""
