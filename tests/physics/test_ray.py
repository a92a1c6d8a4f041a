"""`solver.ray` against MuJoCo's mj_ray: every type of geom, from outside and inside, along axes and past edges."""

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver

from ..cases import cases
from ..models.meshes import attributes, box_with_hole, icosphere, torus
from .starts import run_in_columns

NUM_ENVS, RAYS = 8, 2500
BESIDE = {"64": 1e-13, "32": 2e-6}
"""Across the surface, of the way there, or of a metre if that is more: some ten roundings, kinematics' among them."""
NORMAL = {"64": 1e-9, "32": 1e-4}
"""Of unit vectors: roots take half of the digits where a ray grazes, and triangles are small."""
EDGE = {"64": 1e-9, "32": 2e-5}  # of a ray's length: one that turns by this much and meets another geom passed an edge
ON_EDGE = 5  # of 20,000 rays may
OPTIONS = (
    {},
    {"geomgroup": (1, 0, 0, 1, 0, 0)},
    {"flg_static": False},
    {"bodyexclude": 1, "geomgroup": (1, 1, 1, 0, 1, 1)},
)
MOVES = "".join(
    f'<joint type="{kind}" axis="{axis}"/>' for kind in ("slide", "hinge") for axis in ("1 0 0", "0 1 0", "0 0 1")
)
XML = f"""
<mujoco>
  <default><geom contype="0" conaffinity="0"/></default>
  <asset>
    <mesh name="ball" {attributes(icosphere(2))} scale="0.3 0.3 0.3"/>
    <mesh name="ring" {attributes(torus(0.35, 0.12))} scale="-1 1 1"/>
    <mesh name="frame" {attributes(box_with_hole(0.5, 0.25, 0.3))}/>
    <material name="clear" rgba="1 1 1 0"/><material name="opaque" rgba="1 1 1 1"/>
  </asset>
  <worldbody>
    <geom type="plane" size="3 2 1" pos="0 0 -2"/>
    <geom type="plane" size="0 0 1" pos="0 0 -3" euler="10 0 0" group="1"/>
    <geom type="mesh" mesh="frame" pos="0 0.9 0.4" euler="70 10 15"/>
    <body pos="0 0 1">{MOVES}<geom type="mesh" mesh="ball"/></body>
    <body pos="1 0 1">{MOVES}<geom type="mesh" mesh="ring" group="4"/>
      <body pos="0 0 0.5"><joint/>
        <geom size="0.2" pos="0 0.5 0" rgba="1 1 1 0"/>
        <geom size="0.2" pos="0 -0.5 0" rgba="1 1 1 0" material="opaque"/>
      </body>
    </body>
    <body pos="-1 0 1">{MOVES}<geom size="0.3"/></body>
    <body pos="0 -1 1">{MOVES}<geom type="capsule" size="0.2 0.4" group="3"/></body>
    <body pos="-1 -1 1">{MOVES}<geom type="cylinder" size="0.3 0.4"/></body>
    <body pos="1 -1 1">{MOVES}<geom type="ellipsoid" size="0.3 0.2 0.4"/></body>
    <body pos="-1 1 1">{MOVES}<geom type="box" size="0.3 0.2 0.4" group="5"/></body>
    <body pos="1 1 1">{MOVES}<geom type="box" size="0.3 0.2 0.4" material="clear"/></body>
  </worldbody>
</mujoco>
"""


class Scene:
    """A solver, MuJoCo's data of the same states, and rays at its geoms; environment 0 is in the reference pose."""

    def __init__(self, precision):
        self.precision, self.mj = precision, mujoco.MjModel.from_xml_string(XML)
        self.solver, rng = RigidSolver(Model.from_mjmodel(self.mj), NUM_ENVS), np.random.default_rng(0)
        self.data = [mujoco.MjData(self.mj) for _ in range(NUM_ENVS)]
        for env, data in enumerate(self.data):
            mujoco.mj_integratePos(self.mj, data.qpos, rng.normal(0, 0.5 if env else 0.0, self.mj.nv), 1.0)
            mujoco.mj_forward(self.mj, data)
        self.solver.set_state(qpos=np.stack([data.qpos for data in self.data]))
        self.solver.forward()
        self.pnt, self.vec = self.rays(rng)

    def rays(self, rng):
        """From anywhere towards geoms, from inside of them, along the world's axes, and anywhere; of any length."""
        centres = np.stack([data.geom_xpos for data in self.data])[:, rng.integers(2, self.mj.ngeom, RAYS)]
        near = centres + rng.normal(0, 0.15, centres.shape)
        kind = np.arange(RAYS) % 4
        pnt = np.where((kind == 1)[:, None], near, rng.uniform(-2, 2, near.shape))
        vec = np.where((kind == 0)[:, None], near - pnt, rng.normal(size=near.shape))
        axes = np.eye(3)[rng.integers(3, size=(NUM_ENVS, RAYS))] * rng.choice([-1.0, 1.0], (NUM_ENVS, RAYS, 1))
        vec = np.where((kind == 2)[:, None], axes, vec)
        pnt = np.where((kind == 2)[:, None], near - 2 * axes * rng.integers(2, size=(NUM_ENVS, RAYS, 1)), pnt)
        vec *= np.exp(rng.normal(size=(NUM_ENVS, RAYS, 1)))
        return pnt, vec

    def mj_ray(self, env, pnt, vec, geomgroup=None, flg_static=True, bodyexclude=-1):
        """Distance, geom and normal that MuJoCo finds."""
        geom, normal = np.zeros(1, np.int32), np.zeros(3)
        group = None if geomgroup is None else np.array(geomgroup, np.uint8)
        distance = mujoco.mj_ray(self.mj, self.data[env], pnt, vec, group, flg_static, bodyexclude, geom, normal)
        return distance, int(geom[0]), normal

    def expected(self, pnt, vec, **options):
        """MuJoCo's answers to rays (num_envs, n, 3)."""
        found = [
            self.mj_ray(env, *ray, **options) for env in range(NUM_ENVS) for ray in zip(pnt[env], vec[env], strict=True)
        ]
        distance, geom, normal = (np.array(one) for one in zip(*found, strict=True))
        return distance.reshape(pnt.shape[:2]), geom.reshape(pnt.shape[:2]), normal.reshape(pnt.shape)

    def geoms_beside(self, env, pnt, vec, **options):
        """What rays meet that begin a little beside."""
        sides = EDGE[self.precision] * np.vstack([np.eye(3), -np.eye(3)])
        return {self.mj_ray(env, pnt + side, vec, **options)[1] for side in sides}


@pytest.fixture(scope="module", params=["64", "32", "columns"])
def scene(request):
    if request.param == "columns":
        run_in_columns()
    else:
        tumble.init(precision=request.param)
    return Scene("64" if request.param == "64" else "32")


@pytest.mark.parametrize("options", OPTIONS)
def test_rays_meet_what_mujocos_do(scene, options):
    """20,000 rays: the same geoms, at the same distances, with the same normals."""
    pnt, vec = scene.pnt, scene.vec
    if options and scene.precision == "32":
        pnt, vec = pnt[:, :500], vec[:, :500]  # what is chosen does not hang on the precision
    expected, geoms, normals = scene.expected(pnt, vec, **options)
    hits = scene.solver.ray(pnt, vec, normals=True, **options)
    assert hits.distance.dtype == scene.solver.dtype and hits.geom.dtype == torch.int32
    distance, found, normal = (one.double().numpy() for one in hits)
    other = np.argwhere(found != geoms)
    assert len(other) <= ON_EDGE
    for env, ray in other:
        assert found[env, ray] in scene.geoms_beside(env, pnt[env, ray], vec[env, ray], **options)
    assert (distance[found < 0] == -1).all() and (normal[found < 0] == 0).all()
    same = (found == geoms) & (geoms >= 0)
    way = np.maximum(1.0, np.abs(expected) * np.linalg.norm(vec, axis=-1))
    beside = np.abs((distance - expected) * np.einsum("erc,erc->er", vec, normals) / way)[same]
    turned = np.abs(normal - normals).max(axis=-1)[same]
    print(f"{same.mean():.2f} hit; across {beside.max():.1e}, normals {turned.max():.1e}; {len(other)} on edges")
    assert beside.max() < BESIDE[scene.precision]
    assert np.sort(turned)[-ON_EDGE - 1] < NORMAL[scene.precision]  # two faces of one geom meet at edges, too
    chosen = set(np.unique(geoms)) - {-1}
    assert len(chosen) >= 5 and all((geoms == g).sum() > 20 for g in chosen)


def test_rays_that_graze(scene):
    """Past round shapes at 0.999 and 1.001 of their radius, across and along their axes, from all sides.

    Without the ring: mj_ray misses a mesh along planes in which edges lie.
    """
    rng, pnt, vec, shown = np.random.default_rng(1), [], [], (1, 1, 1, 1, 0, 1)
    for body, radii in ((4, (0.3, 0.3, 0.3)), (5, (0.2, 0.2, 0.6)), (6, (0.3, 0.3, 0.4)), (7, (0.3, 0.2, 0.4))):
        for _ in range(100):
            axis, towards = rng.permutation(3)[:2]
            side = np.eye(3)[towards] * radii[towards] * rng.choice([-1, 1]) * rng.choice([0.999, 1.001])
            pnt.append(scene.data[0].xpos[body] + side - 2 * np.eye(3)[axis])
            vec.append(np.eye(3)[axis] * rng.choice([1.0, 0.1, 30.0]))
    pnt, vec = (np.tile(rays, (NUM_ENVS, 1, 1)) for rays in (pnt, vec))
    expected, geoms, _ = scene.expected(pnt, vec, geomgroup=shown)
    distance, found, _ = scene.solver.ray(pnt, vec, geomgroup=shown)
    assert (found.numpy() == geoms)[0].all() and (found.numpy() != geoms).sum() <= ON_EDGE
    assert 50 < (geoms[0] >= 4).sum() < 350
    in_metres = np.abs(distance.double().numpy() - expected)[0] * np.linalg.norm(vec[0], axis=-1)
    assert in_metres.max() < 30 * BESIDE[scene.precision]  # at 0.999 a ray is 1/22 steep: sqrt(1 - 0.999^2)


def test_what_is_no_ray_hits_nothing_and_touches_nobody(scene):
    pnt, vec = scene.pnt[:, :50].copy(), scene.vec[:, :50].copy()
    before = scene.solver.ray(pnt, vec, normals=True)
    pnt[3, 7, 1], vec[3, 9], vec[3, 11, 2], vec[5, 1] = np.nan, 0.0, np.inf, np.nan
    after = scene.solver.ray(pnt, vec, normals=True)
    broken = torch.zeros((NUM_ENVS, 50), dtype=torch.bool)
    for env, ray in ((3, 7), (3, 9), (3, 11), (5, 1)):
        broken[env, ray] = True
    assert (
        (after.distance[broken] == -1).all() and (after.geom[broken] == -1).all() and (after.normal[broken] == 0).all()
    )
    assert all(torch.equal(one[~broken], other[~broken]) for one, other in zip(before, after, strict=True))


def test_shapes_and_subsets(scene):
    """Rays for all environments are those of each, and environments are whose they are."""
    solver, pnt, vec = scene.solver, scene.pnt[0, :40], scene.vec[0, :40]
    whole = solver.ray(np.tile(pnt, (NUM_ENVS, 1, 1)), torch.as_tensor(vec))
    assert whole.normal is None and whole.distance.shape == whole.geom.shape == (NUM_ENVS, 40)
    some = solver.ray(pnt, vec, envs_idx=[5, 2])
    assert torch.equal(some.distance, whole.distance[[5, 2]]) and torch.equal(some.geom, whole.geom[[5, 2]])
    fan = solver.ray(pnt[0], vec)
    assert torch.equal(fan.geom, solver.ray(np.tile(pnt[0], (40, 1)), vec).geom)
    assert solver.ray(np.zeros((0, 3)), np.zeros((0, 3))).geom.shape == (NUM_ENVS, 0)
    assert (solver.ray(pnt, vec, geomgroup=[0] * 6).geom == -1).all()


@cases(
    "arguments, message",
    [
        ({"pnt": np.zeros((NUM_ENVS + 1, 2, 3))}, r"pnt: expected shape \(8, n, 3\)"),
        ({"vec": np.ones((2, 4))}, r"vec: expected shape"),
        ({"pnt": np.zeros((3, 3)), "vec": np.ones((2, 3))}, "pnt has 3 points and vec 2 vectors"),
        ({"geomgroup": [1, 1]}, "geomgroup must have 6 flags"),
        ({"bodyexclude": 99}, "bodyexclude: the model has"),
    ],
)
def test_wrong_arguments_are_refused(scene, arguments, message):
    with pytest.raises(ValueError, match=message):
        scene.solver.ray(**{"pnt": np.zeros(3), "vec": np.ones(3)} | arguments)
    with pytest.raises(IndexError):
        scene.solver.ray(np.zeros(3), np.ones(3), envs_idx=[NUM_ENVS])


def test_rays_meet_the_named_geoms_alone(scene):
    """The geoms of two groups are named by their numbers; a group that is left out stays so."""
    pnt, vec = scene.pnt[:, :200], scene.vec[:, :200]
    two = np.flatnonzero((scene.mj.geom_group == 0) | (scene.mj.geom_group == 3))
    for options, group in (({}, (1, 0, 0, 1, 0, 0)), ({"geomgroup": (1, 1, 1, 0, 1, 1)}, (1, 0, 0, 0, 0, 0))):
        named = scene.solver.ray(pnt, vec, geoms=two, **options)
        grouped = scene.solver.ray(pnt, vec, geomgroup=group)
        assert torch.equal(named.geom, grouped.geom) and torch.equal(named.distance, grouped.distance)
        assert (named.geom >= 0).any() and not torch.equal(named.geom, scene.solver.ray(pnt, vec).geom)
    with pytest.raises(KeyError, match="no geom is named 'flor'"):
        scene.solver.ray(pnt, vec, geoms=["flor"])
    with pytest.raises(IndexError, match="geom 99: the model has geoms 0 to"):
        scene.solver.ray(pnt, vec, geoms=99)
