"""The benchmark of pictures: its models, and its figures."""

import mujoco
import numpy as np
import pytest

from tumble.benchmarks.pictures_job import MESHES, Poses, _row, load


def test_a_model_of_meshes_looks_as_the_one_of_capsules():
    """The meshes stand for all geoms, in the same places and as large, with about a thousand triangles each."""
    plain, meshes = load("ant"), load(f"ant {MESHES}")
    solids = plain.geom_type != mujoco.mjtGeom.mjGEOM_PLANE
    assert (meshes.geom_type[solids] == mujoco.mjtGeom.mjGEOM_MESH).all() and meshes.nmesh == solids.sum()
    assert (meshes.mesh_facenum > 500).all() and (meshes.mesh_facenum < 2000).all()
    both = [mujoco.MjData(each) for each in (plain, meshes)]
    for model, data in zip((plain, meshes), both, strict=True):
        mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(both[1].geom_xpos[solids], both[0].geom_xpos[solids], atol=1e-3)
    boxes = [np.sort(model.geom_aabb[solids, 3:], axis=1) for model in (plain, meshes)]
    np.testing.assert_allclose(boxes[1], boxes[0], rtol=0.02)


def test_figures_are_of_the_sides_that_they_name():
    row = _row("ant", Poses(load("ant"), 2), 16, 1, 1)
    assert row["size"] == "16 x 16" and row["threads"] == 1
    assert row["depth ratio"] == pytest.approx(row["depth + geoms/s"] / row["mj_multiRay/s"])
    if row["mujoco.Renderer/s"] is not None:  # where OpenGL runs
        assert row["ratio"] == pytest.approx(row["colour + depth/s"] / row["mujoco.Renderer/s"])
    assert {"colour", "depth", "rays"} <= set(row["spread"])
