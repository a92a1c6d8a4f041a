"""Files of a scene: itself, its state, and its movement."""

import json
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..physics.machine.disk import check_arrays, read_regular, replacing
from ..physics.solver.user.state_file import model_digest
from . import description, saving
from .life import Life
from .lights import Light
from .trajectory import Trajectory


class either:
    """A method of a scene; where the class is asked, it makes a scene first: `of_class`."""

    def __init__(self, of_scene: Callable[..., Any]) -> None:
        self._of_scene, self._of_class, self.__doc__ = of_scene, of_scene, of_scene.__doc__

    def of_class(self, function: Callable[..., Any]) -> None:
        """Take the function that the class calls, with itself first."""
        self._of_class = function

    def __get__(self, scene: Any, owner: Any) -> Any:
        """Return the function of a scene, or of the class."""
        return self._of_scene.__get__(scene) if scene is not None else self._of_class.__get__(owner)


class Keeping(Life):
    """The calls of a scene that write and read files.

    Attributes:
        trajectory: what `load_trajectory` has read; None in other scenes.
    """

    trajectory: Trajectory | None = None
    _built_with: dict[str, Any] | None = None

    def describe(self) -> str:
        """Return the scene as text, from which `load` makes it again."""
        own: Any = self
        told = {
            "tumble_scene": description.VERSION,
            **{name: description.encode(getattr(self, name)) for name in description.OPTIONS},
            "entities": [description.entity_of(entity, own.piece_of(entity)) for entity in own.entities],
            "lights": [asdict(light) for light in own._lights],
            "cameras": [description.encode(options)["mapping"] for options in own._camera_options],
            "sensors": [description.encode(sensor.options) for sensor in own.sensors],
            "build": self._built_with,
            "model": model_digest(self._world.model) if self._world else None,
        }
        return json.dumps(told, indent=1)

    def export(self, path: str | os.PathLike) -> None:
        """Write all that the scene was made of into a file, from which `Scene.load` makes it again.

        Entities, materials, surfaces, options, lights, cameras and sensors are in it, and how it was built. Files of
        morphs are named, not copied. What setters changed is state: `save_checkpoint`.
        """
        text = self.describe()
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")

    @classmethod
    def load(
        cls,
        path: str | os.PathLike,
        show_viewer: bool = False,
        viewer_options: Any = None,
        vis_options: Any = None,
        renderer: Any = None,
    ) -> Any:
        """Return a new scene from a file of `export`; it is built if that was.

        Args:
            path: of the file.
            show_viewer: as of `Scene`.
            viewer_options: in place of those of the file; None: those of the file.
            vis_options: in place of those of the file; None: those of the file.
            renderer: in place of the file's; None: the file's.

        Raises:
            OSError: the file cannot be read; FileNotFoundError if there is none.
            ValueError: it is no such file; or files of morphs have changed, so that the model is another one.
            ModelLoadError: a file of a morph is missing or broken.
        """
        text = read_regular(path).decode(errors="replace")
        given = {"viewer_options": viewer_options, "vis_options": vis_options, "renderer": renderer}
        return _made(cls, text, path, show_viewer, given)

    def save_checkpoint(self, path: str | os.PathLike) -> None:
        """Write all that the future of the scene depends on into a file; `load_checkpoint` goes on to the last bit."""
        own: Any = self
        saving.save(path, self._built("save_checkpoint"), self.entity_names, own._sensors, self.describe())

    @either
    def load_checkpoint(self, path: str | os.PathLike) -> None:
        """Go on where `save_checkpoint` left off, in a scene that was built alike.

        Asked of the class, `Scene.load_checkpoint(path)`, it makes the scene, too, and returns it.

        Raises:
            OSError: the file cannot be read; FileNotFoundError if there is none.
            ValueError: it is no such file, or of another scene, precision or number of environments.
        """
        own: Any = self
        saving.load(path, self._built("load_checkpoint"), self.entity_names, own._sensors)

    @classmethod
    def load_trajectory(
        cls,
        path: str | os.PathLike,
        show_viewer: bool = False,
        viewer_options: Any = None,
        vis_options: Any = None,
        renderer: Any = None,
    ) -> Any:
        """Return a new scene that shows what `start_recording(TrajectoryFile(...))` has kept: `scene.trajectory`.

        Arguments and errors are those of `load`; a scene is at the first frame.
        """
        try:
            check_arrays(path, packed=True)
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            text = str(arrays.pop("scene"))
            times, qpos = arrays.pop("timestamp"), arrays.pop("qpos")
        except (ValueError, KeyError, zipfile.BadZipFile, EOFError) as error:
            raise ValueError(f"{path}: not a file of a gs.recorders.TrajectoryFile, or a damaged one") from error
        given = {"viewer_options": viewer_options, "vis_options": vis_options, "renderer": renderer}
        scene = _made(cls, text, path, show_viewer, given)
        scene.trajectory = Trajectory(scene.rigid_solver, times, qpos, arrays)
        scene.trajectory.show(0)
        return scene


def _checkpoint(
    cls: Any,
    path: str | os.PathLike,
    show_viewer: bool = False,
    viewer_options: Any = None,
    vis_options: Any = None,
    renderer: Any = None,
) -> Any:
    """Return a new scene that goes on where another one left off."""
    given = {"viewer_options": viewer_options, "vis_options": vis_options, "renderer": renderer}
    scene = _made(cls, saving.description_in(path), path, show_viewer, given)
    scene.load_checkpoint(path)
    return scene


Keeping.__dict__["load_checkpoint"].of_class(_checkpoint)


def _made(cls: Any, text: str, path: str | os.PathLike, show_viewer: bool, given: dict[str, Any]) -> Any:
    """Return a scene that is made of its description, with some options in place of its own."""
    try:
        told = json.loads(text)
        if told["tumble_scene"] != description.VERSION:
            raise ValueError(f"version {told['tumble_scene']}")
        folder = Path(path).resolve().parent
        options = {name: description.decode_at(told, name, folder) for name in description.OPTIONS}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path}: not a file that Scene.export wrote, or one of another version ({error})") from error
    options |= {name: option for name, option in given.items() if option is not None}
    with description.reading(os.fspath(path)):
        scene = cls(**options, show_viewer=show_viewer)
        try:
            _fill(scene, told, folder)
        except BaseException:
            scene.close()
            raise
    if told["build"] is not None and model_digest(scene.rigid_solver.model) != told.get("model"):
        scene.close()
        raise ValueError(
            f"{path}: the scene that it describes is another one now: files of its morphs have changed, its ground "
            "is drawn at random, or it was changed by other means than add_entity"
        )
    return scene


def _fill(scene: Any, told: Mapping[str, Any], folder: Path) -> None:
    """Add all that a description tells of to a scene, and build it; errors are those of `description.reading`."""
    steps: tuple[tuple[str, Callable[[Any], None]], ...] = (
        ("entities", lambda entity: description.add_entity(scene, entity, folder)),
        ("entities", lambda entity: description.attach(scene, entity)),
        ("lights", lambda light: scene._lights.append(_light(light))),
        ("cameras", lambda camera: scene.add_camera(**camera)),
        ("sensors", lambda sensor: scene.add_sensor(description.decode(sensor, folder))),
    )
    for name, add in steps:
        with description.reading(name):
            for number, part in enumerate(told[name]):
                with description.reading(number):
                    add(part)
    with description.reading("build"):
        if told["build"] is not None:
            scene.build(**told["build"])


def _light(told: Mapping[str, Any]) -> Light:
    """Return a light by its description, with the length of its direction to the bit."""
    numbers: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    light = Light(**numbers)
    Light.of(**told, intensity=1.0)  # for its checks
    return light
