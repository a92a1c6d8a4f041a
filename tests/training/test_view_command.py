"""The command `tumble view` names the nearest file, run and task, and opens each kind."""

import socket

import numpy as np
import pytest
from typer.testing import CliRunner

from tumble.training.cli import app
from tumble.viewer import live

pytest.importorskip("viser")
BALL = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
SWING = """
<robot name="swing"><link name="base"/>
  <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><box size=".1 .1 .5"/></geometry></visual></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
</robot>
"""


def refused(*words):
    """Return the command's refusal without line breaks."""
    result = CliRunner().invoke(app, ["view", *map(str, words)])
    assert result.exit_code != 0
    return " ".join((result.output + str(result.exception or "")).split())


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ball.xml").write_text(BALL)
    run = tmp_path / "runs" / "Ant-v0-ppo-1"
    run.mkdir(parents=True)
    (run / "config.toml").write_text("")
    return tmp_path


def test_unknown_files_runs_and_tasks_name_the_nearest(folder):
    assert f"no such model file; nearest: {folder / 'ball.xml'}" in refused(folder / "bal.xml")
    assert f"did you mean {folder / 'runs' / 'Ant-v0-ppo-1'}?" in refused(folder / "runs" / "Ant-v0-pp-1")
    assert "Hopper" in refused("Hoper")


def test_options_are_for_tasks_and_a_port_that_is_taken_is_named(folder):
    assert "is a model" in refused(folder / "ball.xml", "--option", "a=1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port} cannot be had at 127.0.0.1" in refused(folder / "ball.xml", "--port", port)


@pytest.mark.parametrize("name", ["ball.xml", "swing.URDF"])
def test_files_of_mjcf_and_urdf_are_shown(folder, monkeypatch, name):
    (folder / "swing.URDF").write_text(SWING)
    seen = []

    def look(solver, act, **options):
        viewer = live.Viewer(solver, act, **options)
        seen.append((viewer.session.mj.nv, viewer.panel.playing, viewer._stage.shadows, np.ptp(viewer._stage.offsets)))
        viewer.close()

    monkeypatch.setattr(live, "view", look)
    words = ["view", str(folder / name), "--num-envs", "2", "--paused", "--no-shadows"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert seen[0][:3] == (6 if name == "ball.xml" else 1, False, False) and seen[0][3] > 0
