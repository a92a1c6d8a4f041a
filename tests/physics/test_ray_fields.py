"""`solver.ray` at height fields: against MuJoCo's mj_ray, at edges and vertices, far from the middle of large ones."""

import mujoco
import numpy as np
import pytest

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.rendering.rays import query
from tumble.physics.rendering.rays.field_tables import FIRST_BLOCK, LEVELS, field_tables, pyramid

from ..widths import WIDTH
from .starts import run_in_columns
from .test_ray import BESIDE, EDGE, MOVES, NORMAL, ON_EDGE

HFIELD = mujoco.mjtGeom.mjGEOM_HFIELD
NUM_ENVS, RAYS = 4, 5000
FIELDS = {
    "smallest": ((2, 2), (0.8, 0.6, 0.3, 0.1)),
    "strip": ((2, 9), (0.7, 0.2, 0.2, 0.05)),
    "rough": ((20, 31), (1.0, 0.9, 0.4, 0.2)),
    "large": ((300, 400), (3.0, 2.0, 0.5, 0.2)),
    "flat": ((5, 4), (0.5, 0.5, 0.2, 0.1)),
}
"""Vertices along both sides, and MuJoCo's sizes."""
XML = f"""<mujoco>
  <asset>{{assets}}</asset>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <geom type="hfield" hfield="large" pos="0 0 -2" euler="5 -8 20"/>
    <geom type="hfield" hfield="rough" pos="-1 1 0.1" euler="-20 30 100" group="1"/>
    <geom type="hfield" hfield="flat" pos="1.5 1.5 0"/>
    <geom type="hfield" hfield="smallest" pos="1 -1 0"/>
    <body pos="0 0 1">{MOVES}<geom type="hfield" hfield="rough" mass="0"/><geom size="0.2" pos="0.4 0 0.3"/></body>
    <body pos="-1 -1 1.3">{MOVES}<geom type="hfield" hfield="strip" mass="0"/><geom size="0.1"/></body>
  </worldbody>
</mujoco>"""


def heights(name, shape):
    """Heights of a field from 0 to 1: rough, with steps; the strip's are but 0 and 1."""
    rng = np.random.default_rng(len(name))
    if name == "flat":
        return np.zeros(shape)
    if name == "strip":
        return rng.integers(0, 2, shape).astype(float)
    return np.round(4 * rng.uniform(size=shape)) / 4 + 0.2 * rng.uniform(size=shape)


def field_xml(name, shape, size, data):
    """The asset; MuJoCo takes rows from the last, and stretches heights to 0 to 1."""
    numbers, sizes = (" ".join(f"{x:.17g}" for x in values) for values in (data[::-1].ravel(), size))
    return f'<hfield name="{name}" nrow="{shape[0]}" ncol="{shape[1]}" size="{sizes}" elevation="{numbers}"/>'


def one_field(shape, size, data):
    """A compiled model of one field about the origin, and its heights in metres (nrow, ncol)."""
    spec = mujoco.MjSpec()
    spec.add_hfield(name="h", nrow=shape[0], ncol=shape[1], size=size).userdata = data.ravel()
    spec.worldbody.add_geom(type=HFIELD, hfieldname="h", contype=0, conaffinity=0)
    body = spec.worldbody.add_body(pos=[0, 0, 900])
    body.add_freejoint()
    body.add_geom(size=[0.1, 0, 0])
    mjm = spec.compile()
    return mjm, mjm.hfield_data.reshape(shape).astype(float) * size[2]


def surface(z, size, at):
    """Heights of a field with vertices z under points (n, 2 or more), and under which triangle of a cell they lie."""
    place = (at[:, :2] + size[:2]) / (2 * np.array(size[:2])) * [z.shape[1] - 1, z.shape[0] - 1]
    cell = np.clip(np.floor(place).astype(int), 0, [z.shape[1] - 2, z.shape[0] - 2])
    (i, j), (x, y) = cell.T, (place - cell).T
    a, b, c, d = z[j, i], z[j, i + 1], z[j + 1, i], z[j + 1, i + 1]
    return np.where(x >= y, a + x * (b - a) + y * (d - b), a + y * (c - a) + x * (d - c))


class Scene:
    """A solver and MuJoCo's data of the same states, and rays at its fields; environments have own places of geoms."""

    def __init__(self, precision):
        assets = "".join(field_xml(name, *given, heights(name, given[0])) for name, given in FIELDS.items())
        xml, self.precision = XML.format(assets=assets), precision
        self.mj, rng = [mujoco.MjModel.from_xml_string(xml) for _ in range(NUM_ENVS)], np.random.default_rng(0)
        self.solver, self.data = RigidSolver(Model.from_mjcf(xml), NUM_ENVS), [mujoco.MjData(mj) for mj in self.mj]
        for env, (mj, data) in enumerate(zip(self.mj, self.data, strict=True)):
            if env:
                mj.geom_pos[1] += rng.normal(0, 0.2, 3)
                mj.geom_quat[1] = rng.normal(size=4)
                mj.geom_quat[1] /= np.linalg.norm(mj.geom_quat[1])
            mujoco.mj_integratePos(mj, data.qpos, rng.normal(0, 0.5 if env else 0.0, mj.nv), 1.0)
            mujoco.mj_forward(mj, data)
        for name in ("geom_pos", "geom_quat"):
            self.solver.set_parameters(name, np.stack([getattr(mj, name) for mj in self.mj]))
        self.solver.set_state(qpos=np.stack([data.qpos for data in self.data]))
        self.solver.forward()
        self.pnt, self.vec = (np.stack(rays) for rays in zip(*map(self.rays, self.mj, self.data), strict=True))
        if precision == "32":
            self.pnt, self.vec = (rays.astype(np.float32).astype(float) for rays in (self.pnt, self.vec))

    def rays(self, mj, data):
        """From all around, from inside, along the fields' and the world's axes, and grazing; of any length."""
        rng = np.random.default_rng(int(1e6 * data.qpos.sum()) % 1000)
        fields = np.flatnonzero(mj.geom_type == HFIELD)
        geom = rng.choice(fields, RAYS, p=np.where(fields == 0, 0.2, 0.8 / (len(fields) - 1)))
        size = mj.hfield_size[mj.geom_dataid[geom]]
        low, high = np.stack([-size[:, 0], -size[:, 1], -size[:, 3]], 1), size[:, :3]
        wide = high - low
        start, end = (low + wide * rng.uniform(-0.2, 1.2, low.shape) for _ in range(2))
        kind = np.arange(RAYS) % 5
        inside = kind == 1
        start[inside] = (low + wide * rng.uniform(0.02, 0.6, low.shape))[inside]
        vec = end - start
        vec[kind == 2] = (np.eye(3)[rng.integers(3, size=RAYS)] * rng.choice([-1.0, 1.0], (RAYS, 1)))[kind == 2]
        vec[kind == 3, 2] *= 0.02
        turn = data.geom_xmat[geom].reshape(-1, 3, 3)
        pnt, vec = data.geom_xpos[geom] + np.einsum("rij,rj->ri", turn, start), np.einsum("rij,rj->ri", turn, vec)
        vec[kind == 4] = (np.eye(3)[rng.integers(3, size=RAYS)] * rng.choice([-1.0, 1.0], (RAYS, 1)))[kind == 4]
        return pnt, vec * np.exp(rng.normal(size=(RAYS, 1)))

    def mj_ray(self, env, pnt, vec):
        """Distance, geom and normal that MuJoCo finds."""
        geom, normal = np.zeros(1, np.int32), np.zeros(3)
        distance = mujoco.mj_ray(self.mj[env], self.data[env], pnt, vec, None, 1, -1, geom, normal)
        return distance, int(geom[0]), normal

    def expected(self):
        """MuJoCo's answers to all rays."""
        found = [
            self.mj_ray(env, *ray) for env in range(NUM_ENVS) for ray in zip(self.pnt[env], self.vec[env], strict=True)
        ]
        distance, geom, normal = (np.array(one) for one in zip(*found, strict=True))
        return distance.reshape(NUM_ENVS, RAYS), geom.reshape(NUM_ENVS, RAYS), normal.reshape(NUM_ENVS, RAYS, 3)

    def beside(self, env, pnt, vec):
        """Return geoms and distances that rays meet if they begin a little beside."""
        sides = EDGE[self.precision] * np.vstack([np.eye(3), -np.eye(3)])
        distance, geom, _ = zip(*(self.mj_ray(env, pnt + side, vec) for side in sides), strict=True)
        return set(geom), np.array(distance)


@pytest.fixture(scope="module", params=["64", "32", pytest.param("columns", marks=pytest.mark.slow)])
def scene(request):
    if request.param == "columns":
        run_in_columns()
    else:
        tumble.init(precision=request.param)
    return Scene("64" if request.param == "64" else "32")


def test_rays_meet_what_mujocos_do(scene):
    """20,000 rays: the same geoms, at the same distances, with the same normals."""
    expected, geoms, normals = scene.expected()
    hits = scene.solver.ray(scene.pnt, scene.vec, normals=True)
    distance, found, normal = (one.double().numpy() for one in hits)
    way = np.maximum(1.0, np.abs(expected) * np.linalg.norm(scene.vec, axis=-1))
    across = np.abs((distance - expected) * np.einsum("erc,erc->er", scene.vec, normals) / way)
    same = (found == geoms) & (geoms >= 0)
    far = same & (across >= BESIDE[scene.precision])
    other = np.argwhere((found != geoms) | far)
    assert len(other) <= ON_EDGE
    for env, ray in other:
        near, distances = scene.beside(env, scene.pnt[env, ray], scene.vec[env, ray])
        assert found[env, ray] in near
        if found[env, ray] >= 0:
            assert np.abs(distances - distance[env, ray]).min() < EDGE[scene.precision] * way[env, ray]
    turned, across = np.abs(normal - normals).max(axis=-1)[same & ~far], across[same & ~far]
    print(f"{same.mean():.2f} hit; across {np.median(across):.1e}, {across.max():.1e}; normals {turned.max():.1e}")
    assert np.median(across) < BESIDE[scene.precision] / 20
    assert np.sort(turned)[-ON_EDGE - 1] < NORMAL[scene.precision]
    assert (distance[found < 0] == -1).all() and (normal[found < 0] == 0).all()
    assert set(geoms.ravel()) == {-1, *range(scene.mj[0].ngeom)}
    assert all((geoms == g).sum() > 300 for g in np.flatnonzero(scene.mj[0].geom_type == HFIELD))


SEEN = (((9, 7), (1, 1.5, 0.3, 0.1)), ((33, 65), (50.0, 20.0, 2.0, 0.1)), ((2, 2), (1.0, 1.0, 1.0, 1.0)))


@pytest.mark.parametrize("precision", ["64", "32"])
@pytest.mark.parametrize(("shape", "size"), SEEN)
@pytest.mark.parametrize("kind", ["flat", "steps", "rough"])
def test_no_ray_slips_through_an_edge(precision, shape, size, kind):
    """20,000 rays from above and 20,000 from below, exactly to vertices and points of edges, none of them a ridge."""
    tumble.init(precision=precision)
    rng, n = np.random.default_rng(3), 20_000
    made = {"flat": np.zeros(shape), "steps": rng.integers(0, 3, shape) / 2, "rough": rng.uniform(size=shape)}[kind]
    mjm, z = one_field(shape, size, made)
    solver = RigidSolver(Model.from_mjmodel(mjm), 1, lanes=WIDTH)
    solver.forward()
    x, y = (np.linspace(-half, half, count) for half, count in zip(size, shape[::-1], strict=False))
    j, i, edge = rng.integers(shape[0] - 1, size=n), rng.integers(shape[1] - 1, size=n), rng.integers(3, size=n)
    to_j, to_i = j + (edge != 0), i + (edge != 1)
    share = np.where(rng.random(n) < 0.5, rng.choice([0.0, 0.5, 1.0], n), rng.random(n))
    corner = [np.stack([x[col], y[row], z[row, col]], 1) for row, col in ((j, i), (to_j, to_i))]
    target = corner[0] + share[:, None] * (corner[1] - corner[0])
    for side in (1.0, -1.0):
        start = rng.uniform(-1, 1, (n, 3)) * [*size[:2], 0]
        start[:, 2] = size[2] + rng.exponential(1.0, n) if side > 0 else 1e-3 * size[2] * rng.random(n)
        way = rng.random(n)
        start[way < 0.3, :2] = target[way < 0.3, :2]  # straight up or down
        start[way > 0.8, 0] = target[way > 0.8, 0]  # along the columns
        vec = target - start
        near, beyond = (target + step * vec for step in (-1e-3, 1e-3))
        through = (side * (beyond[:, 2] - surface(z, size, beyond)) < -1e-6 * np.linalg.norm(vec, axis=1)) & (
            side * (near[:, 2] - surface(z, size, near)) >= 0
        )
        through &= (np.abs(beyond[:, :2]) < np.multiply(0.9999, size[:2])).all(axis=1) & (side * vec[:, 2] < 0)
        through &= (np.abs(vec[:, 2]) > 1e-3) & (side * (start[:, 2] - surface(z, size, start)) > 0)
        hits = solver.ray(start, vec)
        met = (hits.geom[0] == 0).numpy() & (hits.distance[0].numpy() < 1 + 2e-3)
        assert (through.sum() > n / 20 or (kind == "flat" and side < 0)) and met[through].all()


def test_a_large_field_is_as_exact_as_a_plane():
    """Single precision, 100 m: half a metre above the ground, 50 m from its middle, errors are of half a metre."""
    tumble.init(precision="32")
    rng, size, shape = np.random.default_rng(0), (50.0, 50.0, 1.0, 0.5), (1001, 1001)
    mjm, z = one_field(shape, size, rng.uniform(size=shape))
    solver = RigidSolver(Model.from_mjmodel(mjm), 1, lanes=WIDTH)
    solver.forward()
    pnt = np.float32(rng.uniform(40, 49, (20_000, 3)) * rng.choice([-1, 1], (20_000, 3))).astype(float)
    pnt[:, 2] = np.float32(surface(z, size, pnt) + 0.5)
    below = solver.ray(pnt, [0, 0, -1])
    error = below.distance[0].double().numpy() - (pnt[:, 2] - surface(z, size, pnt))
    assert np.abs(error).max() < 5e-7  # heights, points and distances have some 6e-8 of a metre
    vec = np.float32(rng.normal(size=(20_000, 3))).astype(float)
    vec[:, 2] = -np.abs(vec[:, 2]) - 1.0
    slant = solver.ray(pnt, vec)
    met = pnt + slant.distance[0].double().numpy()[:, None] * vec
    inside = (slant.geom[0] == 0).numpy() & (np.abs(met[:, :2]) < 49.9).all(axis=1)
    steep = np.linalg.norm(np.gradient(z, 0.1), axis=0).max()
    across = np.abs(met[:, 2] - surface(z, size, met))[inside] / steep
    assert inside.mean() > 0.9 and across.max() < 5e-7


@pytest.mark.parametrize("precision", ["64", "32"])
def test_rays_that_begin_on_the_surface(precision):
    """At vertices, edges and inside triangles whose numbers have few digits, so that nothing is rounded: as mj_ray."""
    tumble.init(precision=precision)
    made = np.array([[0, 2, 1, 4], [3, 1, 4, 0], [2, 2, 0, 1]]) / 4.0
    size = (1.5, 1.0, 2.0, 0.5)
    mjm, z = one_field(made.shape, size, made)
    data = mujoco.MjData(mjm)
    mujoco.mj_forward(mjm, data)
    solver = RigidSolver(Model.from_mjmodel(mjm), 1, lanes=WIDTH)
    solver.forward()
    u, v = np.meshgrid(np.arange(-1.25, 1.5, 0.25), np.arange(-0.75, 1.0, 0.25))
    at = np.stack([u.ravel(), v.ravel(), np.zeros(u.size)], 1)
    at[:, 2] = surface(z, size, at)
    for vec in ([0, 0, 1.0], [0, 0, -1.0]):
        expected = [mujoco.mj_ray(mjm, data, point, np.array(vec), None, 1, -1, np.zeros(1, np.int32)) for point in at]
        assert solver.ray(at, vec).distance[0].tolist() == expected == [0.0] * len(at)


def test_blocks_have_the_extremes_of_their_cells():
    """The pyramid is right for every size, also if a level has a block that is not whole."""
    rng = np.random.default_rng(0)
    for nrow, ncol in ((2, 2), (2, 7), (9, 17), (10, 18), (23, 5)):
        z = rng.uniform(size=(nrow, ncol)).astype(np.float32)
        levels = pyramid(z)
        assert levels[-1].shape == (1, 1, 2)
        for k, level in enumerate(levels, 1):
            assert level.shape[:2] == ((nrow - 2 >> k) + 1, (ncol - 2 >> k) + 1)
            for j, i in np.ndindex(level.shape[:2]):
                own = z[j << k : (j + 1 << k) + 1, i << k : (i + 1 << k) + 1]
                assert level[j, i].tolist() == [own.min(), own.max()]


def test_fields_lie_once_in_memory():
    mjm = mujoco.MjModel.from_xml_string(XML.format(
        assets="".join(field_xml(name, *given, heights(name, given[0])) for name, given in FIELDS.items())
    ))  # fmt: skip
    tables = field_tables(mjm, mjm.geom_dataid[mjm.geom_type == HFIELD])
    assert len(tables.fields) == 5 and len(tables.heights) == mjm.nhfielddata
    assert tables is field_tables(mjm, tables.fields)
    assert (tables.shapes[:, FIRST_BLOCK + tables.shapes[:, LEVELS] - 1].max()) < len(tables.blocks)


def test_models_without_fields_have_a_kernel_without_them(monkeypatch):
    """They neither compile nor run what fields need."""
    tumble.init(precision="32")
    asked, shared = [], query.shared_kernels
    monkeypatch.setattr(query, "shared_kernels", lambda *given: asked.append(given[2][0].arguments) or shared(*given))
    for geom in ("", '<geom type="hfield" hfield="h" contype="0" conaffinity="0"/>'):
        xml = f"""<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset>
        <worldbody>{geom}<geom size="0.1" pos="0 0 3"/></worldbody></mujoco>"""
        solver = RigidSolver(Model.from_mjcf(xml), 1, lanes=WIDTH)
        solver.forward()
        assert solver.ray([0, 0, 2.5], [0, 0, -1]).geom.tolist() == [[0 if geom else -1]]
    assert asked == [("f32", False, False), ("f32", False, True)]


RANGES = """<mujoco><asset>{asset}</asset>
  <worldbody><geom type="hfield" hfield="rough" euler="3 5 0" contype="0" conaffinity="0"/>
    <body pos="0 0 1"><freejoint/><geom size="0.1"/><site name="down" zaxis="0 0 -1"/>
      <site name="ahead" zaxis="2 1 -2"/></body></worldbody>
  <sensor><rangefinder site="down"/><rangefinder site="ahead" data="dist normal"/></sensor></mujoco>"""


def test_rangefinders_see_the_ground():
    tumble.init(precision="64")
    shape, size = FIELDS["rough"]
    xml = RANGES.format(asset=field_xml("rough", shape, size, heights("rough", shape)))
    mjm, rng = mujoco.MjModel.from_xml_string(xml), np.random.default_rng(0)
    data, qpos = mujoco.MjData(mjm), np.tile(mjm.qpos0, (50, 1))
    qpos[:, :2] += rng.uniform(-1, 1, (50, 2))
    qpos[:, 3:] += rng.normal(0, 0.2, (50, 4))
    qpos[:, 3:] /= np.linalg.norm(qpos[:, 3:], axis=1, keepdims=True)
    solver = RigidSolver(Model.from_mjcf(xml), 50)
    solver.set_state(qpos=qpos)
    solver.forward()
    theirs = []
    for env in range(50):
        data.qpos[:] = qpos[env]
        mujoco.mj_forward(mjm, data)
        theirs.append(data.sensordata.copy())
    np.testing.assert_allclose(solver.sensordata.numpy(), theirs, rtol=0, atol=1e-12)
    assert (np.array(theirs)[:, 0] > 0).mean() > 0.5


def test_sizes_of_others():
    """Environments may have sizes of their own of what is on a field; the field's are the model's."""
    tumble.init(precision="32")
    mjm, _ = one_field((3, 3), (1, 1, 1, 1), np.eye(3))
    solver, sizes = RigidSolver(Model.from_mjmodel(mjm), 2), np.repeat(mjm.geom_size[None], 2, 0)
    sizes[1, 1, 0] = 0.3
    solver.set_parameters("geom_size", sizes)
    solver.forward()
    hits = solver.ray([[0.5, 0.5, 2], [0, 0, 902]], [0, 0, -1])
    np.testing.assert_allclose(hits.distance, [[1.0, 1.9], [1.0, 1.7]], rtol=0, atol=1e-4)
    sizes[1, 0, 0] = 2.0
    with pytest.raises(ValueError, match="the size of a mesh or height field cannot be changed"):
        solver.set_parameters("geom_size", sizes)


def test_a_field_has_no_distance():
    """Distances are of convex shapes, and a field is none."""
    mjm, _ = one_field((3, 3), (1, 1, 1, 1), np.eye(3))
    solver = RigidSolver(Model.from_mjmodel(mjm), 1, lanes=WIDTH)
    with pytest.raises(ValueError, match="has no distance: distances are of planes and convex shapes"):
        solver.distance(0, 1)
