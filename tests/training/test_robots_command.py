"""`tumble robots`: the list, the picture of a robot, and the check of all, on small models of our own."""

import imageio.v3 as iio
import numpy as np
import pytest

from tumble.assets import robot_table
from tumble.assets.packages import SOURCES, AssetSource
from tumble.assets.robots import get, robots
from tumble.training.results import robot_trials

from ..cases import cases
from .test_cli import invoke, mistake

LEG = """<mujoco><option timestep="0.01"/><worldbody><body name="leg" pos="0 0 1"><freejoint/>
<geom type="capsule" size=".05 .3" rgba="1 .2 .1 1"/><body pos="0 0 -.4"><joint name="knee" axis="0 1 0"/>
<geom type="capsule" size=".04" fromto="0 0 0 0 0 -.3"/></body></body></worldbody>
<actuator><position joint="knee" kp="50" kv="2"/></actuator>
<keyframe><key name="bent" qpos="0 0 1 1 0 0 0 .5" ctrl=".5"/></keyframe></mujoco>"""
LIMP = LEG.partition("<actuator>")[0] + "</mujoco>"
BROKEN = LEG.partition("<actuator>")[0] + '<sensor><jointpos joint="ankle"/></sensor></mujoco>'
FLYING = LEG.replace('qpos="0 0 1 1', 'qvel="0 0 9e9 0 0 0 0" qpos="0 0 9e9 1')


@pytest.fixture
def menagerie(monkeypatch, tmp_path):
    """A folder with the files of two robots, laid out as Menagerie's; the one has no scene."""
    for name, file, text in (("unitree_z1", "z1", LEG), ("unitree_h1", "h1", LIMP)):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{file}.xml").write_text(text)
    scene = '<mujoco><include file="z1.xml"/><worldbody><geom type="plane" size="2 2 1"/></worldbody></mujoco>'
    (tmp_path / "unitree_z1" / "scene.xml").write_text(scene)
    for name in ("TUMBLE_ASSETS", "MENAGERIE_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no cache"))
    monkeypatch.setenv("MENAGERIE_ROOT", str(tmp_path))
    monkeypatch.setitem(SOURCES, "menagerie", AssetSource((), ""))
    return tmp_path


def test_the_list_has_every_robot_and_says_which_are_here(menagerie):
    lines = invoke("robots").splitlines()
    assert lines[-1].startswith(f"{len(robots())} robots, of which ")
    rows = {line.split()[0]: line.split() for line in lines[1:-1]}
    assert rows.keys() == {robot.name for robot in robots()}
    assert rows["menagerie:unitree_z1"][-5:] == ["arm", "7", "1", "BSD-3-Clause", "here"]
    assert rows["menagerie:unitree_g1"][-2:] == ["humanoid", "BSD-3-Clause"]
    assert rows["tumble:ant"][-4:] == ["14", "8", "Apache-2.0", "here"]


def test_a_source_and_what_is_here(menagerie):
    (menagerie / "unitree_h1" / "h1.xml").write_text("<mujoco>")
    lines = invoke("robots", "menagerie", "--here").splitlines()
    assert [line.split()[0] for line in lines[1:-1]] == ["menagerie:unitree_h1", "menagerie:unitree_z1"]
    assert lines[1].rstrip().endswith("MuJoCo cannot read them") and lines[-1].startswith("2 robots")


def test_a_robot_is_drawn_with_its_sizes(menagerie, tmp_path):
    printed = invoke("robots", "menagerie:unitree_z1", "--out", tmp_path / "leg.png", "--width", 64, "--height", 48)
    assert str(menagerie / "unitree_z1" / "z1.xml") in printed and "keyframes: bent" in printed
    assert "dofs 7, coordinates 8, actuators 1, bodies 2," in printed
    picture = iio.imread(tmp_path / "leg.png").astype(int)
    assert picture.shape == (48, 64, 3)
    red = (picture[..., 0] > 1.5 * picture[..., 2]) & (picture[..., 0] > 60)
    rows, columns = np.nonzero(red)
    assert 20 < len(rows) < 600 and abs(columns.mean() - 31.5) < 10


def test_the_check_tries_all_that_are_here_and_names_what_fails(menagerie, tmp_path):
    (menagerie / "unitree_a1").mkdir()
    (menagerie / "unitree_a1" / "a1.xml").write_text(BROKEN)
    printed = invoke("robots", "menagerie", "--check", "--out", tmp_path / "pictures", code=1)
    a1, h1, z1 = printed.splitlines()[1:4]
    assert a1.startswith("menagerie:unitree_a1") and "ankle" in a1
    assert h1.split()[1:3] == ["7", "0"] and z1.split()[1:3] == ["7", "1"]
    assert h1.endswith("well") and z1.endswith("well")
    assert len(h1.split()) == 6 and len(z1.split()) == 7  # the one has no keyframe
    assert float(z1.split()[5]) < 0.6, "a servo holds the knee, though the leg topples"
    assert printed.splitlines()[-1] == "2 of 3 robots were loaded, dropped, held and drawn"
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {
        *("menagerie-unitree_h1.png", "menagerie-unitree_z1.png")
    }
    assert "2 of 2" in invoke("robots", "menagerie:unitree_h1", "menagerie:unitree_z1", "--check")


def test_a_state_that_stops_being_finite_is_a_failure(menagerie):
    (menagerie / "unitree_z1" / "z1.xml").write_text(FLYING)
    trial = robot_trials.try_robot(get("menagerie:unitree_z1"))
    assert trial.failure == "held by its keyframe: its state stopped being finite" and trial.fell is not None


def test_without_a_floor_a_robot_stands_on_one_of_ours(menagerie):
    mj = robot_trials.stage(get("menagerie:unitree_h1")).mj
    assert mj.geom_pos[0, 2] == pytest.approx(0.26) and mj.geom_type[0] == 0
    low, high = robot_trials.bounds(mj)
    assert low == pytest.approx([-0.05, -0.05, 0.26]) and high == pytest.approx([0.05, 0.05, 1.35])


@cases(
    "arguments, words",
    [
        (("robots", "menagerie:unitre_g1"), "nearest: menagerie:unitree_g1"),
        (("robots", "menageri"), "no robot is named 'menageri'"),
        (("robots", "menagerie:unitree_g1"), "mujoco-menagerie prefetch unitree_g1"),
        (("robots", "myo_sim", "--check"), "none of these robots is here"),
        (("render", "menagerie:unitree_g"), "nearest: menagerie:unitree_g1"),
        (("view", "menagerie:unitree_g1"), "mujoco-menagerie prefetch unitree_g1"),
        (("robots", "--out", "robots.png"), "--out is for the picture of one robot"),
        (("robots", "tumble:ant", "--out", "ant.jpg"), "ant.jpg"),
    ],
)
def test_mistakes_are_told_in_a_sentence(monkeypatch, capsys, menagerie, arguments, words):
    monkeypatch.setitem(SOURCES, "myo_sim", AssetSource((), "pip install"))
    assert words in mistake(monkeypatch, capsys, *arguments)


def test_render_takes_a_robot(menagerie, tmp_path):
    size = ("--width", 64, "--height", 48)
    invoke("render", "menagerie:unitree_z1/scene", "--out", tmp_path / "leg.png", *size)
    assert iio.imread(tmp_path / "leg.png").shape == (48, 64, 3)


def test_names_on_the_command_line_are_the_tables():
    assert {robot.source for robot in robots()} == {*robot_table.ROBOTS, "menagerie"}
