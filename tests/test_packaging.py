"""The package as it is installed: with its types, without the repository's tools, and on a path that tools follow."""

import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import imageio_ffmpeg
import pytest
import typer
from typer.testing import CliRunner

import tumble
from tumble.physics.machine.libraries import pip_install
from tumble.training import task_errors
from tumble.training.cli import app
from tumble.training.errors import TumbleUserError

pytest.importorskip("setuptools", minversion="77", reason="the build's requirement")
ROOT = Path(__file__).resolve().parent.parent
FILES = ("__init__.py", "__main__.py", "robots.py", "wrappers.py", "py.typed")


def setup(folder: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, "setup.py", "-q", *arguments], cwd=folder, check=True, capture_output=True)


def test_the_wheel_has_the_package_and_no_tools(tmp_path):
    setup(ROOT, "build_py", "--build-lib", str(tmp_path))
    package = tmp_path / "tumble"
    assert {path.name for path in tmp_path.iterdir()} == {"tumble"}
    assert {path.name for path in package.iterdir() if path.is_file()} == set(FILES)
    rooms = {path.name for path in package.iterdir() if path.is_dir()}
    assert rooms == {"assets", "envs", "physics", "scene", "soft", "terrain", "training", "viewer"}
    for kind, folder in (
        ("py", "physics"),
        ("pyi", "scene"),
        ("xml", "assets"),
        ("toml", "training/configs"),
        ("js", "viewer/page"),
    ):
        built = {path.relative_to(package) for path in (package / folder).rglob(f"*.{kind}")}
        assert built == {path.relative_to(ROOT) for path in (ROOT / folder).rglob(f"*.{kind}")} != set()


def test_versions_are_the_same_everywhere():
    """Of Tumble, and of Python: what is allowed, declared, set up and tested by the workflow."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert project["version"] == tumble.__version__ == re.search(r"^version: (.*)$", citation, re.MULTILINE)[1]
    declared = [line.rpartition(" ")[2] for line in project["classifiers"] if ":: Python ::" in line]
    assert project["requires-python"] == f">={declared[0]},<3.{int(declared[-1].split('.')[1]) + 1}"
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    assert re.findall(r'"(3\.\d+)"', re.search(r"matrix: \{(.*)\}", workflow)[1]) == declared
    bounds = re.search(r"OLDEST, NEWEST = \((.*)\), \((.*)\) ", (ROOT / "bootstrap.py").read_text("utf-8"))
    assert [bound.replace(", ", ".") for bound in bounds.groups()] == [declared[0], declared[-1]]


def test_the_oldest_versions_can_be_read_from_the_project():
    """Of every list, with the higher of two bounds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    command = [sys.executable, ".ci/lowest.py", *project["optional-dependencies"]]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    lowest = dict(line.split("==") for line in lines)
    assert lowest.keys() >= {re.split(r"[\[<>=]", name)[0] for name in project["dependencies"]}
    assert lowest["gymnasium"] == "1.4", "the tests'; users need 1.2"


def test_the_originals_of_the_suites_are_pinned_and_installed_for_tests_everywhere():
    """Without their dependencies, as some pin a MuJoCo of their own."""
    text = (ROOT / "bootstrap.py").read_text("utf-8")
    originals = re.findall(r'"([\w-]+)"', re.search(r"ORIGINALS = \((.*)\)", text)[1])
    pinned = {line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()}
    assert {"dm_control", "gymnasium-robotics", "metaworld", "myo-sim"} <= {*originals} <= pinned
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    lines = re.findall(r"--no-deps (.*)", workflow)
    assert len(lines) == 2 and all(line.split() == originals for line in lines)


def test_without_the_folder_of_benchmarks_their_command_says_where_it_is(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("tumble.benchmarks")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(tumble, "__path__", [])
    outcome = CliRunner().invoke(app, ["bench", "envs"])
    assert isinstance(outcome.exception, TumbleUserError) and "repository only" in str(outcome.exception)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the list of files is that of the repository")
def test_a_source_distribution_is_the_repository(tmp_path):
    """With tests, pages and pinned versions; the wheel that it builds has what the repository's has."""
    setup(ROOT, "egg_info", "--egg-base", str(tmp_path), "sdist", "--dist-dir", str(tmp_path))
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(tmp_path / "unpacked", filter="data")
    (source,) = (tmp_path / "unpacked").iterdir()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    assert [name for name in listed.stdout.split("\0") if name and not (source / name).exists()] == []
    packages = []
    for folder, build in ((ROOT, tmp_path / "of the repository"), (source, tmp_path / "of the archive")):
        setup(folder, "build_py", "--build-lib", str(build))
        packages.append({path.relative_to(build) for path in build.rglob("*")})
    assert packages[0] == packages[1]


def test_an_editable_install_is_a_path_that_needs_no_code(tmp_path):
    """Type checkers and editors follow paths in .pth files, and run no import hooks."""
    clone = tmp_path / "any name"
    clone.mkdir()
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE", *FILES):
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


def test_hints_name_extras_in_one_form_that_suits_wheels_and_clones():
    """Pip finds an editable install satisfied, and brings what the extra adds; "-e ." needs the clone."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    sources = {path: path.read_text("utf-8") for room in task_errors.ROOMS for path in (ROOT / room).rglob("*.py")}
    named = {extra for text in sources.values() for extra in re.findall(r"pip_install\([\"'](\w+)[\"']\)", text)}
    assert {"export", "viewer", "wandb"} <= named <= extras.keys()
    form = re.compile(r"""pip install (.* )?(-e\b|["']*(\.|tumble)\[)""")
    other = [path for path, text in sources.items() if form.search(text)]
    assert [path.relative_to(ROOT).as_posix() for path in other] == ["physics/machine/libraries.py"]
    command = [sys.executable, *shlex.split(f"-m {pip_install('viewer')} --no-index --no-deps --dry-run")]
    assert "already satisfied: tumble[viewer]" in subprocess.run(command, capture_output=True, text=True).stdout


@pytest.mark.parametrize("command", [["--version"], ["list"]])
def test_the_package_runs_as_the_command_does(command):
    """What it prints is the command's; `-m` finds it wherever the package is found."""
    ran = subprocess.run([sys.executable, "-P", "-m", "tumble", *command], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, CliRunner().invoke(app, command).output)


def test_no_file_of_the_package_or_of_what_is_installed_is_a_users(tmp_path):
    """An error in the user's own code is told with its place there; one of Tumble's own keeps its traceback."""
    root = Path(tumble.__file__).parent
    paths = [Path(module.__file__) for module in (pytest, tomllib, typer)]
    paths += [root / name for name in FILES if name.endswith(".py")]
    paths += [path for room in root.glob("*/__init__.py") for path in room.parent.rglob("*.py")]
    users = {path for path in paths if task_errors.is_users(str(path))}
    assert {path.relative_to(root).parts[0] for path in users} <= {"tests"} and len(paths) > 200
    assert task_errors.is_users(str(tmp_path / "task.py"))


def test_the_readme_names_the_licence_of_the_program_that_encodes_films(monkeypatch):
    monkeypatch.delenv("IMAGEIO_FFMPEG_EXE", raising=False)
    licence = subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), "-L"], check=True, capture_output=True, text=True).stdout
    terms = re.search(r"GNU (Lesser )?General Public License.*?version (\d)", licence, re.DOTALL)
    assert terms, licence
    said = (ROOT / "README.md").read_text("utf-8").rpartition("Licence:")[2]
    assert f"{'LGPL' if terms[1] else 'GPL'}-{terms[2]}" in said
