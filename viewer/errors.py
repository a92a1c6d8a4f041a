"""The one error of the viewers; its message says what to do."""


class ViewerError(Exception):
    """Something that cannot be shown, or a viewer that cannot be started."""
