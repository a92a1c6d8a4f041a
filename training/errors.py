"""The base of every mistake that a message can explain; the command line prints it without a traceback."""


class TumbleUserError(Exception):
    """Something the user can put right; the message says how."""
