"""Meshes taken apart into convex pieces, their cache on disk, and hulls with fewer vertices."""

import importlib.util
import sys

import mujoco
import numpy as np
import pytest

from tumble.physics import Model, RigidSolver
from tumble.physics.files.geometry import pieces
from tumble.physics.files.geometry.decomposition import MeshOptions
from tumble.physics.files.geometry.files import MeshFileError
from tumble.physics.model.loading.loading import load_mjcf

trimesh = pytest.importorskip("trimesh")
needs_coacd = pytest.mark.skipif(importlib.util.find_spec("coacd") is None, reason="coacd is not installed")
QUICK = {"preprocess_mode": "off", "resolution": 200, "mcts_iterations": 20, "mcts_nodes": 5, "mcts_max_depth": 1}
"""Options of coacd with which an L has two pieces after half a second."""
CLOSE = 0.01
"""m by which pieces of an L of 0.3 m may leave it: `threshold` is 5 % of concavity, and half of that was seen."""


def bracket():
    """An L, 0.1 m thick, of two arms of 0.3 m; its volume is 0.005 m3."""
    outline = np.array([[0, 0], [0.3, 0], [0.3, 0.1], [0.1, 0.1], [0.1, 0.3], [0, 0.3]])
    cap = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]])
    vertices = np.concatenate([np.c_[outline, np.zeros(6)], np.c_[outline, np.full(6, 0.1)]])
    sides = [[i, (i + 1) % 6, (i + 1) % 6 + 6] for i in range(6)] + [[i, (i + 1) % 6 + 6, i + 6] for i in range(6)]
    return trimesh.Trimesh(vertices, np.concatenate([cap[:, ::-1], cap + 6, sides]), process=False)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """Nothing is found that another test has left, and the user's cache is left alone."""
    monkeypatch.delenv("TUMBLE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def model(tmp_path):
    """MJCF with an L on a plane, turned by a frame and by itself, and a ball in its notch."""
    bracket().export(str(tmp_path / "l.ply"))
    return f"""<mujoco>
      <default><geom friction="0.7 0.1 0.2" solref="0.01 1" condim="4"/></default>
      <asset><mesh name="l" file="{tmp_path}/l.ply" scale="1 1 2" inertia="exact"/></asset>
      <worldbody>
        <geom name="floor" type="plane" size="1 1 1"/>
        <body name="b" pos="0 0 1"><freejoint/>
          <frame pos="0.1 0 0" euler="10 20 30">
            <geom name="bracket" type="mesh" mesh="l" axisangle="0 0 1 20" rgba="1 0 0 1" margin="0.001" priority="2"/>
            <geom name="ghost" type="mesh" mesh="l" axisangle="0 0 1 20" contype="0" conaffinity="0"/>
          </frame>
        </body>
        <body name="ball"><freejoint/><geom name="ball" size="0.02"/></body>
      </worldbody></mujoco>"""


def touches(mjm, place):
    """Geoms of body 1 that the ball touches, when it lies at a place (3,) in the frame of mesh l's file."""
    data = mujoco.MjData(mjm)
    mujoco.mj_kinematics(mjm, data)
    ghost, mesh = mjm.geom("ghost").id, mjm.mesh("l").id
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, mjm.mesh_quat[mesh])
    local = turn.reshape(3, 3).T @ (np.asarray(place) - mjm.mesh_pos[mesh])
    data.qpos[7:10] = data.geom_xpos[ghost] + data.geom_xmat[ghost].reshape(3, 3) @ local
    mujoco.mj_forward(mjm, data)
    ball = mjm.geom("ball").id
    return {int(g) for pair in data.contact.geom[: data.ncon] if ball in pair for g in pair} - {ball, 0}


@needs_coacd
def test_pieces_touch_where_the_mesh_is_and_nowhere_else(model):
    whole, apart = Model.from_mjcf(model).mj, Model.from_mjcf(model, decompose={"l": QUICK}).mj
    pieces_of = {g for g in range(apart.ngeom) if "piece" in apart.geom(g).name}
    assert len(pieces_of) >= 2
    notch = (0.17, 0.17, 0.1)  # inside of the hull alone, 0.07 m from both arms
    assert touches(whole, notch) and not touches(apart, notch)
    for inside in ((0.05, 0.25, 0.1), (0.25, 0.05, 0.1), (0.05, 0.05, 0.02)):
        assert touches(apart, inside) and touches(apart, inside) <= pieces_of


@pytest.mark.slow  # for a kernel with all convex shapes
@needs_coacd
def test_a_ball_stays_in_the_notch_of_pieces_and_rolls_off_the_hull(tmp_path):
    bracket().export(str(tmp_path / "l.ply"))
    text = f"""<mujoco><asset><mesh name="l" file="{tmp_path}/l.ply"/></asset><worldbody>
      <geom type="plane" size="1 1 1"/>
      <body pos="0 0 0.001"><freejoint/><geom type="mesh" mesh="l" euler="90 0 0"/></body>
      <body pos="0.18 -0.05 0.145"><freejoint/><geom name="ball" size="0.04"/></body></worldbody></mujoco>"""
    for options, stays in (({}, False), ({"decompose": {"l": {**QUICK, "resolution": 500}}}, True)):
        solver = RigidSolver(Model.from_mjcf(text, **options), num_envs=2)
        solver.step(1000)
        solver.forward()
        x, _, z = solver.get("xpos")[0, 2].tolist()
        assert (abs(x - 0.18) < CLOSE and abs(z - 0.14) < CLOSE) == stays  # on the lower arm, 0.1 m high
        solver.close()


@needs_coacd
def test_mass_and_looks_stay(model):
    whole, apart = Model.from_mjcf(model).mj, Model.from_mjcf(model, decompose=["l"]).mj
    for name in ("body_mass", "body_inertia", "body_ipos", "body_iquat"):
        assert np.array_equal(getattr(whole, name), getattr(apart, name)), name
    one, other = whole.geom("bracket"), apart.geom("bracket")
    for name in ("pos", "quat", "rgba", "group", "matid", "size"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(whole.mesh_vert, apart.mesh_vert[: whole.nmeshvert])
    assert other.contype == other.conaffinity == 0
    for g in range(apart.ngeom):
        piece = apart.geom(g)
        if "piece" in piece.name:
            assert piece.group == 3  # MuJoCo's viewer and Tumble's do not draw it
            for name in ("friction", "solref", "solimp", "condim", "priority", "margin", "gap", "contype"):
                assert np.array_equal(getattr(piece, name), getattr(one, name)), name


@needs_coacd
def test_the_pieces_are_the_mesh(model):
    """Their volume is the mesh's, and its corners are in them: trimesh counts."""
    found = pieces.convex_pieces(bracket().vertices, bracket().faces, QUICK)
    hulls = [trimesh.Trimesh(*piece, process=False).convex_hull for piece in found]
    assert sum(hull.volume for hull in hulls) == pytest.approx(bracket().volume, rel=0.05)  # of concavity
    for corner in bracket().vertices:
        assert min(np.linalg.norm(hull.vertices - corner, axis=1).min() for hull in hulls) < CLOSE


@needs_coacd
def test_pairs_and_names(model):
    """Every pair that names the geom names its pieces; a geom is chosen by its own name or by its mesh's."""
    text = model.replace(
        "</worldbody>", '</worldbody><contact><pair geom1="floor" geom2="bracket" condim="6" margin="0.2"/></contact>'
    )
    loaded = load_mjcf(text, MeshOptions.of({"bracket": QUICK}, None))
    mjm = loaded.mjm
    named = {mjm.geom(g).name for g in mjm.pair_geom2}
    assert named == {mjm.geom(g).name for g in range(mjm.ngeom) if "_piece_" in mjm.geom(g).name}
    assert set(mjm.pair_dim) == {6} and set(mjm.pair_margin) == {0.2}
    assert any("bracket" in note for note in loaded.notes)
    assert Model.from_mjcf(model, decompose=True).mj.ngeom == Model.from_mjcf(model, decompose="l").mj.ngeom


@needs_coacd
def test_a_model_without_visual_geoms_keeps_its_mass(model):
    """`discardvisual` takes what nothing touches, and with it the mesh itself; its inertia stays."""
    text = model.replace("<mujoco>", '<mujoco><compiler discardvisual="true"/>')
    whole, apart = Model.from_mjcf(text).mj, Model.from_mjcf(text, decompose={"l": QUICK}).mj
    assert apart.body_mass == pytest.approx(whole.body_mass, rel=1e-9)
    assert apart.body_inertia == pytest.approx(whole.body_inertia, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decompose": ["m"]}, "no mesh of this model"),
        ({"decompose": ["ghost"]}, "no mesh of this model that touches"),
        ({"maxhullvert": {"m": 8}}, "no mesh of this model"),
        ({"maxhullvert": 3}, "whole number"),
        ({"maxhullvert": True}, "whole number"),
        pytest.param({"decompose": {"l": {"threshhold": 1}}}, "no option 'threshhold'", marks=needs_coacd),
        pytest.param({"decompose": {"l": {"threshold": [1]}}}, "a number or a word", marks=needs_coacd),
    ],
)
def test_what_there_is_not(options, message, model):
    with pytest.raises(ValueError, match=message):
        Model.from_mjcf(model, **options)


def test_without_coacd_it_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(ValueError, match=r"coacd.*pip install"):
        Model.from_mjcf(model, decompose=True)


@needs_coacd
def test_pieces_are_found_once(model, monkeypatch):
    first = Model.from_mjcf(model, decompose={"l": QUICK}).mj

    def never(*_):
        raise AssertionError("coacd ran again")

    monkeypatch.setattr(pieces, "_run", never)
    assert np.array_equal(Model.from_mjcf(model, decompose={"l": QUICK}).mj.mesh_vert, first.mesh_vert)
    with pytest.raises(AssertionError):
        Model.from_mjcf(model, decompose={"l": {**QUICK, "seed": 1}})
    with pytest.raises(AssertionError):
        Model.from_mjcf(model.replace('scale="1 1 2"', 'scale="1 1 3"'), decompose={"l": QUICK})


@pytest.mark.parametrize(
    "bad",
    [
        {"v0": np.zeros((4, 3)), "f0": np.array([[0, 1, 9]], np.int32)},
        {"v0": np.zeros((4, 3)), "f0": np.array([[0, 1, -1]], np.int32)},
        {"v0": np.full((4, 3), np.nan), "f0": np.array([[0, 1, 2]], np.int32)},
        {"v0": np.zeros(12), "f0": np.array([[0, 1, 2]], np.int32)},
        {"v0": np.zeros((4, 3)), "v1": np.zeros((4, 3))},
        {},
    ],
)
def test_pieces_that_lie_under_a_right_hash_count_as_none(monkeypatch, bad):
    """The hash is no secret: counts and indices are looked at all the same."""
    good = {"v0": np.eye(4, 3), "f0": np.array([[0, 1, 2]], np.int32)}
    monkeypatch.setattr(pieces, "_require_coacd", lambda options: "1")
    made = [bad, good]
    monkeypatch.setattr(pieces, "_run", lambda *_: made.pop(0))
    pieces.convex_pieces(np.eye(3), np.array([[0, 1, 2]]), {}) if "f0" in bad else made.pop(0)
    (found,) = pieces.convex_pieces(np.eye(3), np.array([[0, 1, 2]]), {})
    assert np.array_equal(found[0], good["v0"]) and not made


@needs_coacd
def test_a_mesh_that_coacd_fails_on_is_an_error():
    with pytest.raises(MeshFileError, match="coacd"):
        pieces.convex_pieces(np.zeros((4, 3)), np.array([[0, 1, 2]]), QUICK)


def test_hulls_with_fewer_vertices(tmp_path):
    trimesh.creation.icosphere(3).export(str(tmp_path / "ball.ply"))
    text = f"""<mujoco><compiler meshdir="{tmp_path}"/>
      <asset><mesh name="ball" file="ball.ply"/><mesh name="other" file="ball.ply"/></asset>
      <worldbody>
        <body><freejoint/><geom type="mesh" mesh="ball"/></body>
        <body pos="3 0 0"><freejoint/><geom type="mesh" mesh="other"/></body>
      </worldbody></mujoco>"""

    def vertices_of_hulls(**options):
        mjm = Model.from_mjcf(text, **options).mj
        return [int(mjm.mesh_graph[start]) for start in mjm.mesh_graphadr]

    assert vertices_of_hulls() == [642, 642]
    assert max(vertices_of_hulls(maxhullvert=24)) <= 24
    few, all_of_them = vertices_of_hulls(maxhullvert={"ball": 24})
    assert few <= 24 and all_of_them == 642
