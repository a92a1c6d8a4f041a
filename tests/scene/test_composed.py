"""Composed scenes against MuJoCo itself, which reads what the scene has written."""

import mujoco
import numpy as np
import pytest

from tumble.physics.machine.runtime import init

from .random_scenes import random_scene, random_velocity

DIGITS = 1e-12  # m, rad; rounding of double precision over 100 steps of a few contacts
DEFAULT, SLOW = 4, tuple(seed for seed in range(40) if seed != 4)
STEPS = 50
APART = (3, 35, 36)
"""Seeds of scenes in which nothing comes to touch anything within these steps."""


def compare(seed, folder, capfd):
    init(precision="64")
    scene = random_scene(seed)
    scene.build()
    assert not capfd.readouterr().err  # MuJoCo would warn of options in which the files differ
    scene.write_mjcf(folder / "scene.xml")
    mjm = mujoco.MjModel.from_xml_path(str(folder / "scene.xml"))
    _compare_names(scene, mjm)
    mjd = mujoco.MjData(mjm)
    np.testing.assert_allclose(scene.rigid_solver.qpos[0], mjd.qpos, rtol=0, atol=1e-15)  # quaternions of unit length
    mjd.qvel = random_velocity(seed, mjm.nv)
    scene.rigid_solver.set_state(qvel=mjd.qvel[None])
    touched = 0
    for _ in range(STEPS):
        scene.step()
        mujoco.mj_step(mjm, mjd, scene.substeps)
        touched = max(touched, mjd.ncon)
        np.testing.assert_allclose(scene.rigid_solver.qpos[0], mjd.qpos, rtol=0, atol=DIGITS)
    assert (touched > 0) == (seed not in APART)
    return scene


def _compare_names(scene, mjm):
    """Every entity's parts have MuJoCo's numbers, and entities follow one another."""
    at = {"link": 1, "joint": 0, "geom": 0}
    for entity in scene.entities:
        for kind, find, parts in (("link", mjm.body, entity.links), ("joint", mjm.joint, entity.joints)):
            for part in parts:
                assert find(f"{entity.name}/{part.name}").id == at[kind]
                at[kind] += 1
        for geom in entity.geoms:
            assert mjm.geom(at["geom"]).name == (f"{entity.name}/{geom.name}" if geom.name else "")
            at["geom"] += 1
    assert at == {"link": mjm.nbody, "joint": mjm.njnt, "geom": mjm.ngeom}


def test_a_composed_scene_moves_as_in_mujoco(tmp_path, capfd):
    """Without a batch its tensors have no first dimension."""
    scene = compare(DEFAULT, tmp_path, capfd)
    entity = scene.entities[-1]
    assert entity.get_pos().shape == (3,) and entity.get_qpos().shape == (entity.n_qs,) and scene.get_time().shape == ()
    with pytest.raises(ValueError, match="without a batch"):
        entity.get_pos([0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW)
def test_more_composed_scenes_move_as_in_mujoco(seed, tmp_path, capfd):
    compare(seed, tmp_path, capfd)
