"""Files of a scene: the scene, its state, and its movement."""

import json
import os
import zipfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ...physics.machine.disk import check_arrays, replacing
from ...physics.solver.user.state_file import model_digest
from ..files import description, saving
from ..files.trajectory import SceneTrajectory
from .contents import SceneContents


class SceneFiles:
    """The calls of a scene that write and read files.

    Attributes:
        trajectory: the trajectory of `load_trajectory`; None in other scenes.
    """

    trajectory: SceneTrajectory | None = None

    def __init__(self, contents: SceneContents) -> None:
        self._contents = contents

    def describe(self) -> str:
        """Return the scene as text, from which `load` makes it again."""
        contents = self._contents
        described = {
            "tumble_scene": description.VERSION,
            **{name: description.encode(getattr(contents, name)) for name in description.OPTIONS},
            "entities": [description.entity_of(each, contents.pieces.get(each.idx)) for each in contents.entities],
            "lights": [asdict(light) for light in contents.lights],
            "cameras": [description.encode(options)["mapping"] for options in contents.camera_options],
            "sensors": [description.encode(sensor.options) for sensor in contents.sensors.sensors],
            "build": contents.built_with,
            "model": model_digest(contents.world.model) if contents.is_built else None,
            **{name: description.encode(getattr(contents, name)) for name in description.OF_MATTER},
        }
        return json.dumps(described, indent=1)

    def export(self, path: str | os.PathLike) -> None:
        """Write all that the scene was made of into a file, from which `Scene.load` makes it again.

        Entities, materials, surfaces, options, lights, cameras and sensors are in it, and how it was built. Files of
        morphs are named, not copied. Changes of setters are state: `save_checkpoint`.
        """
        text = self.describe()
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")

    def save_checkpoint(self, path: str | os.PathLike) -> None:
        """Write all that the future of the scene depends on into a file; `load_checkpoint` goes on to the last bit."""
        contents, world = self._contents, self._contents.built("save_checkpoint")
        saving.save(path, world, contents.entity_names, contents.sensors, self.describe())

    def write_mjcf(self, path: str | os.PathLike) -> None:
        """Write the compiled scene as an MJCF file, which MuJoCo opens: `tumble.physics.Model.write_mjcf`.

        Raises:
            ModelWriteError: MJCF cannot hold it.
        """
        self._contents.built("write_mjcf").model.write_mjcf(path)

    def load_checkpoint(self, path: str | os.PathLike) -> None:
        """Go on where `save_checkpoint` left off, in a scene that was built alike.

        Asked of the class, `Scene.load_checkpoint(path)` makes the scene, too, and returns it.

        Raises:
            OSError: the file cannot be read; FileNotFoundError if it does not exist.
            ValueError: it is no checkpoint, or of another scene, precision or number of environments.
        """
        contents, world = self._contents, self._contents.built("load_checkpoint")
        saving.load(path, world, contents.entity_names, contents.sensors)


def read_trajectory(
    path: str | os.PathLike,
) -> tuple[str, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Return a scene's description, times, positions and inputs from a file of a `TrajectoryFile`.

    Raises:
        OSError: the file cannot be read; FileNotFoundError if it does not exist.
        ValueError: it is no recorded trajectory.
    """
    try:
        check_arrays(path, packed=True)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        text = str(arrays.pop("scene"))
        return text, arrays.pop("timestamp"), arrays.pop("qpos"), arrays
    except (ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path}: not a file of a gs.recorders.TrajectoryFile, or a damaged one") from error
