"""The page about inverse kinematics and paths is true: its programs run as printed, and what they print is right."""

import re
from pathlib import Path

import mujoco
import numpy as np

from .physics.starts import run_with

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "planning.md").read_text(encoding="utf-8")


def test_the_arm_reaches_the_grid_and_goes_around_the_box(capsys):
    """As MuJoCo judges it: the grip is at every point, pointing down, and the path touches nothing."""
    run_with("32")
    names: dict = {}
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[1:]), "page", "exec"), names)
    printed = capsys.readouterr().out
    assert "30 of 30 reached" in printed and "planned: 0 of 300 waypoints collide" in printed
    assert int(re.search(r"straight: (\d+) of 300", printed).group(1)) > 0
    mj = names["model"].mj
    data, site = mujoco.MjData(mj), mj.site("grip").id
    for qpos, target in zip(names["found"].qpos.double().numpy(), names["targets"].double().numpy(), strict=True):
        data.qpos[:] = qpos
        mujoco.mj_kinematics(mj, data)
        assert np.linalg.norm(data.site_xpos[site] - target) < 5.1e-4 and data.site_xmat[site][8] < -0.9999
    for qpos in names["path"].qpos[0].double().numpy():
        data.qpos[:] = qpos
        mujoco.mj_kinematics(mj, data)
        mujoco.mj_comPos(mj, data)
        mujoco.mj_collision(mj, data)
        assert data.ncon == 0
    for solver in (names["arm"], names["check"]):
        solver.close()
