"""Robots as tasks load them."""

from collections.abc import Collection, Sequence
from pathlib import Path

import mujoco

from ... import assets


def load_robot(file: str, folders: Sequence[Path], sensors: Collection[int]) -> mujoco.MjSpec:
    """Return a robot on its floor with sensors only of some types, `mujoco.mjtSensor`: others would cost time.

    Args:
        file: name or path of the model.
        folders: where names are looked for before Tumble's own.
        sensors: types to keep.

    Raises:
        FileNotFoundError: no such file.
    """
    spec = mujoco.MjSpec.from_file(str(assets.find(file, folders)))
    for sensor in [*spec.sensors]:
        if sensor.type not in sensors:
            spec.delete(sensor)
    return spec
