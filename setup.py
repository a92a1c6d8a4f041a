"""Settings that pyproject.toml cannot hold: the top-level folders are the rooms of one package, tumble.

An editable install, `pip install -e .`, is a path to `.editable`, where the link `tumble` leads back here. Editors and
type checkers follow that; setuptools' own way for such a layout is code, which they do not run.
"""

import os
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOMS = find_packages(include=["envs*", "physics*", "assets*", "training*", "terrain*", "scene*", "soft*", "viewer*"])
"""The rooms of a wheel; `benchmarks` is for clones."""
TOOLS = ("setup", "bootstrap")
"""Files beside `__init__.py` that are of the repository, not of the package."""


class BuildPackage(build_py):
    """Build the package without the tools."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        """Return package, name and path of the modules of a package."""
        return [found for found in super().find_package_modules(package, package_dir) if found[1] not in TOOLS]


def folders() -> dict[str, str]:
    """Return where packages lie: by a link for an editable install, if this system has links."""
    if "editable_wheel" in sys.argv:
        try:
            Path(".editable").mkdir(exist_ok=True)
            if not os.path.lexists(".editable/tumble"):
                os.symlink("..", ".editable/tumble", target_is_directory=True)
            return {"": ".editable"}
        except OSError as error:
            print(f"type checkers will not find tumble: no link can be made ({error})", file=sys.stderr)
    return {"tumble": "."}


setup(
    packages=["tumble", *(f"tumble.{room}" for room in ROOMS)],
    package_dir=folders(),
    cmdclass={"build_py": BuildPackage},
)
