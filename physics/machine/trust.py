"""Files whose contents this process executes must be its user's own, and writable by no other user."""

import os
import stat


def other_owner(status: os.stat_result) -> str:
    """Return the owner of a file, if that is not the effective user; "" also where systems have no such users."""
    if not hasattr(os, "geteuid") or status.st_uid == os.geteuid():
        return ""
    return f"another user (number {status.st_uid})"


def others_may_write(status: os.stat_result) -> bool:
    """True if the group or all may write to a file, as far as modes mean anything on this system."""
    return hasattr(os, "geteuid") and bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
