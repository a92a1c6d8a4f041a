"""The scenes with links: MuJoCo is stable on them, and what each is for is there in the states that are compared."""

import mujoco
import numpy as np

from tumble.benchmarks.models import SETTINGS
from tumble.benchmarks.scenes import SCENES, SETTLING
from tumble.physics import Model

from ..cases import cases

LINKED = ("hand-tendons", "biped-closed", "arm-welded")
STRETCH = 20
"""Steps of a timed stretch."""
EQUALITY, PYRAMIDAL, ELLIPTIC = (
    int(getattr(mujoco.mjtConstraint, f"mjCNSTR_{name}"))
    for name in ("EQUALITY", "CONTACT_PYRAMIDAL", "CONTACT_ELLIPTIC")
)


def settled(name: str, seed: int = 0):
    """The compiled model, and MuJoCo's data at every step of a timed stretch."""
    mj = Model.from_mjspec(SCENES[name].build(), **SETTINGS).mj
    data, rng = mujoco.MjData(mj), np.random.default_rng(seed)
    for k in range(SETTLING + STRETCH):
        data.ctrl[:] = rng.uniform(*mj.actuator_ctrlrange.T)
        mujoco.mj_step(mj, data)
        if k >= SETTLING:
            yield mj, data


def rows(data: mujoco.MjData, kind: int) -> int:
    return int(np.sum(data.efc_type == kind))


@cases("name", LINKED)
@cases("seed", range(3))
def test_mujoco_is_stable(name, seed):
    for _, data in settled(name, seed):
        assert np.abs(data.qvel).max() < 10.0
        assert not any(warning.number for warning in data.warning)


def test_a_hand_of_tendons_holds_a_bar():
    for mj, data in settled("hand-tendons"):
        assert mj.opt.impratio > 1.0
        assert rows(data, ELLIPTIC) >= 24, "at least eight contacts"
        assert np.linalg.norm(data.body("bar").xpos - data.body("palm").xpos - [0.07, 0, 0.025]) < 0.02
        on_geoms = [np.sum(data.wrap_obj.ravel()[_places(data, t)] >= 0) for t in range(mj.ntendon)]
        assert sum(points >= 4 for points in on_geoms) == 5, "every extensor runs around two pulleys or more"
        assert np.sum(mj.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON) == 10


def _places(data: mujoco.MjData, tendon: int) -> slice:
    return slice(data.ten_wrapadr[tendon], data.ten_wrapadr[tendon] + data.ten_wrapnum[tendon])


def test_a_biped_stands_on_closed_legs():
    for _, data in settled("biped-closed"):
        assert rows(data, EQUALITY) == 12, "three of each linkage"
        assert rows(data, PYRAMIDAL) >= 4
        assert data.body("trunk").xpos[2] > 0.55
        assert np.abs(data.efc_pos[data.efc_type == EQUALITY]).max() < 0.02


def test_a_welded_gripper_holds_a_box_in_the_air():
    for _, data in settled("arm-welded"):
        assert rows(data, EQUALITY) == 7, "six of the weld, one of the fingers"
        assert rows(data, PYRAMIDAL) >= 16
        assert data.body("box").xpos[2] > 0.25
        assert np.abs(data.efc_pos[data.efc_type == EQUALITY]).max() < 0.02
