"""Surfaces of geoms are closed, look outwards, and lie where MuJoCo's shapes do."""

import mujoco
import numpy as np
import pytest
import trimesh

from tumble.viewer.drawn import drawn
from tumble.viewer.surfaces import PRIMITIVES, ROUND

SIZE = np.array([0.3, 0.5, 0.7])


def welded(surface):
    return trimesh.Trimesh(surface.vertices, surface.faces, process=True, merge_norm=True, merge_tex=True)


@pytest.mark.parametrize("kind", PRIMITIVES)
def test_surfaces_enclose_the_volume_that_mujoco_weighs(kind):
    spec = mujoco.MjSpec()
    spec.worldbody.add_body().add_geom(type=getattr(mujoco.mjtGeom, f"mjGEOM_{kind.upper()}"), size=SIZE, density=1.0)
    mass = spec.compile().body_mass[1]
    surface = PRIMITIVES[kind](SIZE)
    mesh = welded(surface)
    assert mesh.is_watertight and mesh.is_winding_consistent
    lost = 1 - np.sin(2 * np.pi / ROUND) / (
        2 * np.pi / ROUND
    )  # of a circle, by its polygon; a ball is one in three directions
    assert mesh.volume == pytest.approx(mass, rel=0 if kind == "box" else 3 * lost, abs=1e-6)
    corners = surface.vertices[surface.faces]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.einsum("fk,fik->fi", flat, surface.normals[surface.faces]) > 0).all()


def test_height_fields_are_closed_but_below_and_as_high_as_their_data():
    heights = np.random.default_rng(0).random((5, 7)).astype(np.float32)
    spec = mujoco.MjSpec()
    spec.add_hfield(name="h", size=[2, 1, 0.5, 0.1], nrow=5, ncol=7, userdata=heights.reshape(-1))
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="h")
    mj = spec.compile()
    (surface,) = drawn(mj).surfaces
    data = mujoco.MjData(mj)
    mujoco.mj_forward(mj, data)
    top = surface.vertices[:35]
    for x, y, z in top[np.abs(top[:, :2] / [2, 1]).max(axis=1) < 0.99]:
        start, geomid = np.array([x + 1e-9, y + 1e-9, 5.0]), np.zeros(1, np.int32)
        met = mujoco.mj_ray(mj, data, start, np.array([0, 0, -1.0]), None, 1, -1, geomid)
        assert 5 - met == pytest.approx(z, abs=1e-6)  # single precision
    border = trimesh.Trimesh(surface.vertices, surface.faces, process=True, merge_norm=True, merge_tex=True).outline()
    assert border.bounds[1, 2] == pytest.approx(-0.1, abs=1e-6)  # open at the base alone


def test_groups_for_contacts_are_drawn_on_request():
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body()
    for group in (0, 3):
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.1, 0, 0], group=group)
    mj = spec.compile()
    assert drawn(mj).geom.tolist() == [0]
    both = drawn(mj, collision=True)
    assert both.geom.tolist() == [0, 1] and both.collision.tolist() == [False, True]
    assert len(both.surfaces) == 1  # geoms of one size share theirs
