"""Checks of the paths of files that commands write."""

from pathlib import Path

from .errors import TumbleUserError


def require_output_path(path: Path, *allowed: str) -> None:
    """Refuse, before any work, a file name whose ending no writer here knows, and one that cannot be written."""
    if path.suffix.lower() not in allowed:
        raise TumbleUserError(f"{path}: the name must end in {' or '.join(allowed)}")
    from ..physics.rendering.film.video import require_writable

    require_writable(path)
