"""Matter in scenes: entities of particles, emitters, states, and what is refused, in a sentence each."""

import subprocess
import sys

import numpy as np
import pytest
import torch
import trimesh

import tumble.scene as gs
from tumble.physics.machine.runtime import init
from tumble.physics.run.interface import ClosedSolverError
from tumble.viewer.particles import groups_of

from ..cases import cases

MPM = gs.materials.MPM
BOUNDS = {"lower_bound": (-0.5, -0.5, 0.0), "upper_bound": (0.5, 0.5, 1.0), "grid_density": 16}
SIM = gs.options.SimOptions(dt=4e-3, substeps=4)


@pytest.fixture(scope="module", autouse=True)
def single_precision():
    init(precision="32")


def scene_of(**more):
    """A scene in cells of 1/16 m, in steps of 1 ms."""
    return gs.Scene(sim_options=SIM, mpm_options=gs.options.MPMOptions(**BOUNDS), **more)


def matter_scene(n_envs=3, build=True):
    """A block of jelly, a ball of water, and an emitter; 125, 81 and 60 particles."""
    scene = scene_of()
    scene.add_entity(MPM_BOX, material=MPM.Elastic(), name="jelly")
    scene.add_entity(gs.morphs.Sphere(pos=(-0.2, 0.1, 0.3), radius=0.1), material=MPM.Liquid(), name="water")
    scene.add_emitter(MPM.Liquid(sampler="random"), max_particles=60)
    if build:
        scene.build(n_envs=n_envs)
    return scene


MPM_BOX = gs.morphs.Box(pos=(0.2, 0.1, 0.3), size=(0.2, 0.2, 0.2), euler=(0, 0, 90))


@pytest.fixture(scope="module")
def built():
    """A scene of three environments, which tests put back."""
    return matter_scene()


@pytest.fixture
def scene(built):
    built.reset()
    return built


def test_particles_have_places_and_numbers(scene):
    jelly, water, drops = scene.entities
    assert [type(each).__name__ for each in scene.entities] == ["MPMEntity"] * 3
    assert (jelly.n_particles, water.n_particles, drops.n_particles) == (125, 81, 60)
    assert (water.particle_start, water.particle_end, drops.particle_start) == (125, 206, 206)
    assert jelly.particle_size == scene.mpm_solver.particle_size == 0.04 == pytest.approx(0.64 / 16)
    assert jelly.get_particles_pos().shape == jelly.get_particles_vel().shape == (3, 125, 3)
    assert water.get_particles_active().shape == (3, 81) and water.get_particles_active().all()
    assert not drops.get_particles_active().any()
    assert water.get_particles_pos(envs_idx=[2, 0]).shape == (2, 81, 3)
    assert np.allclose(jelly.get_particles_pos()[1].mean(0), (0.2, 0.1, 0.3), atol=1e-6)
    assert np.array_equal(jelly.get_particles_pos()[0].numpy(), jelly.init_particles)


def test_masses_are_those_of_shapes(scene):
    """Oracle: density times the volume of the shape, whatever the number of particles is."""
    jelly, water, drops = scene.entities
    assert jelly.get_mass() == pytest.approx([8.0] * 3, rel=1e-5)
    assert water.get_mass(envs_idx=1) == pytest.approx([1000 * 4 / 3 * np.pi * 1e-3], rel=1e-5)
    assert drops.get_mass().tolist() == [0.0] * 3


def test_setters_take_particles_and_environments(scene):
    jelly, water, _ = scene.entities
    before = water.get_particles_pos()
    jelly.set_particles_pos([[0.1, 0.0, 0.5], [0.2, 0.0, 0.5]], [3, -1 + 125], envs_idx=[0, 2])
    assert jelly.get_particles_pos()[:, 3, 2].tolist() == pytest.approx([0.5, jelly.init_particles[3, 2], 0.5])
    assert torch.equal(water.get_particles_pos(), before)
    jelly.set_particles_vel((0.0, 0.0, 1.5), slice(0, 4), envs_idx=1)
    assert jelly.get_particles_vel()[:, :, 2].sum(1).tolist() == [0.0, 6.0, 0.0]
    jelly.set_particles_active(False, np.arange(125) < 5)
    assert jelly.get_particles_active().sum(1).tolist() == [120] * 3
    assert jelly.get_mass() == pytest.approx([8.0 * 120 / 125] * 3, rel=1e-5)
    water.deactivate(envs_idx=2)
    assert water.get_particles_active().sum(1).tolist() == [81, 81, 0]
    water.activate()
    assert water.get_particles_active().all()


def test_a_whole_is_put_somewhere_at_rest(scene):
    jelly = scene.entities[0]
    for _ in range(5):
        scene.step()
    jelly.set_position((0.0, 0.0, 0.6))
    start = jelly.init_particles + np.array([-0.2, -0.1, 0.3])
    assert np.allclose(jelly.get_particles_pos()[2], start, atol=1e-6)
    state = jelly.get_state()
    assert not (state.vel.any() or state.C.any() or state.strain.any() or state.volume.any()) and state.active.all()
    assert state.C.shape == (3, 125, 3, 3) and state.strain.shape == (3, 125, 6) and state.entity is jelly
    jelly.set_position([[0.0, 0.0, 0.5], [0.1, 0.0, 0.5]], envs_idx=[0, 1])
    assert jelly.get_particles_pos().mean(1)[:, 0].tolist() == pytest.approx([0.0, 0.1, 0.0], abs=1e-6)
    jelly.set_position(jelly.init_particles)
    jelly.set_velocity((1.0, 0.0, 0.0))
    scene.step()
    assert jelly.get_particles_pos().mean(1)[:, 0].tolist() == pytest.approx([0.204] * 3, abs=1e-5)


def test_particles_are_found(scene):
    jelly = scene.entities[0]
    corner = jelly.init_particles[7]
    assert jelly.find_closest_particle(corner + 0.001).tolist() == [7, 7, 7]
    inside = jelly.get_particles_in_bbox((0.1, 0.0, 0.2), (0.3, 0.2, 0.28))
    assert inside.shape == (3, 125) and inside.sum(1).tolist() == [50] * 3


def test_tensors_have_genesis_names(scene):
    solver = scene.mpm_solver
    assert solver.particles.pos.to_torch().shape == (266, 3, 3) and solver.particles.C.shape == (266, 3, 3, 3)
    assert torch.equal(solver.particles.pos.to_torch().transpose(0, 1), solver.pos)
    assert solver.particles_ng.active.to_torch().sum(0).tolist() == [206] * 3
    assert solver.particles_info.material_idx.to_torch().bincount().tolist() == [125, 81, 60]
    assert torch.equal(solver.particles_render.vel.to_torch(), solver.particles.vel.to_torch())
    assert solver.n_particles == 266 and solver.dx == 1 / solver.grid_density == 0.0625
    assert scene.solvers == [scene.rigid_solver, solver] and solver.entities == scene.entities
    assert solver.lower_bound.tolist() == [-0.5, -0.5, 0.0] and solver.particle_radius == 0.02


def test_without_a_batch_tensors_have_no_dimension_of_it():
    scene = matter_scene(0)
    jelly = scene.get_entity("jelly")
    assert jelly.get_particles_pos().shape == (125, 3) and jelly.get_mass().shape == ()
    assert jelly.get_state().C.shape == (125, 3, 3) and int(jelly.find_closest_particle((0.2, 0.1, 0.3))) == 62
    jelly.set_particles_vel(torch.zeros(125, 3))
    with pytest.raises(ValueError, match="this scene was built without a batch"):
        jelly.get_particles_pos(envs_idx=0)
    scene.emitters[0].emit("sphere", 0.1, 0.1, pos=(0, 0, 0.6))
    assert scene.emitters[0].next_particle == scene.emitters[0].entity.get_particles_active().sum() > 3
    scene.close()
    with pytest.raises(ClosedSolverError):
        jelly.get_particles_pos()


# -- states


def run(scene, steps):
    """All positions after some steps, in each of which the emitter is asked."""
    for _ in range(steps):
        scene.emitters[0].emit("circle", 0.1, pos=(0.0, -0.2, 0.6), speed=3.0)
        scene.step()
    return scene.mpm_solver.pos.clone(), scene.mpm_solver.active.clone()


def same(first, second):
    return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_states_go_on_to_the_bit(scene, tmp_path):
    run(scene, 5)
    state = scene.get_state()
    scene.save_checkpoint(tmp_path / "matter.pt")
    scene.export(tmp_path / "matter.json")
    later = run(scene, 10)
    scene.reset(state)
    assert same(run(scene, 10), later)
    scene.load_checkpoint(tmp_path / "matter.pt")
    assert same(run(scene, 10), later)
    other = gs.Scene.load_checkpoint(tmp_path / "matter.pt")
    assert same(run(other, 10), later) and other.entity_names == scene.entity_names and len(other.emitters) == 1
    again = gs.Scene.load(tmp_path / "matter.json")
    scene.reset()
    assert same(run(again, 3), run(scene, 3))
    for each in (other, again):
        each.close()


def test_environments_are_reset_alone(scene):
    """What is reset has the bits of a scene that begins; the others have those that they would have had."""
    start = run(scene, 6)
    both = run(scene, 6)
    scene.reset()
    run(scene, 6)
    scene.reset(envs_idx=[1])
    assert scene.emitters[0].next_particle.tolist()[1] == 0
    mixed = run(scene, 6)
    assert all(torch.equal(mixed[k][1], start[k][1]) for k in (0, 1))
    assert all(torch.equal(mixed[k][[0, 2]], both[k][[0, 2]]) for k in (0, 1))
    state = scene.get_state(envs_idx=[1])
    scene.reset(state)  # of one environment: all get it
    assert torch.equal(scene.mpm_solver.pos[0], mixed[0][1]) and len(set(scene.emitters[0].memory[:, 0])) == 1


def test_an_environment_has_its_bits_in_any_batch(scene):
    alone = matter_scene(1)
    assert torch.equal(run(scene, 8)[0][2], run(alone, 8)[0][0])
    alone.close()


def test_a_broken_environment_is_stopped_in_both(scene):
    jelly = scene.entities[0]
    before = jelly.get_particles_pos()[1].clone()
    jelly.set_particles_vel((1e6, 0, 0), envs_idx=[1])
    scene.step()
    assert scene.mpm_solver.faults.tolist() == [0, 1, 0]
    assert torch.equal(jelly.get_particles_pos()[1], before) and not torch.equal(jelly.get_particles_pos()[0], before)
    scene.reset(envs_idx=[1])
    scene.step()
    assert scene.mpm_solver.faults.tolist() == [0, 0, 0]


def test_states_of_other_matter_are_refused(scene, tmp_path):
    scene.save_checkpoint(tmp_path / "matter.pt")
    other = scene_of()
    other.add_entity(MPM_BOX, material=MPM.Liquid(), name="jelly")
    other.build(n_envs=3)
    with pytest.raises(ValueError, match="state: its matter is other matter, or has other options"):
        other.reset(scene.get_state())
    with pytest.raises(ValueError, match="saved from another scene"):
        other.load_checkpoint(tmp_path / "matter.pt")
    bare = gs.Scene(sim_options=SIM)
    bare.build(n_envs=3)
    with pytest.raises(ValueError, match="state: it has matter, unlike this scene"):
        bare.reset(scene.get_state())
    with pytest.raises(ValueError, match="state: it has no matter, unlike this scene"):
        scene.reset(bare.get_state())
    for each in (other, bare):
        each.close()


# -- emitters


def test_an_emitter_takes_the_oldest_particles_again(scene):
    emitter = scene.emitters[0]
    drops = emitter.entity
    emitter.emit("square", 0.08, 0.12, pos=(0, 0, 0.6), direction=(1, 0, 0), speed=2.0)  # 2 x 2 x 3
    assert drops.get_particles_active().sum(1).tolist() == [12] * 3 and emitter.next_particle == 12
    places = drops.get_particles_pos()[0, :12]
    assert np.allclose(places.numpy().mean(0), (0, 0, 0.6), atol=0.02)
    assert places[:, 0].max() - places[:, 0].min() > places[:, 2].max() - places[:, 2].min()
    assert drops.get_particles_vel()[0, :12].tolist() == [pytest.approx([2.0, 0, 0])] * 12
    for _ in range(3):
        emitter.emit("square", 0.08, 0.12, pos=(0, 0, 0.6))
    assert emitter.next_particle == 48
    emitter.emit("square", 0.08, 0.12, pos=(0, 0, 0.6), envs_idx=[0, 2])
    assert emitter.next_particle.tolist() == [0, 48, 0]  # full in two environments: they begin again
    assert drops.get_particles_active().sum(1).tolist() == [60, 48, 60]
    emitter.emit("square", 0.08, 0.12, pos=(0.2, 0, 0.6))
    assert drops.get_particles_active().sum(1).tolist() == [60, 60, 60]
    emitter.reset(envs_idx=1)
    assert emitter.next_particle.tolist() == [12, 0, 12]


def test_droplets_are_as_long_as_a_step_takes_them(scene):
    """0.04 m at 2 m/s in steps of 4 ms: in each fifth step a droplet, and the rest waits."""
    emitter = scene.emitters[0]
    there = []
    for _ in range(11):
        emitter.emit("rectangle", (0.08, 0.04), speed=2.0, pos=(0, 0, 0.6), theta=0.5)
        there.append(int(emitter.entity.get_particles_active()[0].sum()))
    assert there == [0, 0, 0, 0, 2, 2, 2, 2, 2, 4, 4]


def test_a_ball_of_particles_flies_apart(scene):
    emitter = scene.emitters[0]
    emitter.emit_omni(source_radius=0.08, pos=(0.1, 0, 0.5), speed=1.5)
    count = emitter.next_particle
    where = emitter.entity.get_particles_pos()[0, :count] - torch.tensor([0.1, 0, 0.5])
    speed = emitter.entity.get_particles_vel()[0, :count]
    assert count > 20 and (where.norm(dim=1) >= 0.4 * 0.08 - 1e-6).all() and (where.norm(dim=1) <= 0.08 + 1e-6).all()
    assert torch.allclose(speed, 1.5 * where / where.norm(dim=1, keepdim=True), atol=1e-4)


@cases(
    "call, message",
    [
        (lambda e: e.emit("star", 0.1), "emit: droplet_shape='star'"),
        (lambda e: e.emit("circle", (0.1, 0.2)), "droplet_size"),
        (lambda e: e.emit("circle", 0.1, direction=(0, 0, 0)), "direction=.*: it must have a length"),
        (
            lambda e: e.emit("sphere", 0.3, 0.3, pos=(0, 0, 0.5)),
            "emit: a droplet of .* particles, and the emitter has 60",
        ),
        (lambda e: e.emit("sphere", 0.1, 0.1, pos=(0, 0, 5)), "emit: the droplet reaches from .*, beyond the bounds"),
        (lambda e: e.emit_omni(source_radius=-1), "source_radius=-1: it must be above 0"),
    ],
)
def test_impossible_droplets_are_refused(scene, call, message):
    with pytest.raises(ValueError, match=message):
        call(scene.emitters[0])
    assert not scene.emitters[0].entity.get_particles_active().any() and scene.emitters[0].next_particle == 0


# -- errors


@cases(
    "morph, material, message",
    [
        (gs.morphs.Box(size=(1, 1, 1), pos=(0, 0, 0.5)), {"rho": 0.0}, "Elastic: rho=0: expected a number above 0"),
        (gs.morphs.Box(size=(1, 1, 1)), {}, "matter 'x' reaches from .* beyond the bounds .* widen lower_bound"),
        (gs.morphs.Box(size=(50, 50, 50)), {}, "would have 1.95e.09 particles, and 16,777,216 are the most"),
        (gs.morphs.Nowhere(n_particles=10**9), {}, "would have 1e.09 particles"),
        (gs.morphs.Box(size=(0.2,) * 3, pos=(0, 0, 0.5)), {"E": 1e9}, "a step of 0.001 s is too long .* at most"),
        (gs.morphs.Box(size=(0.2,) * 3, pos=(0, 0, 0.5)), {"nu": 0.5}, "Elastic: nu=0.5: expected"),
        (gs.morphs.Box(size=(0.2,) * 3, pos=(0, 0, 0.5)), {"model": "cloth"}, "model='cloth': expected"),
        (gs.morphs.Box(size=(0.2,) * 3, pos=(0, 0, 0.5)), {"sampler": "poisson"}, "sampler='poisson'; there are"),
    ],
)
def test_impossible_matter_is_refused(morph, material, message):
    with pytest.raises(ValueError, match=message):
        scene_of().add_entity(morph, material=MPM.Elastic(**material), name="x")


def test_morphs_that_are_no_shape_are_refused(tmp_path):
    scene = scene_of()
    with pytest.raises(
        TypeError, match="entity 'x': matter fills no Plane; it fills Box, Sphere, Cylinder, Mesh, Nowhere"
    ):
        scene.add_entity(gs.morphs.Plane(), material=MPM.Sand(), name="x")
    with pytest.raises(TypeError, match="a scene cannot build a Nowhere"):
        scene.add_entity(gs.morphs.Nowhere(n_particles=3))
    with pytest.raises(ValueError, match="matter has one shape in all environments"):
        scene.add_entity([MPM_BOX, MPM_BOX], material=MPM.Sand())
    box = trimesh.creation.box((0.2, 0.2, 0.2))
    trimesh.Trimesh(box.vertices, box.faces[:-2], process=False).export(tmp_path / "open.obj")
    with pytest.raises(ValueError, match=r"entity 'x', '.*open.obj': it is not closed: 4 of its edges"):
        scene.add_entity(gs.morphs.Mesh(file=tmp_path / "open.obj"), material=MPM.Sand(), name="x")
    box.export(tmp_path / "box.obj")
    mesh = gs.morphs.Mesh(file=tmp_path / "box.obj", scale=0.5, pos=(0, 0, 0.5), euler=(0, 0, 45))
    filled = scene.add_entity(mesh, material=MPM.Elastic())
    assert np.allclose(filled.init_particles.mean(0), (0, 0, 0.5), atol=1e-3)
    assert filled.matter.volume * filled.n_particles == pytest.approx(1e-3, rel=1e-4)
    assert not scene.entity_names[1:]  # what was refused is not there


def test_what_is_not_here_is_refused_with_the_nearest():
    for call, message in (
        (lambda: gs.materials.SPH.Liquid(), "materials.SPH.Liquid is not in Tumble: use MPM.Liquid"),
        (lambda: gs.materials.MPM.Muscle(), "materials.MPM.Muscle is not in Tumble: use MPM.Elastic"),
        (lambda: gs.materials.FEM.Elastic(), "materials.FEM.Elastic is not in Tumble: use MPM.Elastic"),
        (lambda: gs.materials.PBD.Cloth(), "materials.PBD.Cloth is not in Tumble"),
        (lambda: gs.materials.SF.Smoke(), "materials.SF.Smoke is not in Tumble"),
        (lambda: gs.materials.Hybrid(), "materials.Hybrid is not in Tumble: use Rigid"),
        (lambda: gs.materials.Tool(), "materials.Tool is not in Tumble: use Rigid"),
        (lambda: gs.options.SPHOptions(), "options.SPHOptions is not in Tumble: use MPMOptions"),
        (lambda: gs.materials.Wood(), "has no attribute 'Wood'"),
        (lambda: gs.options.Wood(), "has no attribute 'Wood'"),
    ):
        with pytest.raises(AttributeError, match=message):
            call()
    with pytest.raises(NotImplementedError, match="enable_CPIC=True: thin bodies do not divide matter"):
        gs.options.MPMOptions(enable_CPIC=True)
    with pytest.raises(AttributeError, match="MPMEntity has no attribute 'set_particle_constraints': no springs hold"):
        matter_scene(build=False).entities[0].set_particle_constraints  # noqa: B018
    with pytest.raises(ValueError, match="Snow: use_von_mises=True"):
        MPM.Snow(use_von_mises=True)
    with pytest.raises(TypeError, match="Base is the base of materials"):
        MPM.Base()


def test_calls_come_in_their_order():
    scene = matter_scene(build=False)
    with pytest.raises(gs.SceneOrderError, match=r"entity 'jelly': call scene.build\(\) first"):
        scene.entities[0].get_particles_pos()
    with pytest.raises(gs.SceneOrderError, match=r"entity 'emitter_2': call scene.build\(\) first"):
        scene.emitters[0].emit("sphere", 0.1)
    with pytest.raises(TypeError, match=r"add_emitter: material=Rigid\(.*expected one of materials.MPM"):
        scene.add_emitter(gs.materials.Rigid())
    bare = gs.Scene()
    bare.build()
    with pytest.raises(gs.SceneOrderError, match="mpm_solver: the scene has no matter"):
        bare.mpm_solver  # noqa: B018
    with pytest.raises(gs.SceneOrderError, match="add_emitter: the scene is built already"):
        bare.add_emitter(MPM.Liquid())
    assert bare.emitters == [] and bare.solvers == [bare.rigid_solver] and bare.particle_groups == []
    bare.close()


def test_indices_that_do_not_exist_are_refused(scene):
    jelly = scene.entities[0]
    with pytest.raises(
        IndexError, match="entity 'jelly': particles_idx_local: there is no 125; they are numbered 0 to 124"
    ):
        jelly.set_particles_vel((0, 0, 0), [125])
    with pytest.raises(IndexError, match="there is no environment 3"):
        jelly.get_particles_pos(envs_idx=3)
    with pytest.raises(ValueError, match="vel: expected shape"):
        jelly.set_particles_vel(torch.zeros(7, 3))
    with pytest.raises(ValueError, match=r"pos: particle .* is outside of the bounds"):
        jelly.set_position((5.0, 0.0, 0.5))


def test_lame_parameters_replace_moduli():
    """Oracle: lam = E nu / (1 + nu)(1 - 2 nu), mu = E / 2 (1 + nu)."""
    found = MPM.Elastic(lam=2e5, mu=1e5).matter()
    assert (found.lam, found.mu) == pytest.approx((2e5, 1e5))
    usual, found = MPM.Elastic().matter(), MPM.Elastic(lam=2e5).matter()
    assert (found.lam, found.mu) == pytest.approx((2e5, usual.mu))
    with pytest.raises(ValueError, match="expected mu and 3 lam"):
        MPM.Elastic(mu=-1.0)


def test_what_touches_no_matter_says_so():
    """Sensors, shapes of environments' own, modes of drawing."""
    scene = scene_of()
    jelly = scene.add_entity(MPM_BOX, material=MPM.Elastic(), name="jelly")
    with pytest.raises(ValueError, match="IMU: entity_idx=0: 'jelly' is matter, which carries no sensors"):
        scene.add_sensor(gs.sensors.IMU(entity_idx=jelly.idx))
    with pytest.raises(ValueError, match="vis_mode='collision': of matter it is"):
        scene.add_entity(MPM_BOX, material=MPM.Elastic(), vis_mode="collision")
    with pytest.raises(ValueError, match="vis_mode='recon': of a rigid body it is"):
        scene.add_entity(gs.morphs.Sphere(radius=0.1), vis_mode="recon")
    with pytest.raises(ValueError, match="the contacts of matter are no points"):
        scene.add_entity(MPM_BOX, material=MPM.Elastic(), visualize_contact=True)
    balls = [gs.morphs.Sphere(radius=radius, pos=(2, 0, 1)) for radius in (0.1, 0.2)]
    scene.add_entity(balls, name="balls")
    with pytest.raises(ValueError, match="entity 'balls': matter touches no shapes that differ between environments"):
        scene.build(n_envs=2)


def test_matter_is_drawn_with_its_surface(scene):
    groups = groups_of(scene)()
    assert [len(group.radii(torch.float32)) for group in groups] == [125, 81, 60]
    assert groups[2].rgba == (0.6, 0.8, 1.0, 1.0) and not groups[2].there().any() and groups[0].there().all()
    assert torch.equal(groups[1].centers, scene.get_entity("water").get_particles_pos())
    assert float(groups[0].radius) == pytest.approx(0.02)


def test_scenes_without_matter_know_nothing_of_it():
    """No module of `tumble.soft` is imported, and the model has no wrench of matter."""
    program = (
        "import sys, tumble.scene as gs\n"
        "gs.init(precision='32')\n"
        "scene = gs.Scene()\n"
        "scene.add_entity(gs.morphs.Sphere(radius=0.1, pos=(0, 0, 1)))\n"
        "assert not scene.compile().matter\n"
        "found = [name for name in sys.modules if name.startswith(('tumble.soft', 'tumble.scene.matter'))]\n"
        "assert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
