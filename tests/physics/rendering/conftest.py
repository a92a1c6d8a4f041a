"""MuJoCo in the place of the solver: the renderer is tested by itself, on poses that are right by definition."""

from pathlib import Path
from types import SimpleNamespace

import gymnasium
import mujoco
import numpy as np
import pytest
import torch

GYMNASIUM_ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"

PRIMITIVES = """
<mujoco>
  <asset>
    <texture name="checker" type="2d" builtin="checker" rgb1="0.2 0.3 0.4" rgb2="0.8 0.8 0.7" width="64" height="64"/>
    <material name="floor" texture="checker" texrepeat="2 2" texuniform="true" reflectance="0.3"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" material="floor"/>
    <geom name="wall" type="plane" size="0.6 0.4 1" pos="0.2 1.3 0.4" euler="90 0 0"/>
    <body pos="0 0 0.4"><freejoint/><geom name="sphere" type="sphere" size="0.2"/></body>
    <body pos="0.6 0 0.4"><freejoint/><geom name="capsule" type="capsule" size="0.1 0.2"/></body>
    <body pos="-0.6 0 0.5"><freejoint/><geom name="cylinder" type="cylinder" size="0.15 0.2"/></body>
    <body pos="0 0.7 0.5"><freejoint/><geom name="ellipsoid" type="ellipsoid" size="0.25 0.15 0.1"/></body>
    <body pos="0.5 0.8 0.4"><freejoint/><geom name="box" type="box" size="0.1 0.2 0.15"/></body>
    <body pos="-0.5 -0.6 0.4"><freejoint/><geom name="clear" type="box" size="0.15 0.1 0.15" rgba="1 1 1 0.4"/></body>
    <geom name="hidden group" type="sphere" size="0.15" pos="0.3 0.3 0.6" group="3"/>
    <geom name="fully clear" type="sphere" size="0.15" pos="0.3 0.3 0.6" rgba="1 1 1 0"/>
    <geom name="shown group" type="sphere" size="0.1" pos="-0.3 0.4 0.3" group="2"/>
  </worldbody>
</mujoco>
"""


class MujocoPoses:
    """What the renderer reads of a solver, taken from one MjData an environment."""

    device = torch.device("cpu")

    def __init__(self, mj: mujoco.MjModel, num_envs: int, dtype: torch.dtype = torch.float32):
        self.model, self.num_envs, self.dtype = SimpleNamespace(mj=mj), num_envs, dtype
        self.data = [mujoco.MjData(mj) for _ in range(num_envs)]
        self.forward()

    def forward(self) -> None:
        """Recompute everything that follows from the coordinates."""
        for data in self.data:
            mujoco.mj_forward(self.model.mj, data)

    def scatter(self, seed: int, amount: float = 0.3) -> "MujocoPoses":
        """Random coordinates around the reference, another set in every environment."""
        rng = np.random.default_rng(seed)
        mj = self.model.mj
        for data in self.data:
            mujoco.mj_resetData(mj, data)
            mujoco.mj_integratePos(mj, data.qpos, rng.normal(0.0, amount, mj.nv), 1.0)
        self.forward()
        return self

    def get(self, name: str, envs_idx=None) -> torch.Tensor:
        """A field of MjData, (n, ...)."""
        found = torch.as_tensor(np.stack([getattr(data, name) for data in self.data])).to(self.dtype)
        return found if envs_idx is None else found[envs_idx.index]

    def get_many(self, names, envs_idx=None) -> dict[str, torch.Tensor]:
        """Several fields."""
        return {name: self.get(name, envs_idx) for name in names}


def load(name: str) -> mujoco.MjModel:
    """Compile "primitives" or one of the files in Gymnasium's package."""
    if name == "primitives":
        return mujoco.MjModel.from_xml_string(PRIMITIVES)
    return mujoco.MjModel.from_xml_path(str(GYMNASIUM_ASSETS / f"{name}.xml"))


@pytest.fixture
def poses():
    """A function of a model's name, or a compiled model, and a number of environments, that makes their poses."""

    def make(model: str | mujoco.MjModel, num_envs: int = 1, dtype: torch.dtype = torch.float32) -> MujocoPoses:
        return MujocoPoses(load(model) if isinstance(model, str) else model, num_envs, dtype)

    return make
