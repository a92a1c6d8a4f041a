"""Finds the files of morphs, and names one to use in place of a file that is not there."""

import os
from pathlib import Path

from ... import assets
from ...physics.model.loading.sanity import ModelLoadError

VARIABLE = "TUMBLE_ASSETS"
"""Environment variable with folders in which files of morphs are looked for, separated as in PATH."""
_LIKE = {
    "arm_robot.xml": ("panda", "franka", "kuka", "iiwa", "ur5", "universal", "xarm", "sawyer", "arm"),
    "quadruped.xml": ("go1", "go2", "a1", "anymal", "spot", "quadruped", "laikago"),
    "biped.xml": ("g1", "h1", "cassie", "biped", "atlas"),
    "humanoid.xml": ("humanoid",),
    "drone.xml": ("drone", "cf2", "crazyflie", "quadrotor", "racer"),
    "hand.xml": ("hand", "allegro", "shadow", "leap"),
    "ant.xml": ("ant",),
}
"""Our robots that are like others, by parts of their files' names."""


def find(file: str, is_robot: bool = False) -> Path:
    """Return the path of a file: as it is, in a folder of TUMBLE_ASSETS, among Tumble's own, or a robot's by its name.

    Args:
        file: the user's file name, or the name of a robot such as "menagerie:unitree_g1".
        is_robot: whether an error names Tumble's robots.

    Raises:
        ModelLoadError: the file does not exist; the message has the searched folders, and Tumble's most similar robot.
    """
    if assets.is_of_source(file) and not os.path.exists(file):
        try:
            return assets.find_model(file)
        except FileNotFoundError as error:
            raise ModelLoadError(str(error)) from error
    folders = [Path(folder) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]
    places = [Path(file), *(folder / file for folder in (*folders, assets.FOLDER))]
    existing = next((path for path in places if os.path.exists(path)), None)
    if existing is not None:
        return existing
    where = f", also not in {' or '.join(map(str, folders))}" if folders else ""
    hint = f"; folders in which scenes look for files stand in the environment variable {VARIABLE}"
    if is_robot:
        like = next((own for own, parts in _LIKE.items() if _is_like(file, parts)), None)
        robots = ", ".join(_LIKE)
        hint += f"; Tumble has {like}, which is such a robot" if like else f"; Tumble's robots are: {robots}"
    raise ModelLoadError(f"{file}: there is no such file{where}{hint}")


def _is_like(file: str, parts: tuple[str, ...]) -> bool:
    words = "".join(letter if letter.isalnum() else " " for letter in file.lower()).split()
    return any(word.startswith(part) for word in words for part in parts)
