"""The base of every mistake that a message can explain; the command line prints it without a traceback."""

import errno

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)


class TumbleUserError(Exception):
    """Something the user can put right; the message says how."""


def explain(error: OSError) -> str:
    """Return the operating system's error, the file, and what to do if that is known."""
    what = f"{error.filename}: " if error.filename is not None else ""
    what += error.strerror or str(error) or type(error).__name__
    if error.errno in FULL:
        return f"{what}; make room on the disk"
    return f"{what}; this needs the right to write there" if error.errno in DENIED else what
