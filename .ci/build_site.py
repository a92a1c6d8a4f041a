"""Build the documentation's site; a warning is an error.

The repository's root folder is the package `tumble`, whatever the clone is called; a link tells mkdocstrings.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Write the site into `site`; returns mkdocs' exit code."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tumble").symlink_to(ROOT, target_is_directory=True)
        settings = os.environ | {"TUMBLE_SOURCES": folder, "NO_MKDOCS_2_WARNING": "1"}
        command = [sys.executable, "-P", "-m", "mkdocs", "build", "--strict", "--clean"]
        return subprocess.call(command, cwd=ROOT, env=settings)


if __name__ == "__main__":
    sys.exit(main())
