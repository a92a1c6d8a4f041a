"""The loop, the spring and the messages of the live view, without a browser."""

import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from tumble.viewer import Viewer, ViewerError
from tumble.viewer.live import free_port
from tumble.viewer.panel import summary, tree
from tumble.viewer.perturbation import Perturbation
from tumble.viewer.session import BY_HAND, Session

pytest.importorskip("viser")


def test_the_loop_moves_the_batch_in_the_time_of_the_clock_and_stops(slider):
    viewer = Viewer(slider, play=False).start()
    try:
        assert viewer.do(lambda: float(slider.time[0])) == 0
        viewer.do(lambda: viewer.panel.play(True))
        end = time.monotonic() + 60
        while viewer.do(lambda: float(slider.time[0])) < 0.2 and time.monotonic() < end:
            time.sleep(0.02)
        viewer.do(lambda: viewer.panel.play(False))
        reached = viewer.do(lambda: float(slider.time[0]))
        assert reached >= 0.2 and viewer.do(lambda: float(slider.time[0])) == reached
        viewer.do(viewer.panel._one_step)
        viewer.do(lambda: None)
        while viewer.do(lambda: viewer.panel.steps):
            time.sleep(0.02)
        assert viewer.do(lambda: float(slider.time[0])) == pytest.approx(reached + viewer.session.dt, abs=1e-5)
        viewer.do(viewer.reset)
        assert viewer.do(lambda: float(slider.time[0])) == 0 and viewer.frames > 0
        with pytest.raises(ZeroDivisionError):
            viewer.do(lambda: 1 / 0)
    finally:
        viewer.close()
    with pytest.raises(ViewerError, match="closed"):
        viewer.do(lambda: None)
    assert free_port("127.0.0.1", int(viewer.url.rpartition(":")[2]))  # the server has ended


def test_the_spring_pulls_a_body_to_the_pointer_and_lets_go(slider):
    slider.reset()
    slider.forward()
    session = Session(slider)
    spring = Perturbation(slider, session.mj, session.dt)
    flag = session.mj.body("flag").id
    spring.grab(1, flag, np.array([0.6, 0.0, 1.2]))
    spring.pull(np.array([0.0, 0.6, 1.2]))  # a quarter turn on
    for _ in range(300):
        spring.apply()
        session.advance()
    slider.forward()
    turned = slider.qpos[:, 1].numpy()
    assert turned[1] == pytest.approx(np.pi / 2, abs=0.02) and turned[0] == 0  # the other environment is left alone
    np.testing.assert_allclose(spring.line[0], [0.0, 0.6, 1.2], atol=0.02)
    spring.release()
    assert float(slider.inputs.xfrc_applied.abs().max()) == 0


def test_sliders_of_a_session_set_the_controls_and_joints_of_their_environment(slider):
    session = Session(slider)
    assert session.controls[0] == ["push"] and session.way == BY_HAND
    session.wanted[1, 0] = 1.5
    for _ in range(60):
        session.advance()
    assert slider.ctrl[:, 0].tolist() == [0.0, 1.5]
    assert float(slider.qvel[1, 0]) == pytest.approx(1.5, abs=0.01)  # a servo of velocity
    session.set_joint(0, 0, 0.7)
    assert float(slider.qpos[0, 0]) == pytest.approx(0.7) and float(slider.get("xpos")[0, 1, 1]) == pytest.approx(0.7)
    session.to_keyframe(0, 1)
    assert slider.qpos[1].tolist() == [1.0, 0.0] and float(slider.qpos[0, 0]) == pytest.approx(0.7)


def test_ports_that_are_in_use_are_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ViewerError, match=f"port {port} cannot be had at 127.0.0.1"):
            free_port("127.0.0.1", port)


def test_without_viser_the_message_says_what_to_install(slider, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ViewerError, match=r'needs viser .*pip install "tumble\[viewer\]"'):
        Viewer(slider)


def test_a_model_without_bodies_has_nothing_to_show():
    from tumble.physics import Model, RigidSolver

    with pytest.raises(ViewerError, match="nothing to show"):
        Session(RigidSolver(Model.from_mjcf("<mujoco/>"), 1))


def test_the_model_is_told_in_words(slider):
    assert "3 bodies, 2 joints, 2 dofs, 4 geoms, 1 controls" in summary(slider.model.mj)
    assert "- **flag**: 1 kg; turn (hinge); 1 geoms" in tree(slider.model.mj)


@pytest.mark.slow
def test_ctrl_c_ends_the_command_without_a_traceback(tmp_path):
    model = tmp_path / "ball.xml"
    model.write_text("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
    command = [sys.executable, "-m", "tumble.training.cli", "view", str(model)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while "shows the simulation" not in (line := process.stdout.readline()):
        assert line, process.stderr.read()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and "Traceback" not in errors
