"""The solver of matter: bits, states, faults, transfers, and errors."""

import numpy as np
import pytest
import torch

import tumble
from tumble.soft import Elastic, ElastoPlastic, Liquid, Matter, MPMSolver, Sand, Snow

from .scenes import filled, matter_of

pytestmark = pytest.mark.usefixtures("single")

DX = 1 / 16
MATTERS = [
    matter_of(Liquid(E=1e5), (DX, DX, 0), (3, 3, 3), DX, "water", velocity=(0.5, 0.2, 0)),
    matter_of(Sand(E=1e5, friction_angle=35), (8 * DX, DX, DX), (3, 3, 3), DX, "sand"),
    matter_of(ElastoPlastic(E=1e5), (DX, 8 * DX, 2 * DX), (3, 2, 2), DX, "dough"),
    matter_of(Snow(E=1e5), (8 * DX, 8 * DX, 2 * DX), (2, 3, 2), DX, "snow"),
    matter_of(Elastic(E=1e5), (5 * DX, 5 * DX, 9 * DX), (2, 2, 2), DX, "jelly"),
]
DT = 1e-3


def solver(n, matters=MATTERS):
    return MPMSolver(matters, n, (0, 0, 0), (14 * DX, 14 * DX, 14 * DX), 16, DT)


def varied(n, index):
    """A solver whose environment `index` differs from the others."""
    made = solver(n)
    made.set("vel", [0.0, 0.0, -1.0], [index], slice(0, 50))
    made.set_material(0, [index], E=8e4)
    made.set_gravity([0.5, 0.0, -9.0], [index])
    return made


def test_an_environment_has_its_bits_in_any_batch():
    """At any index, in batches of 1, 5 and 64."""
    found = []
    for n, index in ((1, 0), (5, 3), (64, 3), (64, 40)):
        made = varied(n, index)
        made.step(60)
        found.append(made.state_dict([index])["memory"])
    assert all(torch.equal(one, found[0]) for one in found)


@pytest.mark.slow
def test_threads_do_not_change_bits():
    found = []
    for threads in (1, 2):
        tumble.init(threads=threads)
        made = varied(5, 3)
        made.step(60)
        found.append(made.state_dict()["memory"])
    assert torch.equal(*found)


def test_a_saved_state_goes_on_to_the_bit():
    made = varied(3, 1)
    made.step(20)
    saved = made.state_dict([1])
    made.step(20)
    other = solver(2)
    other.load_state_dict(saved, [0])
    other.step(20)
    assert torch.equal(other.state_dict([0])["memory"], made.state_dict([1])["memory"])


def test_a_reset_is_of_some_environments():
    made, fresh = varied(3, 1), solver(1)
    made.step(20)
    before = made.pos
    made.reset([2])
    assert torch.equal(made.pos[:2], before[:2])
    made.step(20)
    fresh.step(20)
    assert torch.equal(made.pos[2], fresh.pos[0])


@pytest.mark.parametrize("broken", [float("nan"), 1e4])
def test_a_faulty_environment_stops_without_the_others(broken):
    """It is as before the launch; it moves again after a reset."""
    made, sound = solver(3), solver(3)
    for one in (made, sound):
        one.step(5)
    made._batch.memory[1, 0, 3, 0] = broken
    before = made._batch.memory[1].clone()
    for one in (made, sound):
        one.step(10)
    assert made.faults.tolist() == [0, 1, 0]
    assert torch.equal(made._batch.memory[1].nan_to_num(7), before.nan_to_num(7))
    assert torch.equal(made.pos[[0, 2]], sound.pos[[0, 2]])
    made.reset([1])
    made.step(5)
    assert made.faults.tolist() == [0, 0, 0] and made.pos.isfinite().all()


def test_an_affine_motion_is_kept():
    """Velocities v + A x of all particles come back from the grid: to rounding, as affine particles promise."""
    cube = matter_of(Liquid(E=1e-3), (4 * DX, 4 * DX, 4 * DX), (5, 5, 5), DX)
    made = MPMSolver([cube], 1, (0, 0, 0), (14 * DX,) * 3, 16, 1e-5, (0, 0, 0))
    rng = np.random.default_rng(0)
    v, A = rng.standard_normal(3), rng.standard_normal((3, 3))
    made.set("vel", v + cube.positions @ A.T)
    made.set("C", A.reshape(9))
    made.step(1)
    np.testing.assert_allclose(made.vel[0], v + cube.positions @ A.T, atol=3e-5)
    np.testing.assert_allclose(made.get("C")[0].reshape(-1, 3, 3), np.tile(A, (cube.count, 1, 1)), atol=3e-4)


def test_particles_come_and_go():
    drops = Matter("drops", Liquid(E=1e5), filled((DX, DX, DX), (2, 2, 2), DX), (DX / 2) ** 3, exists=False)
    made = solver(2, [drops, MATTERS[4]])
    assert made.active.sum(1).tolist() == [MATTERS[4].count] * 2
    made.step(10)
    np.testing.assert_array_equal(made.pos[0, : drops.count], drops.positions)
    places = drops.positions[:8] + np.array([0, 0, 6 * DX])
    made.emit(places, [0.0, 0.0, -1.0], [1], slice(0, 8))
    made.step(10)
    assert made.active.sum(1).tolist() == [MATTERS[4].count, MATTERS[4].count + 8]
    fallen = 10 * DT + 9.81 * DT**2 * 55
    np.testing.assert_allclose(made.pos[1, :8, 2], places[:, 2] - fallen, atol=1e-4)
    made.set_active(0, [1], slice(0, 8))
    still = made.pos[1, :8]
    made.step(10)
    assert torch.equal(made.pos[1, :8], still)


def test_walls_hold_particles_and_count_them():
    made = solver(1)
    places = made.pos[:, : MATTERS[0].count]
    places[..., 1] -= places[..., 1].min() - 1e-4
    made.set("pos", places, None, slice(0, MATTERS[0].count))
    made.set("vel", [0.0, -3.0, 0.0], None, slice(0, MATTERS[0].count))
    held = 0
    for _ in range(40):
        made.step()
        held = max(held, int(made.held[0]))
        assert made.pos[..., 1].min() >= 0 and made.pos[..., 2].min() >= 0
    assert held > 0


def test_errors_say_what_would_do():
    cube = MATTERS[0]
    with pytest.raises(ValueError, match=r"'water' reaches .* widen lower_bound"):
        MPMSolver([cube], 1, (0.1, 0.1, 0.1), (1, 1, 1), 16, DT)
    with pytest.raises(ValueError, match=r"'water': a step of 0.1 s is too long .* at most"):
        MPMSolver([cube], 1, (0, 0, 0), (1, 1, 1), 16, 0.1)
    with pytest.raises(ValueError, match="nodes at grid_density"):
        MPMSolver([cube], 1, (-100, -100, -100), (100, 100, 100), 16, DT)
    with pytest.raises(MemoryError, match="GiB"):
        solver(10**9)
    with pytest.raises(ValueError, match="rho=0"):
        Liquid(rho=0)
    with pytest.raises(ValueError, match=r"nu=0\.5"):
        Elastic(nu=0.5)
    made = solver(4)
    with pytest.raises(ValueError, match="particle 2 of environment 3"):
        made.set("pos", np.where(np.arange(5)[:, None] == 2, 9.0, 0.3) * np.ones((5, 3)), [3], slice(0, 5))
    with pytest.raises(ValueError, match="expected shape"):
        made.set("vel", np.zeros((3, 7, 3)))
    with pytest.raises(KeyError, match="there are pos, vel"):
        made.get("speed")
    with pytest.raises(IndexError):
        made.get("pos", [4])
    with pytest.raises(IndexError, match="particles"):
        made.get("pos", None, [made.n_particles])
    with pytest.raises(ValueError, match="use what state_dict"):
        made.load_state_dict(solver(4, MATTERS[:1]).state_dict())
