"""Our MJCF files, and where they lie. This room knows nothing of the others."""

from pathlib import Path

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """Return the names of the packaged model files, sorted."""
    return sorted(file.name for file in FOLDER.glob("*.xml"))


def find(file: str | Path) -> Path:
    """Return the path of a model file.

    Args:
        file: the name of a packaged file ("ant.xml"); or any path that starts with ".", "/" or "~", or is absolute.

    Raises:
        FileNotFoundError: no such file; the message lists the packaged ones.
    """
    text = str(file)
    elsewhere = text.startswith((".", "/", "~")) or Path(text).is_absolute()
    path = Path(text).expanduser() if elsewhere else FOLDER / text
    if not path.is_file():
        raise FileNotFoundError(
            f"no model file {path}. Packaged models: {', '.join(names())}; for a file of your own give a path that "
            "starts with '/', './' or '~'."
        )
    return path
