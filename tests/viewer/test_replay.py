"""A replay has the solver's poses, to the precision that it says, and errors that say what to do."""

import mujoco
import numpy as np
import pytest
import torch
import trimesh

from tumble.viewer import Recorder, ViewerError, record
from tumble.viewer.drawn import drawn
from tumble.viewer.replay import read_page
from tumble.viewer.sources import quaternions
from tumble.viewer.surfaces import PRIMITIVES, ROUND

# -- A replay has the solver's poses, to the precision that it says, and errors that say what to do


SINGLE = 2.0**-23  # relative, of positions
HALF = 2.0**-11  # of numbers up to 1 in half precision


def turning(solver):
    solver.reset()
    solver.set_state(qvel=torch.tensor([[1.0, 4.0], [-1.0, -2.0]]))
    return solver


def test_a_saved_page_has_the_poses_of_the_solver(slider, tmp_path):
    recorder = Recorder(turning(slider), title="<slider>")
    seen = []
    for _ in range(6):
        recorder.add()
        seen.append([slider.get(name).double().numpy().copy() for name in ("geom_xpos", "geom_xmat")])
        slider.step(10)
    path = recorder.replay().save(tmp_path / "slider.html")
    about, arrays = read_page(path.read_text("utf-8"))
    rows = [slider.model.mj.geom(name).id for name in ("ball", "flag", "pole", "floor")]
    assert about["bodies"] == ["ball", "flag", "pole", "world"] and about["title"] == "<slider>"
    moves = arrays["moves"].astype(bool)
    assert moves.tolist() == [True, True, False, False]
    pos, mat = (np.stack([frame[k] for frame in seen])[:, :, rows] for k in (0, 1))
    np.testing.assert_allclose(arrays["pos"], pos[:, :, moves], rtol=SINGLE, atol=0)
    np.testing.assert_allclose(arrays["still_pos"], pos[0][:, ~moves], rtol=SINGLE, atol=0)
    turns = np.empty((*mat.shape[:-1], 4))
    for index in np.ndindex(turns.shape[:-1]):
        mujoco.mju_mat2Quat(turns[index], mat[index])
    turns *= np.where(turns[..., :1] < 0, -1, 1)
    np.testing.assert_allclose(arrays["quat"], turns[:, :, moves], atol=HALF + 1e-6)
    assert np.ptp(arrays["quat"], axis=0).max() > 0.1  # it did turn
    np.testing.assert_allclose(arrays["time"][:, 0], np.arange(6) * 0.1, atol=1e-6)


def test_quaternions_of_all_rotations_are_mujocos():
    draw = np.random.default_rng(0).normal(size=(200, 4))
    draw[:4] = np.eye(4)
    draw[4:8] = np.eye(4)[[1, 2, 3, 0]] + 1e-9
    quat = draw / np.linalg.norm(draw, axis=1, keepdims=True)
    turns = np.empty((len(quat), 9))
    for row, one in zip(turns, quat, strict=True):
        mujoco.mju_quat2Mat(row, one)
    found = quaternions(turns.reshape(-1, 3, 3))
    assert np.abs(np.abs((found * quat).sum(axis=1)) - 1).max() < 1e-12


def test_what_is_chosen_is_recorded_with_its_curves(slider):
    recorder = Recorder(turning(slider), envs=[1])
    recorder.add()
    recorder.add(torch.tensor([1.0, 2.0]), {"height": np.array([3.0, 4.0]), "_height": np.ones(2), "matrix": np.eye(2)})
    replay = recorder.replay()
    assert replay.envs == [1] and set(replay.curves) == {"reward", "height"}
    np.testing.assert_array_equal(replay.curves["height"], [[np.nan], [4.0]])
    page = replay._repr_html_()
    assert page.startswith("<iframe srcdoc=") and 'sandbox="allow-scripts"' in page and "<script" not in page


def test_a_solver_is_recorded_at_the_rate_that_is_asked_for(slider):
    pushed = []
    replay = record(turning(slider), seconds=0.4, fps=10, act=lambda solver: pushed.append(float(solver.time[0])))
    np.testing.assert_allclose(replay.time[:, 0], [0, 0.1, 0.2, 0.3, 0.4], atol=1e-6)
    np.testing.assert_allclose(pushed, [0, 0.1, 0.2, 0.3], atol=1e-6)


def test_mistakes_are_explained(slider, tmp_path):
    with pytest.raises(TypeError, match="str has no solver"):
        Recorder("Ant")
    with pytest.raises(IndexError, match="no environment 2; they are numbered 0 to 1"):
        Recorder(slider, envs=[2])
    with pytest.raises(ViewerError, match=r"call add\(\)"):
        Recorder(slider).replay()
    with pytest.raises(ValueError, match=r"must end in \.html"):
        record(slider, seconds=0.02).save(tmp_path / "film.mp4")
    with pytest.raises(ValueError, match="both must be positive"):
        record(slider, seconds=0)


# -- Surfaces of geoms are closed, look outwards, and lie where MuJoCo's shapes do


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
