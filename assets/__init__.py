"""Model files: our own, those of other projects (`packages.py`), and robots by name (`robots.py`).

This room knows nothing of the others.
"""

from collections.abc import Sequence
from pathlib import Path

from .packages import SOURCES, is_of_source
from .robots import find_model

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Return the names of the packaged model files, sorted."""
    return sorted(file.name for file in FOLDER.glob("*.xml"))


def find(file: str | Path, beside: Sequence[Path] = ()) -> Path:
    """Return the path of a model file.

    Args:
        file: the name of a file ("ant.xml"); any path that starts with ".", "/" or "~", or is absolute; a file of
            another project ("dm_control:dog.xml"), one of `packages.SOURCES`; or a robot ("menagerie:unitree_g1").
        beside: folders in which a name is looked for, before the packaged ones.

    Raises:
        FileNotFoundError: no such file; the message has the searched folders, and lists the packaged ones, or it says
            which package to install.
    """
    text = str(file)
    if is_of_source(text):
        return find_model(text)
    elsewhere = text.startswith((".", "/", "~")) or Path(text).is_absolute()
    paths = [Path(text).expanduser()] if elsewhere else [folder / text for folder in (*beside, FOLDER)]
    found = next((path for path in paths if path.is_file()), None)
    if found is None:
        folders = dict.fromkeys(str(path.parent) for path in paths)
        where = paths[0] if elsewhere else f"{text} in {' or '.join(folders)}"
        raise FileNotFoundError(
            f"no model file {where}. Packaged models: {', '.join(names())}; for another file give a path that "
            "starts with '/', './' or '~', or put it beside the module of your task; of another project's package "
            f"'NAME:path', where NAME is {', '.join(SOURCES)}."
        )
    return found
