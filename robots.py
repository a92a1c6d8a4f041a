"""Robots by name: `tumble.robots.names()`, and `get(name)` for what is known of one and where its files lie.

A name is a source and a robot, "menagerie:unitree_g1". `Model.from_name`, morphs of scenes, `xml_file` of tasks and the
commands `tumble robots`, `tumble render` and `tumble view` take it. Nothing is imported or downloaded.
"""

from .assets.robots import KnownRobot, get, names, robots

__all__ = ["KnownRobot", "get", "names", "robots"]
