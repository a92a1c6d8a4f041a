"""The crowded scenes: what the command line names is there, and each is what its name says."""

import ast
from pathlib import Path

import mujoco
import numpy as np
import pytest

from tumble.benchmarks import main
from tumble.benchmarks.scenes import SCENES

from ..cases import cases
from .test_linked_scenes import LINKED

FREE, HINGE = mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_HINGE


def test_every_scene_that_is_installed_is_a_benchmarks():
    """Tests may use them; a scene that tests alone use belongs to `tests`."""
    made, used = set(), set()
    for path in Path(main.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if path.stem.endswith("scenes"):
            made |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} - {"run"}
        used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert {"pile", "arm", "hand"} <= made and made <= used


def test_the_command_line_names_every_scene():
    assert tuple(SCENES) == main.SCENES


@cases("name", [name for name in SCENES if name not in LINKED])
def test_a_scene_has_as_many_bodies_as_its_name_says(name):
    kind, count = name.rsplit("-", 1)
    mj = SCENES[name].build().compile()
    if "rough" in name:  # one robot on a height field, which may have so many cells a side
        assert np.sum(mj.jnt_type == FREE) == 1 and np.sum(mj.geom_type == mujoco.mjtGeom.mjGEOM_HFIELD) == 1
        return
    if count in ("hulls", "boxes"):  # one robot among them
        assert np.sum(mj.geom_type == getattr(mujoco.mjtGeom, "mjGEOM_" + {"hulls": "MESH", "boxes": "BOX"}[count])) > 3
        assert np.sum(mj.jnt_type == FREE) == 1 and np.sum(mj.jnt_type == HINGE) > 5
        return
    assert np.sum(mj.jnt_type == (HINGE if kind == "chain" else FREE)) == int(count)


def test_bodies_touch_each_other_in_piles_and_nowhere_else():
    for name, touching in {"spheres-27": True, "capsules-27": True, "boxes-30": False, "chain-100": False}.items():
        mj = SCENES[name].build().compile()
        data = mujoco.MjData(mj)
        for _ in range(150):
            mujoco.mj_step(mj, data)
        bodies = mj.geom_bodyid[data.contact.geom]
        assert bool((bodies > 0).all(1).any()) == touching, name


@pytest.mark.parametrize("name", ["spheres-27", "spheres-64", "capsules-27"])
def test_a_bin_keeps_its_bodies(name):
    """Four walls and a floor, whose normals look inside; who is shaken stays between them."""
    mj = SCENES[name].build().compile()
    data = mujoco.MjData(mj)
    data.qvel[:] = np.random.default_rng(0).standard_normal(mj.nv)
    for _ in range(300):
        mujoco.mj_step(mj, data)
    planes = mj.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
    normals = data.geom_xmat[planes].reshape(-1, 3, 3)[:, :, 2]
    assert {tuple(n) for n in normals.round(6).tolist()} == {(0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)}
    assert (np.einsum("bpc,pc->bp", data.xpos[1:, None] - data.geom_xpos[planes], normals) > 0).all()
