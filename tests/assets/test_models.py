"""Our model files describe the same physics as the ones of Gymnasium's v5 tasks, field by field."""

import inspect
import re
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium.envs.mujoco.mujoco_env import expand_model_path

from tumble import assets

from ..cases import cases

OURS = {
    "InvertedPendulum": "inverted_pendulum.xml",
    "InvertedDoublePendulum": "inverted_double_pendulum.xml",
    "HalfCheetah": "half_cheetah.xml",
    "Hopper": "hopper.xml",
    "Walker2d": "walker2d.xml",
    "Ant": "ant.xml",
    "Humanoid": "humanoid.xml",
    "HumanoidStandup": "humanoid_standup.xml",
    "Swimmer": "swimmer.xml",
    "Reacher": "reacher.xml",
    "Pusher": "pusher.xml",
}

# The first words of files whose figures have tests of their own: here, and in tests/envs, beside those of their tasks.
OWN = {"arm", "biped", "drone", "hand", "maze", "quadruped", "suite"}

# Gymnasium's files that have no camera called "track".
UNTRACKED = ("InvertedPendulum", "InvertedDoublePendulum", "Reacher", "Pusher")

# What cannot move anything: looks, lights, cameras, names, keyframes, custom numbers and memory bookkeeping.
# The camera that we keep has a test of its own below.
UNMOVING = ("mat_", "tex_", "light_", "geom_rgba", "geom_matid", "cam_", "name_", "names_map", "key_", "numeric_")
UNMOVING += ("geom_user", "signature")
UNMOVING_SIZES = ("nnames", "nnames_map", "ntex", "ntexdata", "nmat", "nlight", "ncam", "nkey", "nnumeric")
UNMOVING_SIZES += ("nnumericdata", "nuser_geom", "narena", "nbuffer")

# Gymnasium's files carry decimals like 0.19999999999999996 and let the compiler scale the cheetah to 14 kg; ours say
# 0.2 and give a density: equal up to a few roundings of 1.1e-16 each.
ROUNDING = dict(rtol=1e-12, atol=1e-14)


@pytest.fixture(autouse=True)
def clean_folder(tmp_path, monkeypatch):
    """Run elsewhere: MuJoCo writes a log for a deprecated attribute in Gymnasium's cheetah."""
    monkeypatch.chdir(tmp_path)


def compile_theirs(name: str) -> mujoco.MjModel:
    """Compile the file that Gymnasium's v5 class of this name uses."""
    creator = gymnasium.envs.registration.load_env_creator(gymnasium.spec(f"{name}-v5").entry_point)
    file = inspect.signature(creator.__init__).parameters["xml_file"].default
    return mujoco.MjModel.from_xml_path(expand_model_path(file))


def members(struct) -> dict[str, np.ndarray]:
    """Return the numeric members of a MuJoCo struct."""
    found = {}
    for name in dir(struct):
        value = None if name.startswith("_") else getattr(struct, name)
        if isinstance(value, (int, float, np.ndarray, np.number)) and not isinstance(value, bool):
            found[name] = np.asarray(value)
    return found


@cases("name", OURS)
def test_compiled_models_are_equal(name):
    """Every size, option and array that influences motion equals Gymnasium's."""
    ours, theirs = mujoco.MjModel.from_xml_path(str(assets.find(OURS[name]))), compile_theirs(name)
    compared = 0
    for field, value in members(theirs).items():
        if field in UNMOVING_SIZES or field.startswith(UNMOVING):
            continue
        np.testing.assert_allclose(getattr(ours, field), value, err_msg=f"{name}: MjModel.{field}", **ROUNDING)
        compared += 1
    assert compared > 200
    for part in ("opt", "stat"):
        for field, value in members(getattr(theirs, part)).items():
            mine = getattr(getattr(ours, part), field)
            np.testing.assert_allclose(mine, value, err_msg=f"{name}: MjModel.{part}.{field}", **ROUNDING)


@cases("name", OURS)
def test_tracking_camera_is_gymnasiums(name):
    """The camera called "track" stands where Gymnasium's stands; files without one there have none here."""
    ours, theirs = mujoco.MjModel.from_xml_path(str(assets.find(OURS[name]))), compile_theirs(name)
    mine, other = (mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, "track") for model in (ours, theirs))
    assert (mine >= 0) == (other >= 0) == (name not in UNTRACKED)
    if other < 0:
        return
    for field in ("mode", "bodyid", "pos", "quat", "fovy"):
        value = getattr(theirs, f"cam_{field}")[other]
        np.testing.assert_allclose(getattr(ours, f"cam_{field}")[mine], value, err_msg=f"{name}: camera.{field}")


def test_every_packaged_file_is_compared():
    """A new model file needs a row in the table above."""
    assert {name for name in assets.names() if re.split(r"[_.]", name)[0] not in OWN} == {*OURS.values()}


def test_compiling_gives_no_warning(tmp_path, capfd):
    """No deprecated attribute: a user's terminal and folder stay clean."""
    for file in OURS.values():
        mujoco.MjModel.from_xml_path(str(assets.find(file)))
    assert capfd.readouterr().err == ""
    assert not list(tmp_path.iterdir())


def test_find_takes_names_and_paths(tmp_path):
    """A bare name means a packaged file; anything that looks like a path is one."""
    assert assets.find("ant.xml").is_file()
    own = tmp_path / "mine.xml"
    own.write_text("<mujoco/>")
    assert assets.find(own) == own
    assert assets.find(str(own)) == own


@pytest.mark.parametrize("missing", ["aunt.xml", "./nowhere/ant.xml", str(Path("/nowhere/ant.xml"))])
def test_find_names_what_exists(missing):
    """A wrong name is answered with the list of right ones."""
    with pytest.raises(FileNotFoundError, match=r"no model file .*Packaged models: ant\.xml, .*half_cheetah\.xml"):
        assets.find(missing)
