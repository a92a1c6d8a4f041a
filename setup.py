"""The one thing that pyproject.toml cannot say: the top-level folders are the rooms of one package, tumble."""

from setuptools import find_packages, setup

rooms = find_packages(include=["envs*", "physics*", "assets*", "training*", "benchmarks*"])
setup(packages=["tumble", *(f"tumble.{room}" for room in rooms)], package_dir={"tumble": "."})
