"""Further entries of a launch's settings (`run.settings.Setting`): the passes of a launch, and where their rows are.

Behind the groups of a tile's memory come the seeds of all passes, the results of all passes, and the values of the
chosen rows of results. A pass has a row for
each dof (the tangent of qpos in the tangent space: m or rad) and for each chosen row of the scratch; seeds of
parameters come last. `rows`, an argument of the kernel, has the chosen rows: those of seeds, then those of results.
"""

from enum import IntEnum


class DirectionSetting(IntEnum):
    """The entries; `Setting` has none from 52 on."""

    FIRST = 52
    """First row behind the groups of the memory."""
    PASSES = 53
    """Passes, all levels together."""
    CONTROL_PASSES = 54
    """Passes of the level CONTROL, which come first."""
    VELOCITY_PASSES = 55
    """Passes of the level VELOCITY, which come next."""
    SEEDS = 56
    """Rows of the scratch that have seeds."""
    OWN_SEEDS = 57
    """Per-environment parameters that have seeds: all of them, or 0."""
    RESULTS = 58
    """Rows of the scratch whose tangents are results."""
    CLEARED = 59
    """Rows of the scratch whose tangents become zero before the first pass."""
    KEEP = 60
    """1: store the state after the step."""
