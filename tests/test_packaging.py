"""The package as it is installed: with its types, without the repository's tools, and on a path that tools follow."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("setuptools", minversion="77", reason="the build's requirement")
ROOT = Path(__file__).resolve().parent.parent


def setup(folder: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, "setup.py", "-q", *arguments], cwd=folder, check=True, capture_output=True)


def test_the_wheel_has_the_package_and_no_tools(tmp_path):
    setup(ROOT, "build_py", "--build-lib", str(tmp_path))
    package = tmp_path / "tumble"
    assert {path.name for path in tmp_path.iterdir()} == {"tumble"}
    assert {path.name for path in package.iterdir() if path.is_file()} == {"__init__.py", "wrappers.py", "py.typed"}
    rooms = {path.name for path in package.iterdir() if path.is_dir()}
    assert rooms == {"assets", "benchmarks", "envs", "physics", "scene", "terrain", "training", "viewer"}
    for kind, folder in (("py", "physics"), ("xml", "assets"), ("toml", "training/configs"), ("js", "viewer/page")):
        built = {path.relative_to(package) for path in (package / folder).rglob(f"*.{kind}")}
        assert built == {path.relative_to(ROOT) for path in (ROOT / folder).rglob(f"*.{kind}")} != set()


def test_an_editable_install_is_a_path_that_needs_no_code(tmp_path):
    """Type checkers and editors follow paths in .pth files, and run no import hooks."""
    clone = tmp_path / "any name"
    clone.mkdir()
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", "__init__.py", "wrappers.py", "py.typed"):
        shutil.copy(ROOT / name, clone)
    shutil.copytree(ROOT / "assets", clone / "assets")
    for _ in range(2):  # once more over the first
        setup(clone, "editable_wheel", "--dist-dir", str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        (paths,) = (files.read(name).decode() for name in files.namelist() if name.endswith(".pth"))
        assert not [name for name in files.namelist() if name.endswith(".py")]
    assert (Path(paths.strip()) / "tumble").samefile(clone)
    (clone / "assets" / "new.py").touch()
    assert (Path(paths.strip()) / "tumble" / "assets" / "new.py").exists(), "what is new needs no installation"
