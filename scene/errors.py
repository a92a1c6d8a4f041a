"""Errors of calls that come too early or too late in a scene's life."""


class SceneOrderError(RuntimeError):
    """A call needs a scene that is built, or one that is not built yet, or one that is not closed."""
