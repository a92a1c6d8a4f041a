"""Capsules and spheres that share an end, as limbs at a joint do: the difference of their centres is rounding."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from .starts import run_with
from .test_convex_pairs import gap_along

ELBOWS = """<mujoco><option gravity="0 0 0"><flag filterparent="disable"/></option><worldbody>
<body pos=".5 -.3 .2"><joint type="ball"/>
  <geom name="upper" type="capsule" size=".04" fromto="0 0 0 .2 .2 .15" contype="1" conaffinity="0"/>
  <body pos=".2 .2 .15"><joint type="ball"/>
    <geom name="lower" type="capsule" size=".03" fromto="0 0 0 -.25 -.2 -.15" contype="0" conaffinity="1"/></body>
</body>
<geom name="bone" type="capsule" size=".04" fromto="1.5 -.3 .2 1.7 -.1 .35" contype="2" conaffinity="0"/>
<body pos="1.7 -.1 .35"><joint type="ball"/>
  <geom name="head" type="sphere" size=".05" mass="1" contype="0" conaffinity="2"/></body>
</worldbody></mujoco>"""
COUNT = 200
PROVEN = {"64": 1e-11, "32": 1e-5}
"""m: how far a normal may be from proving the depth; the radii are 30 to 50 mm."""


@pytest.mark.parametrize("precision", ["64", "32"])
def test_normals_at_a_shared_end_prove_the_depth(precision):
    """No other direction separates the shapes by less; one of rounding asks for a push along a limb, of decimetres."""
    run_with(precision)
    mjm = mujoco.MjModel.from_xml_string(ELBOWS)
    qpos = np.random.default_rng(0).standard_normal((COUNT, 3, 4))
    qpos[::2, 1] = [1, 0, 0, 0] + 0.1 * qpos[::2, 1]  # almost folded together
    qpos = (qpos / np.linalg.norm(qpos, axis=2, keepdims=True)).reshape(COUNT, 12)
    solver = RigidSolver(Model.from_mjmodel(mjm), COUNT)
    solver.set_state(qpos=torch.as_tensor(qpos, dtype=solver.dtype))
    solver.forward()
    found, data, wrong = solver.contacts, mujoco.MjData(mjm), []
    for env in range(COUNT):
        data.qpos[:] = solver.qpos[env].double().numpy()
        mujoco.mj_forward(mjm, data)
        assert data.ncon == int((found.mask[env] > 0).sum()) == 2
        for k in range(2):
            pair, frame = found.geom[env, k].numpy().astype(int), found.frame[env, k].double().numpy()
            dist = float(found.dist[env, k])
            theirs = next(c for c in data.contact if set(c.geom) == set(pair))
            assert abs(dist - theirs.dist) < PROVEN[precision]
            wrong.append(abs(gap_along(mjm, data, pair, frame[0]) - dist))
    assert max(wrong) < PROVEN[precision]
