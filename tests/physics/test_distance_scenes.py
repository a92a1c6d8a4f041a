"""Things of everyday shape that collide by distance fields: a ring on a peg, a mug on a hook, bowls, a chain, a nut.

Nothing passes through what holds it, no energy comes from nowhere, and what can come to rest does.
"""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from ..widths import WIDTH
from . import solids
from .starts import run_in_columns, run_with

G = mujoco.mjtGeom


def bowl(radius=0.1, wall=0.006, columns=32, rows=9):
    """Half a hollow sphere, open above, its rim at z = 0."""
    t = np.linspace(0, np.pi / 2, rows + 1)[1:]
    out, into = radius, radius - wall
    profile = [*zip(out * np.sin(t), -out * np.cos(t), strict=True)]
    profile += [*zip(into * np.sin(t[::-1]), -into * np.cos(t[::-1]), strict=True)]
    r, z = np.array(profile).T
    return solids.turned(np.tile(r[:, None], (1, columns)), z, True)


def scene(**meshes):
    """A spec with meshes, a plane, and sensors of the energy; MuJoCo bakes its own fields as coarsely as it can."""
    spec = mujoco.MjSpec()
    for name, (vertices, faces) in meshes.items():
        spec.add_mesh(name=name, uservert=vertices.ravel(), userface=faces.ravel(), octree_maxdepth=1)
    for kind in (mujoco.mjtSensor.mjSENS_E_POTENTIAL, mujoco.mjtSensor.mjSENS_E_KINETIC):
        spec.add_sensor(type=kind, objtype=mujoco.mjtObj.mjOBJ_UNKNOWN)
    spec.option.timestep = 0.001
    return spec


def free(spec, mesh, pos, quat=(1, 0, 0, 0), **attributes):
    body = spec.worldbody.add_body(pos=pos, quat=quat)
    body.add_freejoint()
    body.add_geom(type=G.mjGEOM_SDF, meshname=mesh, **attributes)


def ring_on_peg():
    spec = scene(ring=solids.torus(around=48, across=24))
    spec.worldbody.add_geom(type=G.mjGEOM_PLANE, size=[3, 3, 1])
    spec.worldbody.add_geom(type=G.mjGEOM_CYLINDER, size=[0.15, 0.3, 0], pos=[0, 0, 0.3])
    free(spec, "ring", [0.02, 0.01, 0.9], [0.98, 0.17, 0.05, 0])
    return spec


def mug_on_hook():
    """A horizontal bar through the handle of a mug, its ends bent up."""
    spec = scene(mug=solids.mug())
    for ends in ([0, -0.03, 0.5, 0, 0.03, 0.5], [0, 0.03, 0.5, 0, 0.045, 0.53], [0, -0.03, 0.5, 0, -0.045, 0.53]):
        spec.worldbody.add_geom(type=G.mjGEOM_CAPSULE, fromto=ends, size=[0.004, 0, 0])
    free(spec, "mug", [-0.0515, 0, 0.445], density=2000, solref=[0.004, 1])
    spec.worldbody.add_geom(type=G.mjGEOM_PLANE, size=[3, 3, 1])
    return spec


def nested_bowls():
    """Each is smaller than the one below; contacts are so stiff that none sinks half a wall, 3 mm, into another."""
    spec = scene(large=bowl(0.1), middle=bowl(0.09), small=bowl(0.08))
    spec.worldbody.add_geom(type=G.mjGEOM_PLANE, size=[3, 3, 1])
    for k, name in enumerate(("large", "middle", "small")):
        free(spec, name, [0.003 * k, 0.002 * k, 0.1 + 0.001 * k], density=2000, solref=[0.004, 1])
    return spec


def chain_of_links():
    """Three links that hang in one another, the first in one that is fixed."""
    spec = scene(link=solids.torus(0.03, 0.007, 48, 24))
    turns = [0.5, 0.5, 0.5, 0.5], [0.5**0.5, 0.5**0.5, 0, 0]
    spec.worldbody.add_geom(type=G.mjGEOM_SDF, meshname="link", pos=[0, 0, 1], quat=turns[0])
    for k in range(3):
        free(spec, "link", [0.001 * k, 0, 1 - 0.046 * (k + 1)], turns[(k + 1) % 2], density=7800)
    return spec


def nut_on_bolt():
    """So slippery that the nut turns down by its weight: friction is below the lead, 2 mm a turn of 46 mm."""
    spec = scene(bolt=solids.bolt(), nut=solids.nut())
    spec.worldbody.add_geom(type=G.mjGEOM_SDF, meshname="bolt", friction=[0.01, 0, 0])
    free(spec, "nut", [0, 0, 0.0165], density=7800, friction=[0.01, 0, 0])
    return spec


def energies(solver):
    return torch.as_tensor(solver.sensordata).double().sum(dim=1).numpy()


def watched(spec, seconds, precision, look=0.05):
    """Positions (times, bodies, 3), velocities (times, nv) and energies (times,) of the first environment."""
    run_with(precision)
    solver = RigidSolver(Model.from_mjspec(spec), 2)
    found = []
    for _ in range(round(seconds / look)):
        solver.step(round(look / spec.option.timestep))
        places = solver.qpos[0].double().numpy().reshape(-1, 7)[:, :3]
        found.append((places, solver.qvel[0].double().numpy(), energies(solver)[0]))
    assert not solver.any_fault
    return tuple(map(np.array, zip(*found, strict=True)))


def no_energy_from_nowhere(energy, mass):
    """At first, springs of contacts give back what they took; afterwards it lifts nothing by a millimetre."""
    room, late = mass * 9.81 * 1e-3, energy[len(energy) // 3 :]
    assert energy.max() < energy[0] + room
    assert (late - np.minimum.accumulate(late)).max() < room


def mass_of(spec):
    return spec.compile().body_mass.sum()


SLOWLY = [("64", 60.0), ("32", 60.0)]


def times(precision, seconds):
    """One short run, and two long ones by request."""
    return pytest.mark.parametrize(
        "precision, seconds", [(precision, seconds), *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOWLY)]
    )


@pytest.mark.slow
@times("64", 2.5)
def test_a_ring_falls_over_a_peg(precision, seconds):
    """It lies flat on the ground around it, and still."""
    spec = ring_on_peg()
    places, speeds, energy = watched(spec, seconds, precision)
    assert np.linalg.norm(places[:, 0, :2], axis=1).max() < 0.1
    assert places[-1, 0, 2] == pytest.approx(0.1, abs=1e-3) and np.abs(speeds[-1]).max() < 1e-3
    no_energy_from_nowhere(energy, mass_of(spec))


@pytest.mark.slow  # `test_a_chain_hangs_by_contact_alone` is quicker
@times("64", 2.0)
def test_a_mug_hangs_on_a_hook(precision, seconds):
    """It swings, and the bar stays in its handle, whose middle is 52 mm from the mug's own."""
    spec = mug_on_hook()
    places, _, energy = watched(spec, seconds, precision)
    away = np.linalg.norm(places[:, 0] - [0, 0, 0.5], axis=1)
    assert away.max() < 0.1 and places[:, 0, 2].min() > 0.4
    no_energy_from_nowhere(energy, mass_of(spec))


@pytest.mark.slow
@times("64", 1.0)
def test_bowls_lie_in_one_another(precision, seconds):
    """Each is as high as the ones below hold it: 94 and 84 mm inside, 90 and 80 mm outside, with flat bottoms."""
    spec = nested_bowls()
    places, speeds, energy = watched(spec, seconds, precision)
    flat = np.cos(np.pi / 18)
    heights = [0.1 * flat, (0.1 - 0.094 + 0.09) * flat, (0.1 - 0.094 + 0.09 - 0.084 + 0.08) * flat]
    assert (places[-1, :, 2] > np.array(heights) - 1e-3).all() and (places[-1, :, 2] < np.array(heights) + 5e-3).all()
    assert np.abs(places[-1, :, :2]).max() < 0.01 and np.abs(speeds[-1]).max() < 0.1
    no_energy_from_nowhere(energy, mass_of(spec))


@times("32", 2.0)
def test_a_chain_hangs_by_contact_alone(precision, seconds):
    """Each link hangs 46 mm below the one above: 60 mm and the thickness of 14 mm, twice."""
    spec = chain_of_links()
    places, _, energy = watched(spec, seconds, precision)
    below = np.diff(np.concatenate([np.full((len(places), 1), 1.0), places[:, :, 2]], axis=1), axis=1)
    assert np.abs(below + 0.046).max() < 1e-3 and np.abs(places[:, :, :2]).max() < 0.01
    no_energy_from_nowhere(energy, mass_of(spec))


@pytest.mark.slow  # its fields alone take half a minute, once
@pytest.mark.parametrize("precision", ["64", "32"])
def test_a_nut_turns_down_its_bolt(precision):
    """The nut falls by its weight, 2 mm a turn, to the bolt's head, on which it lies; it is 13 mm high.

    The lead is the way over the angle that it has turned: single speeds also have those of its play, 0.1 mm.
    """
    spec, look = nut_on_bolt(), 0.02
    places, speeds, energy = watched(spec, 60.0, precision, look=look)
    assert np.linalg.norm(places[:, 0, :2], axis=1).max() < 0.5e-3
    falling = np.flatnonzero((places[:, 0, 2] < 0.014) & (places[:, 0, 2] > 0.009))
    turned = np.trapezoid(speeds[falling, 5], dx=look)
    lead = np.ptp(places[falling, 0, 2]) / abs(turned) * 2 * np.pi
    assert len(falling) > 5 and lead == pytest.approx(2e-3, rel=0.01)
    assert places[-1, 0, 2] == pytest.approx(0.0065, abs=1e-4) and np.abs(speeds[-1]).max() < 1e-3
    no_energy_from_nowhere(energy, mass_of(spec))


def on_rough_ground():
    """A star and two rings above heights of up to 60 mm, 50 mm apart."""
    spec = scene(ring=solids.torus(0.2, 0.06, 32, 16), star=solids.star(0.3, 0.12, 0.1))
    heights = np.random.default_rng(0).random((41, 41))
    spec.add_hfield(name="ground", nrow=41, ncol=41, size=[1, 1, 0.06, 0.5], userdata=heights.ravel())
    spec.worldbody.add_geom(type=G.mjGEOM_HFIELD, hfieldname="ground")
    for k, name in enumerate(("ring", "star", "ring")):
        free(spec, name, [0.55 * k - 0.55, 0.3 * (k % 2), 0.4], [1, 0.3, 0.2 * k, 0], solref=[0.008, 1])
    return spec


@times("64", 1.5)
def test_they_lie_on_rough_ground(precision, seconds):
    """No point of a surface is deeper than a millimetre below the ground, by MuJoCo's rays; all but creeping stops."""
    spec = on_rough_ground()
    run_with(precision)
    model = Model.from_mjspec(spec)
    solver, data = RigidSolver(model, 1, lanes=WIDTH), mujoco.MjData(model.mj)
    solver.step(round(seconds / spec.option.timestep))
    assert not solver.any_fault and solver.qvel.abs().max() < 0.05
    data.qpos[:] = solver.qpos[0].double().numpy()
    mujoco.mj_kinematics(model.mj, data)
    mujoco.mj_comPos(model.mj, data)
    depths, groups = [], np.array([1, 0, 0, 0, 0, 0], np.uint8)
    model.mj.geom_group[1:] = 1
    for g in range(1, model.mj.ngeom):
        mesh = model.mj.geom_dataid[g]
        first = model.mj.mesh_vertadr[mesh]
        points = model.mj.mesh_vert[first : first + model.mj.mesh_vertnum[mesh]].astype(float)
        for point in points @ data.geom_xmat[g].reshape(3, 3).T + data.geom_xpos[g]:
            above = np.array([point[0], point[1], 1.0])
            down = mujoco.mj_ray(
                model.mj, data, above, np.array([0, 0, -1.0]), groups, 1, -1, np.zeros(1, np.int32), None
            )
            depths.append((1.0 - down) - point[2])
    assert -0.003 < max(depths) < 0.001


def heap():
    """Rings, a star and a box that fall onto one another, and onto a plane."""
    spec = scene(ring=solids.torus(0.06, 0.02, 24, 12), star=solids.star(0.1, 0.04, 0.05))
    spec.worldbody.add_geom(type=G.mjGEOM_PLANE, size=[3, 3, 1])
    for k in range(3):
        free(spec, "ring" if k else "star", [0.01 * k, 0, 0.1 + 0.07 * k], [1, 0.2 * k, 0.1, 0])
    body = spec.worldbody.add_body(pos=[0.02, 0, 0.4])
    body.add_freejoint()
    body.add_geom(type=G.mjGEOM_BOX, size=[0.03, 0.05, 0.02])
    spec.option.timestep = 0.002
    return Model.from_mjspec(spec)


def moved(count, break_one=False, seed=0, lanes=None):
    """Coordinates and speeds (count, numbers) of environments that begin apart from one another, after 0.5 s."""
    solver = RigidSolver(heap(), count, lanes=lanes) if lanes else RigidSolver(heap(), count)
    speed = np.random.default_rng(seed).standard_normal((8, solver.model.mj.nv)) * 0.3
    solver.set_state(qvel=torch.as_tensor(speed[:count], dtype=solver.dtype))
    if break_one:
        broken = solver.qvel[1:2]
        broken[0, 0] = torch.nan
        solver.set_state(qvel=broken, envs_idx=[1])
    solver.step(250)
    return torch.cat([solver.qpos, solver.qvel], 1)


def test_neighbours_and_a_broken_environment_change_no_bit():
    run_with("32")
    eight = moved(8)
    assert torch.isfinite(eight).all() and len(torch.unique(eight, dim=0)) == 8
    assert torch.equal(moved(3), eight[:3])
    broken = moved(8, break_one=True)
    assert torch.equal(broken[[0, 2, 3, 4, 5, 6, 7]], eight[[0, 2, 3, 4, 5, 6, 7]])


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["32", "64"])
def test_the_gpu_driver_has_the_same_bits(precision):
    run_with(precision)
    expected = moved(5)
    run_in_columns(precision=precision)
    assert torch.equal(moved(5), expected)


@pytest.mark.slow
def test_environments_have_numbers_of_their_own():
    """A box and a friction of one environment: as in a model that is compiled with them."""
    run_with("64")
    model = heap()
    box = int(np.flatnonzero(model.mj.geom_type == int(G.mjGEOM_BOX))[0])
    size, friction = np.tile(model.mj.geom_size, (2, 1, 1)), np.tile(model.mj.geom_friction, (2, 1, 1))
    size[1, box], friction[1, :, 0] = [0.04, 0.03, 0.03], 0.3
    solver = RigidSolver(model, 2)
    solver.set_parameters("geom_size", size)
    solver.set_parameters("geom_friction", friction)
    mjm = model.editable()
    mjm.geom_size[:], mjm.geom_friction[:] = size[1], friction[1]
    mjm.geom_rbound[box] = np.linalg.norm(size[1, box])
    mjm.geom_aabb[box, 3:] = size[1, box]
    other = RigidSolver(Model.from_mjmodel(mjm), 1)
    for _ in range(10):
        solver.step(20)
        other.step(20)
        assert torch.allclose(solver.qpos[1], other.qpos[0], atol=1e-6)
    assert not torch.allclose(solver.qpos[0], solver.qpos[1], atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("build", [chain_of_links, ring_on_peg, on_rough_ground])
def test_every_broad_phase_has_the_same_bits(build):
    run_with("64")
    found = []
    for way in ("pairs", "sweep", "grid"):
        solver = RigidSolver(Model.from_mjspec(build(), broad_phase=way), 2)
        solver.step(400)
        found.append(torch.cat([solver.qpos, solver.qvel], 1))
    assert torch.equal(found[0], found[1]) and torch.equal(found[0], found[2])
