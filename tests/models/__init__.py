"""Models for the tests: purpose-made ones, third-party ones that arrive in installed packages, and random ones."""
