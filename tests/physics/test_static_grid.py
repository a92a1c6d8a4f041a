"""A grid of static geoms finds what the list of all pairs has, to the last bit, and MuJoCo's contacts."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.mechanics.collision.broad import broad_phase
from tumble.physics.model.state.capacity import Capacity
from tumble.physics.run.tiles import growing

from ..widths import WIDTH
from .starts import run_in_columns, run_with
from .test_clutter import mujoco_at

NUM_ENVS, STEPS, ROUNDS = 18, 12, 3
SEARCHED = 1e-6  # m: MuJoCo's `ccd_tolerance`, to which it seeks distances of curved shapes
KINDS = {name: getattr(mujoco.mjtGeom, f"mjGEOM_{name}") for name in ("BOX", "SPHERE", "CAPSULE", "CYLINDER")}
KINDS |= {"ELLIPSOID": mujoco.mjtGeom.mjGEOM_ELLIPSOID, "MESH": mujoco.mjtGeom.mjGEOM_MESH}


def turned(rng: np.random.Generator) -> np.ndarray:
    """A random unit quaternion."""
    quat = rng.standard_normal(4)
    return quat / np.linalg.norm(quat)


def course(seed: int = 0, bodies: int = 3) -> mujoco.MjSpec:
    """A rough floor with things on it, of all shapes, and bodies above it; some meet by hand, some not at all."""
    spec, rng = mujoco.MjSpec(), np.random.default_rng(seed)
    spec.option.timestep = 0.004
    for name in ("rock", "body"):
        spec.add_mesh(name=name, uservert=rng.standard_normal(36) * 0.06)
    floor = [spec.worldbody.add_body(name=f"floor {k}", pos=[0.1 * k, 0, 0], quat=[1, 0, 0, 0.1 * k]) for k in range(2)]
    floor.append(floor[0].add_body(name="nested", pos=[0.2, 0.3, 0.02], quat=turned(rng)))
    for (i, j), height in np.ndenumerate(rng.uniform(-0.03, 0.03, (10, 10))):
        place = [0.2 * (i - 5), 0.2 * (j - 5), height - 0.05]
        box = spec.worldbody.add_geom(name=f"box {i} {j}", type=KINDS["BOX"], size=[0.1, 0.1, 0.05], pos=place)
        box.friction[0] = [0.7, 1.2][i % 2]
    for k in range(40):
        name = list(KINDS)[k % len(KINDS)]
        geom = floor[k % 3].add_geom(name=f"thing {k}", type=KINDS[name], size=rng.uniform(0.02, 0.12, 3))
        geom.pos, geom.quat = [*rng.uniform(-1, 1, 2), rng.uniform(-0.05, 0.05)], turned(rng)
        if name == "MESH":
            geom.meshname = "rock"
        geom.margin, geom.condim = rng.choice([0, 0.02]), int(rng.choice([1, 3, 4]))
        if k % 5 == 0:
            geom.contype, geom.conaffinity = 2, 2
    spec.worldbody.add_geom(name="slab", type=KINDS["BOX"], size=[3, 2, 0.1], pos=[0, 0, -0.16], quat=[1, 0.02, 0, 0])
    spec.worldbody.add_geom(
        name="wall", type=KINDS["BOX"], size=[0.01, 1.5, 0.3], pos=[0.55, 0, 0], quat=[1, 0, 0, 0.2]
    )
    for k in range(bodies):
        body = spec.worldbody.add_body(name=f"body {k}", pos=[0.4 * k - 0.4, 0, 0.1])
        body.add_freejoint()
        for place, (name, kind) in enumerate(KINDS.items()):
            at = [0.1 * (place - 2.5), 0.05 * (place % 2), 0]
            geom = body.add_geom(name=f"{name} {k}", type=kind, size=[0.05, 0.04, 0.05], pos=at, quat=turned(rng))
            if name == "MESH":
                geom.meshname = "body"
            geom.margin, geom.conaffinity = 0.01 * (k == 1), 1 + 2 * (place == 2)
        leg = body.add_body(name=f"leg {k}", pos=[0, 0.1, 0])
        leg.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[1, 0, 0])
        leg.add_geom(type=KINDS["CAPSULE"], size=[0.02, 0.1, 0], pos=[0, 0.1, 0])
    huge = spec.worldbody.add_body(name="huge", pos=[0, 0, 0.6])
    huge.add_freejoint()
    huge.add_geom(type=KINDS["BOX"], size=[1, 0.8, 0.05])
    spec.add_exclude(bodyname1="floor 1", bodyname2="body 0")
    spec.add_pair(geomname1="box 0 0", geomname2="SPHERE 0", margin=5.0)  # seen from wherever the sphere is
    spec.add_pair(geomname1="slab", geomname2="BOX 1", condim=3, friction=[0.1, 0.2, 0, 0, 0])
    return spec


def start(solver: RigidSolver, seed: int = 1) -> None:
    """Bodies anywhere over the floor and beyond its edges, one environment far away from it, one below it."""
    rng, mj = np.random.default_rng(seed), solver.model.mj
    qpos = np.tile(mj.qpos0, (NUM_ENVS, 1))
    for joint in np.flatnonzero(mj.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        first = mj.jnt_qposadr[joint]
        qpos[:, first : first + 3] += rng.uniform([-1, -1, -0.1], [1, 1, 0.1], (NUM_ENVS, 3))
        qpos[:, first + 3 : first + 7] = [turned(rng) for _ in range(NUM_ENVS)]
        qpos[1, first] += 1e4
        qpos[2, first + 2] -= 50
    qvel = rng.standard_normal((NUM_ENVS, mj.nv))
    solver.set_state(qpos=qpos[: solver.num_envs], qvel=qvel[: solver.num_envs])


def contacts_of(solver: RigidSolver, env: int) -> list[np.ndarray]:
    """Contacts of an environment in the order of their geoms, then positions."""
    found = solver.contacts
    mask = found.mask[env]
    rows = [getattr(found, name)[env][mask].numpy() for name in ("geom", "pos", "dist", "frame", "friction")]
    order = np.lexsort((*rows[1].T, *rows[0].T))
    return [row[order] for row in rows]


def compare(grid: RigidSolver, listed: RigidSolver) -> int:
    """Compare all contacts, to the bit, in the state of the grid's, and who touches; return how many there are."""
    count = 0
    listed.set_state(qpos=grid.qpos, qvel=grid.qvel)
    for solver in (grid, listed):
        solver.forward()
        geom, mask = solver.quantities.touching  # quicker, as it needs no forces
        assert torch.equal(mask, solver.contacts.mask) and torch.equal(geom, solver.contacts.geom)
    for env in range(grid.num_envs):
        mine, theirs = contacts_of(grid, env), contacts_of(listed, env)
        for a, b in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(a, b)
        count += len(mine[0])
    return count


def both(spec: mujoco.MjSpec, num_envs: int = NUM_ENVS, **options) -> list[RigidSolver]:
    models = [Model.from_mjspec(spec, broad_phase=which, max_contacts=400) for which in ("grid", "pairs")]
    return [RigidSolver(model, num_envs, **options) for model in models]


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["32", "64"])
def test_contacts_are_those_of_the_list(monkeypatch, precision):
    """Also where the room for them has to grow, and in whatever states the bodies come."""
    run_with(precision)
    monkeypatch.setattr(growing, "first_room", lambda model: Capacity(1, int(model.values["dof_depth"].sum()), 1))
    grid, listed = both(course())
    assert grid.model.sizes["npair"] < 0.5 * listed.model.sizes["npair"]
    assert (grid.model.row_pairs == listed.model.row_pairs).all()
    total = 0
    for seed in range(ROUNDS):
        start(grid, seed)
        total += compare(grid, listed)
        grid.step(STEPS)
        total += compare(grid, listed)
    assert total > 20 * NUM_ENVS and grid._driver._room.grown > 0


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("seed", [5, 6])
def test_contacts_are_those_of_the_list_at_all_widths(lanes, seed):
    run_with("32", lanes)
    grid, listed = both(course(seed))
    start(grid, seed)
    grid.step(STEPS)
    assert compare(grid, listed) > 5 * NUM_ENVS
    run_with("32")


def by_geoms(geoms: np.ndarray, dist: np.ndarray) -> tuple[list, np.ndarray]:
    """Contacts in the order of their geoms and distances."""
    rows = sorted((*sorted(pair), d) for pair, d in zip(geoms.tolist(), dist.tolist(), strict=True))
    return [row[:2] for row in rows], np.array([row[2] for row in rows])


def compared(solver: RigidSolver):
    """Yield what each environment has, MuJoCo's data there, and distances of contacts, which are MuJoCo's."""
    for env in range(solver.num_envs):
        found = solver.inspect(env)
        data = mujoco_at(solver.model, found)
        geoms, dist = by_geoms(found["contact_geom"], found["contact_dist"])
        theirs, their_dist = by_geoms(data.contact.geom, data.contact.dist)
        assert geoms == theirs
        np.testing.assert_allclose(dist, their_dist, rtol=0, atol=SEARCHED)
        yield found, data, dist


def stairs() -> mujoco.MjSpec:
    """A flight of 30 stairs between walls, each of its own friction, and legs of spheres, capsules and a box on it."""
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.004
    for k in range(30):
        step = spec.worldbody.add_geom(type=KINDS["BOX"], size=[0.15, 1, 0.1], pos=[0.3 * (k - 15), 0, 0.1 * (k - 15)])
        step.friction[0] = 0.5 + 0.05 * (k % 5)
    for side in (-1, 1):
        spec.worldbody.add_geom(type=KINDS["BOX"], size=[4.5, 0.05, 2], pos=[0, 1.05 * side, 0])
    body = spec.worldbody.add_body(pos=[0, 0, 0.3])
    body.add_freejoint()
    body.add_geom(type=KINDS["BOX"], size=[0.2, 0.1, 0.05])
    for x in (-0.2, 0.2):
        for y in (-0.1, 0.1):
            leg = body.add_body(pos=[x, y, 0])
            leg.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0], stiffness=20, damping=0.5)
            leg.add_geom(type=KINDS["CAPSULE"], size=[0.02, 0.08, 0], pos=[0, 0, -0.1])
            leg.add_geom(type=KINDS["SPHERE"], size=[0.03, 0, 0], pos=[0, 0, -0.2])
    return spec


def climb(solver: RigidSolver) -> None:
    """Every environment on stairs of its own."""
    rng, mj = np.random.default_rng(0), solver.model.mj
    qpos, far = np.tile(mj.qpos0, (solver.num_envs, 1)), rng.uniform(-4, 4, solver.num_envs)
    qpos[:, 0], qpos[:, 1], qpos[:, 2] = far, rng.uniform(-0.9, 0.9, solver.num_envs), far / 3 + 0.35
    solver.set_state(qpos=qpos, qvel=np.zeros((solver.num_envs, mj.nv)))


def test_contacts_on_stairs_are_mujocos():
    run_with("64")
    solver = RigidSolver(Model.from_mjspec(stairs(), broad_phase="grid"), NUM_ENVS)
    climb(solver)
    total = 0
    for _ in range(4):
        solver.step(60)
        solver.forward()
        for found, data, dist in compared(solver):
            np.testing.assert_allclose(found["qacc"], data.qacc, rtol=0, atol=1e-6 * np.abs(data.qacc).max())
            total += len(dist)
    assert total > 10 * NUM_ENVS


def shown(solver: RigidSolver, envs: list[int]) -> list[torch.Tensor]:
    return [solver.qpos[envs].cpu(), solver.qvel[envs].cpu()]


def expected_alone(solver: RigidSolver, states: tuple, numbers: list[torch.Tensor]) -> None:
    """Step a few environments from their states, and compare with the numbers that they had among others."""
    solver.set_state(*states)
    solver.step(40)
    for mine, theirs in zip(shown(solver, [0, 1, 2]), numbers, strict=True):
        assert torch.equal(mine, theirs)


@pytest.fixture(scope="module")
def among_others() -> tuple:
    """The model of the stairs, the starts of three environments, and their ends; a neighbour of theirs is stopped."""
    run_with("64")
    model, chosen = Model.from_mjspec(stairs(), broad_phase="grid"), [0, 5, 16]
    many = RigidSolver(model, NUM_ENVS)
    climb(many)
    states = many.qpos[chosen], many.qvel[chosen]
    many.set_state(qvel=torch.full((1, model.mj.nv), torch.nan), envs_idx=[6])
    many.step(40)
    assert many.contacts.mask[chosen].sum() > len(chosen)
    return model, states, shown(many, chosen)


@pytest.mark.parametrize("lanes", [WIDTH, pytest.param(1, marks=pytest.mark.slow)])
def test_neighbours_and_lanes_do_not_matter(among_others, lanes):
    model, states, ends = among_others
    run_with("64")
    expected_alone(RigidSolver(model, 3, lanes=lanes), states, ends)


@pytest.mark.slow
def test_drivers_do_not_matter(among_others):
    """One thread an environment, as on a GPU."""
    model, states, ends = among_others
    run_in_columns("64")
    expected_alone(RigidSolver(model, 3), states, ends)


@pytest.mark.slow
def test_environments_have_own_numbers_of_static_geoms():
    """Friction and margins of stairs of one class, and places and sizes that the grid does not know."""
    run_with("64")
    grid, listed = both(stairs(), 6)
    mj, rng, few = grid.model.mj, np.random.default_rng(3), [1, 2, 5]
    friction = mj.geom_friction * np.exp(rng.uniform(-1, 1, (6, mj.ngeom, 3)))
    pos, size = np.tile(mj.geom_pos, (3, 1, 1)), np.tile(mj.geom_size, (3, 1, 1))
    pos[:, :32] += rng.normal(0, 0.1, (3, 32, 3)) * [1, 1, 0.1]
    size[:, :32] *= 1.3
    for solver in (grid, listed):
        solver.set_parameters("geom_friction", friction)
    climb(grid)
    grid.step(60)
    assert compare(grid, listed) > 10
    before = grid.contacts.friction
    for solver in (grid, listed):
        solver.set_parameters("geom_pos", pos, few)
        solver.set_parameters("geom_size", size, few)
        solver.set_parameters("geom_margin", np.where(np.arange(mj.ngeom) < 32, 0.05, 0.0), [5])
    assert compare(grid, listed) > 10
    grid.step(STEPS)
    assert compare(grid, listed) > 10 and len(before.unique()) > 10
    with pytest.raises(ValueError, match=r"geom_surfacevel: environments have own ones only with .*'pairs'"):
        grid.set_parameters("geom_surfacevel", np.zeros((mj.ngeom, 6)))


def test_classes_are_alike_and_share_slots():
    """Boxes of one friction are a class; a slot has different boxes in the lanes of a tile."""
    run_with("64")
    model = Model.from_mjspec(course(), broad_phase="grid")
    values, mj = model.values, model.mj
    kind, geoms = values["static_class"], values["static_geom"]
    for k in range(kind.max() + 1):
        members = geoms[kind == k]
        for name in ("type", "bodyid", "condim", "friction", "margin", "contype", "dataid"):
            numbers = getattr(mj, f"geom_{name}")[members]
            assert (numbers == numbers[0]).all()
    boxes = [g for g in range(mj.ngeom) if mj.geom(g).name.startswith("box") and g != mj.geom("box 0 0").id]
    assert len(set(kind[np.searchsorted(geoms, boxes)])) == 2
    assert not {mj.geom("box 0 0").id, mj.geom("slab").id} - set(model.values["framed_geom"])  # explicit pairs: listed
    solver = RigidSolver(Model.from_mjspec(stairs(), broad_phase="grid"), 4)
    qpos = np.tile(solver.model.mj.qpos0, (4, 1))
    qpos[:, 0] += 1.5 * np.arange(4)
    qpos[:, 2] = qpos[:, 0] / 3 + 0.35
    solver.set_state(qpos=qpos, qvel=np.zeros((4, solver.model.mj.nv)))
    solver.step(100)
    solver.forward()
    mask, geom = solver.contacts.mask, solver.contacts.geom
    shared = [set(geom[mask[:, k], k].min(dim=1).values.tolist()) for k in range(mask.shape[1])]
    assert max(map(len, shared)) > 1


def test_many_pairs_with_static_geoms_are_for_a_grid(monkeypatch):
    assert Model.from_mjspec(stairs()).broad_phase == "pairs"
    monkeypatch.setattr(broad_phase, "MANY", 9 * 32)
    assert Model.from_mjspec(stairs()).broad_phase == "grid"
    assert Model.from_mjspec(stairs(), broad_phase="pairs").broad_phase == "pairs"
    assert Model.from_mjspec(stairs(), noslip_iterations=3).broad_phase == "pairs"
    monkeypatch.setattr(broad_phase, "LONG", 20)
    both = Model.from_mjspec(course())
    assert both.broad_phase == "grid" and both.sizes["nsweep"] > 0 and both.sizes["nstatic"] > 0
