"""An arm that muscles move: through a thousand steps it stays as near to MuJoCo's as MuJoCo's own twins do."""

import mujoco
import pytest

import tumble

from .parity import rollout as rollouts
from .parity.rollout import WITHIN, rollout
from .parity.subjects import Tumble

MUSCLES = (
    ("deltoid", 120, "0.07 0.23"),
    ("latissimus", 120, "0.07 0.23"),
    ("biceps", 60, "0.19 0.31"),
    ("triceps", 60, "0.26 0.32"),
)
"""Tendons, the peak force of the muscle of each (N), and between which lengths it moves (m)."""
ARM = f"""<mujoco><option timestep="0.002" integrator="{{}}"/>
<default><geom contype="0" conaffinity="0" density="1000"/>
  <joint axis="0 1 0" damping="0.02" armature="0.002"/></default>
<worldbody>
  <site name="chest" pos=".06 0 .05"/><site name="back" pos="-.06 0 .05"/>
  <geom name="ball" type="sphere" size=".025"/>
  <body euler="0 90 0"><joint name="shoulder" range="-80 80"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/>
    <site name="front" pos=".12 0 .035"/><site name="rear" pos=".12 0 -.035"/>
    <site name="over" pos=".05 0 .035"/><site name="under" pos=".05 0 -.035"/>
    <body pos=".3 0 0"><joint name="elbow" range="-130 5"/><geom type="capsule" size=".025" fromto="0 0 0 .25 0 0"/>
      <geom name="pulley" type="cylinder" size=".022 .03" euler="90 0 0"/>
      <site name="radius" pos=".05 0 .03"/><site name="ulna" pos=".03 0 -.03"/><site name="beside" pos="0 0 -.03"/>
    </body></body>
</worldbody>
<tendon>
  <spatial name="deltoid"><site site="chest"/><geom geom="ball"/><site site="front"/></spatial>
  <spatial name="latissimus"><site site="back"/><geom geom="ball"/><site site="rear"/></spatial>
  <spatial name="biceps"><site site="over"/><site site="radius"/></spatial>
  <spatial name="triceps"><site site="under"/><geom geom="pulley" sidesite="beside"/><site site="ulna"/></spatial>
</tendon>
<actuator>{"".join(f'<muscle tendon="{t}" force="{f}" lengthrange="{r}"/>' for t, f, r in MUSCLES)}</actuator>
</mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_an_arm_follows_mujocos_for_a_thousand_steps(integrator, monkeypatch):
    tumble.init(precision="64")
    monkeypatch.setattr(rollouts, "STEPS", 1000)
    found = rollout(mujoco.MjModel.from_xml_string(ARM.format(integrator)), Tumble, "64")
    print(found)
    assert len(found.error) == 20 and found.ratio < WITHIN, found
    tumble.init(precision="32")
