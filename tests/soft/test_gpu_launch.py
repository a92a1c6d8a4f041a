"""Matter by kernels of Taichi, on a processor: the numbers of the compiled code, and the same bits in any batch."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.soft import Elastic, ElastoPlastic, Liquid, Matter, MPMSolver, Sand, Snow
from tumble.soft.coupling.coupler import _touched
from tumble.soft.mpm.batch import Touched
from tumble.soft.mpm.contact.touching import KINDS
from tumble.soft.mpm.gpu import launch as gpu_launch
from tumble.soft.mpm.gpu.launch import DeviceLaunch
from tumble.soft.mpm.gpu.words import FASTEST, HEAVIEST, MOST_BITS, scale_bits
from tumble.soft.mpm.kernels.launch import CompiledLaunch
from tumble.soft.mpm.kernels.layout import BODY_NUMBERS

from ..physics.starts import run_in_columns, run_with
from .scenes import coupled, matter_of

DENSITY, DT, STEPS = 32.0, 3e-4, 100
SOFT, STIFF = {"E": 1e5}, {"E": 3e5}
MATERIALS = {
    "corotated": Elastic(**SOFT),
    "neo_hookean": Elastic(model="neohooken", **SOFT),
    "clipped": ElastoPlastic(use_von_mises=False, **SOFT),
    "von_mises": ElastoPlastic(von_mises_yield_stress=2000.0, **SOFT),
    "liquid": Liquid(nu=0.3, viscosity=1.0, **SOFT),
    "sand": Sand(friction_angle=35.0, **STIFF),
    "snow": Snow(**STIFF),
}
CLOSE = {"pos": 2e-6, "vel": 2e-5, "C": 4e-5, "strain": 5e-5, "volume": 2e-5, "wrenches": 1e-5}
"""Differences, relative to the largest number of the kind. Both sides round to 6e-8 in each operation, in another
order: sums over nodes, and functions, which are right to 1e-7. A substep adds some of these to a velocity; they add up
like random numbers, to ten times as much after a hundred substeps. Found: 0.6, 7, 13, 17, 7 and 3 millionths."""
GEOMS = {
    "plane": 'type="plane" size="1 1 1"',
    "sphere": 'size=".1"',
    "capsule": 'type="capsule" size=".05 .1"',
    "ellipsoid": 'type="ellipsoid" size=".09 .14 .1"',
    "cylinder": 'type="cylinder" size=".08 .1"',
    "box": 'type="box" size=".08 .1 .09"',
    "mesh": 'type="mesh" mesh="wedge"',
    "hfield": 'type="hfield" hfield="hills"',
}
FIXED_KINDS = ("plane", "hfield")
"""Kinds of geoms that MuJoCo has on the world only."""


def block(material, low, n=6, velocity=(0.0, 0.0, -1.0), **more):
    """A cube of n particles a side with its lowest corner somewhere, eight particles in a cell."""
    side = 0.5 / DENSITY
    grid = np.stack(np.meshgrid(*[np.arange(n) + 0.5] * 3, indexing="ij"), -1).reshape(-1, 3)
    return Matter("block", material, grid * side + low, side**3, velocity=velocity, **more)


def solver_of(*matters, envs=2):
    """A solver in a box of a metre."""
    return MPMSolver(matters, envs, (0, 0, 0), (1, 1, 1), DENSITY, DT)


def scatter(solver):
    """Give environments states of their own: velocities, affine ones, and strain."""
    rng = np.random.default_rng(0)
    for name, size in (("vel", 0.5), ("C", 5.0), ("strain", 0.01)):
        before = solver.get(name)
        noise = np.stack([rng.normal(0, size, before.shape[1:]) for _ in range(solver.num_envs)])
        solver.set(name, before + torch.as_tensor(noise, dtype=before.dtype, device=before.device))


def numbers_of(solver):
    """All that a launch changes."""
    return {name: solver.get(name) for name in ("pos", "vel", "C", "strain", "volume")}


def assert_close(found, expected, close=CLOSE):
    for name, one in expected.items():
        size = one.abs().max()
        assert found[name].isfinite().all()
        error = float((found[name] - one).abs().max() / size) if size > 0 else 0.0
        print(f"{name} {error:.1e}")
        assert error <= close[name], name


def on_both(live):
    """What a function finds with the compiled launch, and with the kernels in columns."""
    run_with("32")
    expected = live(CompiledLaunch)
    run_in_columns()
    return live(DeviceLaunch), expected


@pytest.mark.parametrize("law", MATERIALS)
def test_every_law_is_that_of_the_compiled_code(law):
    """A block that is thrown against the floor and a wall, as its neighbours are that lie on the floor."""

    def live(kind):
        thrown = block(MATERIALS[law], (0.02, 0.4, 0.05), velocity=(-1.0, 0.2, -1.0))
        lying = block(MATERIALS[law], (0.4, 0.4, 0.0), velocity=(0.0, 0.0, 0.0))
        solver = solver_of(thrown, lying)
        assert isinstance(solver._launch, kind)
        scatter(solver)
        solver.set_gravity([(0.0, 0.0, -9.81), (3.0, 0.0, -20.0)])
        solver.step(STEPS)
        assert not solver.faults.any()
        return numbers_of(solver) | {"held": solver.held}

    found, expected = on_both(live)
    assert torch.equal(found.pop("held"), expected.pop("held"))
    if law != "liquid":
        assert expected["strain"].abs().max() > 1e-3
    assert_close(found, expected)


def scene_of(kind):
    """A model with a geom that stands still and one whose body recoils, of a kind."""
    moving = (
        "" if kind in FIXED_KINDS else f'<body pos=".68 .5 .3"><freejoint/><geom {GEOMS[kind]} euler="5 50 9"/></body>'
    )
    tilt = "" if kind == "hfield" else 'euler="10 20 30"'
    return mujoco.MjModel.from_xml_string(f"""<mujoco><asset>
      <mesh name="wedge" vertex="-.1 -.1 -.1 .15 0 -.1 0 .15 -.1 0 0 .15 .15 .15 .15"/>
      <hfield name="hills" nrow="4" ncol="5" size=".3 .3 .08 .1"
        elevation="1 3 2 5 1  2 6 1 2 7  5 1 4 2 1  3 2 7 1 5"/>
      </asset><worldbody><geom {GEOMS[kind]} pos=".45 .5 .1" {tilt}/>{moving}</worldbody></mujoco>""")


def two_geoms():
    """A model with a box that stands still, and a ball whose body recoils."""
    return mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody><geom {GEOMS["box"]} pos=".45 .5 .1"/>
      <body pos=".6 .5 .12"><freejoint/><geom {GEOMS["sphere"]}/></body></worldbody></mujoco>""")


def touch(solver, mjm, restitution=0.1):
    """Let matter touch all geoms of a model, whose bodies move as they would without it."""
    data = mujoco.MjData(mjm)
    data.qvel[:] = 0.3
    mujoco.mj_forward(mjm, data)
    geoms, bodies = list(range(mjm.ngeom)), sorted({int(b) for b in mjm.geom_bodyid if b})
    given = {"friction": 0.3, "softness": 0.01, "restitution": restitution}
    numbers = {name: np.full(mjm.ngeom, x) for name, x in given.items()}
    touched = _touched(mjm, geoms, mjm.geom_bodyid, bodies, numbers, solver)
    poses = np.concatenate([data.geom_xpos, data.geom_xmat], 1)
    touched.poses[:] = torch.as_tensor(poses, dtype=torch.float32)
    for slot, body in enumerate(bodies):
        root = np.zeros((6, 6))
        root[:3, :3] = np.eye(3) / np.sqrt(mjm.body_mass[body])
        root[3:, 3:] = data.ximat[body].reshape(3, 3) / np.sqrt(mjm.body_inertia[body])
        row = {"com": data.xipos[body], "velocity": [0.3, 0, 0], "spin": [0, 0.5, 0], "acceleration": [0, 0, -9.81]}
        for name, numbers in (row | {"root": root.ravel()}).items():
            first = BODY_NUMBERS[name]
            touched.bodies[:, slot, first : first + len(numbers)] = torch.as_tensor(numbers, dtype=torch.float32)
    solver.touch(touched)
    return touched


def poured(kind, envs=2):
    """A solver with liquid above the geoms of a kind, and what it touches."""
    solver = solver_of(block(MATERIALS["liquid"], (0.4, 0.4, 0.2), n=12), envs=envs)
    scatter(solver)
    return solver, touch(solver, scene_of(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_contact_with_every_kind_of_geom_is_that_of_the_compiled_code(kind):
    """Static ones, and where MuJoCo has them, ones whose body recoils."""

    def live(_):
        solver, touched = poured(kind)
        solver.step(STEPS)
        assert not solver.faults.any()
        return numbers_of(solver) | {"wrenches": touched.wrenches.clone()}

    found, expected = on_both(live)
    moving = kind not in FIXED_KINDS
    assert expected["wrenches"].shape[1] == moving
    if moving:
        assert (expected["wrenches"][..., :3].norm(dim=-1) > 1e-3).all()
    else:
        expected.pop("wrenches")
    assert_close(found, expected)


def test_an_environment_has_its_bits_in_any_batch():
    """Number 3 of 64, of 5, by itself, and where two environments fit into memory at a time."""
    run_in_columns()
    seen = []
    for envs, at_once in ((64, None), (5, None), (5, 2), (1, None)):
        solver, touched = poured("box", envs=64)
        state = solver.state_dict()
        solver, touched = poured("box", envs=envs)
        chosen = [3] if envs == 1 else range(envs)
        solver.load_state_dict({name: numbers[list(chosen)] for name, numbers in state.items()})
        if at_once:
            solver._launch = DeviceLaunch(solver._runtime, solver._batch, touched, at_once)
            assert len(solver._launch.slices) == 3
        solver.step(30)
        mine = 0 if envs == 1 else 3
        seen.append((solver._batch.memory[mine], touched.wrenches[mine], solver.held[mine]))
    for other in seen[1:]:
        assert all(torch.equal(one, two) for one, two in zip(seen[0], other, strict=True))


@pytest.mark.parametrize("broken", ["fast", "not finite"])
def test_a_faulty_environment_stops_alone(broken):
    """It stays where it was before the launch; the others have the bits that they have without it."""
    run_in_columns()
    seen = []
    for faulty in (True, False):
        solver, _ = poured("sphere", envs=3)
        if faulty and broken == "fast":
            solver.set("vel", [0.0, 0.0, 2 * solver.dx / solver.dt], envs_idx=[1])
        if faulty and broken == "not finite":
            solver.set("C", 1e38, envs_idx=[1], particles=[7])
        before = solver.state_dict()["memory"][1]
        solver.step(10)
        solver.step(10)
        assert solver.faults.tolist() == [0, int(faulty), 0]
        assert torch.equal(solver._batch.memory[1], before) == faulty
        seen.append(solver._batch.memory[[0, 2]])
    assert torch.equal(*seen)


def test_particles_that_do_not_exist_have_no_mass():
    """And those that begin to exist move."""

    def live(_):
        solver = solver_of(block(MATERIALS["liquid"], (0.4, 0.4, 0.0)), block(MATERIALS["snow"], (0.4, 0.4, 0.2)))
        rng = np.random.default_rng(1)
        exists = rng.uniform(size=(2, solver.n_particles)) < 0.5
        exists[1, 216:] = False
        solver.set_active(exists)
        before = solver.pos
        solver.step(20)
        assert torch.equal(solver.pos[~torch.as_tensor(exists)], before[~torch.as_tensor(exists)])
        some = {"pos": solver.pos[torch.as_tensor(exists)], "vel": solver.vel[torch.as_tensor(exists)]}
        solver.emit(before[:, :8], torch.zeros(2, 8, 3), None, slice(0, 8))
        solver.step(1)
        assert solver.active[:, :8].all() and (solver.vel[:, :8].abs().sum(-1) > 0).all()
        return some

    assert_close(*on_both(live))


def test_fixed_particles_stay_and_hold_their_neighbours():
    """A beam that is fixed at one end hangs; a block without that falls."""

    def live(_):
        beam = block(MATERIALS["corotated"], (0.4, 0.4, 0.5), velocity=(0.0, 0.0, 0.0))
        solver = solver_of(beam, block(MATERIALS["sand"], (0.4, 0.4, 0.2)))
        start = solver.pos
        held = start[0, :, 0] < 0.44
        scatter(solver)
        solver.set_fixed(held[:216], particles=slice(0, 216))
        held[216:] = False
        for name in ("vel", "C"):
            solver.set(name, 0.0, particles=held)
        solver.step(STEPS)
        assert held.sum() == 108 and torch.equal(solver.pos[:, held], start[:, held])
        moved = (solver.pos - start)[..., 2]
        assert moved[:, :216][:, ~held[:216]].abs().max() < 0.01 and moved[:, 216:].mean() < -0.03
        return numbers_of(solver)

    assert_close(*on_both(live))


def test_slow_particles_move():
    """By less in a substep than half of a position's last digit, 3e-8 m."""

    def live(_):
        solver = solver_of(block(MATERIALS["neo_hookean"], (0.85, 0.85, 0.85), n=2, velocity=(1e-5, 0.0, 0.0)))
        solver.set_gravity((0.0, 0.0, 0.0))
        start = solver.pos
        solver.step(STEPS)
        moved = (solver.pos - start)[..., 0]
        assert (moved - 1e-5 * STEPS * DT).abs().max() < 6e-8
        return numbers_of(solver)

    found, expected = on_both(live)
    assert (found["pos"] - expected["pos"]).abs().max() < 1.3e-7  # two last digits


@pytest.mark.parametrize("particles", [1, 8, 2000, 100_000, 2**24])
def test_sums_of_fixed_point_numbers_cannot_overflow(particles):
    """With all particles at one node, as heavy and fast as may be; masses of a thousandth are right to 1e-6."""
    of_mass, of_momentum = scale_bits(particles)
    assert particles * HEAVIEST * 2**of_mass <= 2**62 and particles * FASTEST * 2**of_momentum <= 2**62
    assert of_mass <= MOST_BITS and of_momentum <= MOST_BITS
    if particles <= 2000:
        assert of_mass >= 30 and of_momentum >= MOST_BITS


def test_grids_that_do_not_fit_are_taken_in_slices(monkeypatch):
    run_in_columns()

    def made():
        return solver_of(block(MATERIALS["liquid"], (0.4, 0.4, 0.2)), envs=5)

    needed = gpu_launch.bytes_per_environment(made()._batch, Touched.none(5))
    monkeypatch.setattr(gpu_launch, "available_memory", lambda: 6 * needed)
    assert [len(arrays["grid"]) for arrays in made()._launch.slices] == [3, 2]
    monkeypatch.setattr(gpu_launch, "available_memory", lambda: needed)
    with pytest.raises(MemoryError, match="at most 0 fit"):
        made()


@pytest.mark.slow
def test_a_coupler_steps_bodies_with_matter():
    """A box falls into liquid: where both get is what the compiled code says, and the GPU driver of bodies."""

    def live(_):
        body = '<body pos=".5 .5 .27"><freejoint/><geom type="box" size=".08 .06 .05"/></body>'
        liquid = matter_of(MATERIALS["liquid"], (0.3, 0.3, 0.06), (12, 12, 5), 1 / DENSITY)
        box = {"lower_bound": (0, 0, 0), "upper_bound": (1, 1, 1), "grid_density": DENSITY, "dt": DT}
        coupler = coupled(f'<geom type="plane" size="1 1 1" pos="0 0 .05"/>{body}', [liquid], n=2, substeps=5, **box)
        coupler.step(40)
        assert not coupler.matter.faults.any() and (coupler.rigid.qvel[:, 2] > -0.5).all()  # 0.6 m/s in a free fall
        return numbers_of(coupler.matter) | {"qpos": coupler.rigid.qpos, "qvel": coupler.rigid.qvel}

    assert_close(*on_both(live), CLOSE | {"qpos": 2e-6, "qvel": 5e-5})
