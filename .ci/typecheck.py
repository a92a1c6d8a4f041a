"""Run mypy over the package under its import name.

The repository's root folder is the package `tumble`, whatever the clone is called; mypy learns that from a link.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("assets", "benchmarks", "envs", "physics", "scene", "soft", "terrain", "training", "viewer")


def main() -> int:
    """Check every room that exists; returns mypy's exit code."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tumble").symlink_to(ROOT, target_is_directory=True)
        packages = [f"--package=tumble.{room}" for room in ROOMS if (ROOT / room / "__init__.py").exists()]
        options = [f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={ROOT / '.mypy_cache'}"]
        environment = os.environ | {"MYPYPATH": folder}
        return subprocess.call([sys.executable, "-P", "-m", "mypy", *options, *packages], cwd=folder, env=environment)


if __name__ == "__main__":
    sys.exit(main())
