"""Flaws of readings: statistics of noise and drifts, resolution, delays and jitter, all of every environment's own.

Every environment of the scene reads the same magnetic field, so that all that differs is drawn.
"""

import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.physics.machine.runtime import init
from tumble.scene.sensors import draws
from tumble.scene.sensors.timeline import Timeline

ENVS, STEPS, DT = 64, 100, 0.01
SIGMA = 5.0  # standard errors within which a statistic of draws lies; a fixed seed decides once and for all
WIDE, NOISE, WALK = 1.0, 0.2, 0.05


@pytest.fixture(scope="module")
def scene():
    """A ball that rests, read by sensors with one flaw each, and by one with all."""
    init(precision="32")
    scene = gs.Scene(gs.options.SimOptions(dt=DT, gravity=0))
    ball = scene.add_entity(gs.morphs.Sphere(radius=0.1)).idx
    make = {
        "noisy": {"mag_noise": (NOISE, 0, 2 * NOISE)},
        "walking": {"mag_random_walk": WALK},
        "stepped": {"mag_resolution": 0.3, "mag_bias": (0.0, 0.1, 0.2)},
        "late": {"mag_noise": WIDE, "delay": 3 * DT},
        "jittery": {"mag_noise": WIDE, "delay": 3 * DT, "jitter": 2 * DT},
        "between": {"mag_noise": WIDE, "delay": 2.25 * DT, "interpolate": True},
    }
    scene.named = {name: scene.add_sensor(gs.sensors.IMU(entity_idx=ball, **how)) for name, how in make.items()}
    lidar = gs.sensors.Raycaster(
        entity_idx=-1,
        pattern=gs.sensors.GridPattern(resolution=0.2, size=(0.2, 0.2)),
        pos_offset=(0, 0, 1),
        noise=0.01,
        max_range=3.0,
    )
    scene.add_entity(gs.morphs.Box(size=(0.2, 2, 0.2), pos=(0.1, 0, -0.5), fixed=True))
    scene.named["lidar"] = scene.add_sensor(lidar)
    scene.build(n_envs=ENVS)
    return scene


@pytest.fixture(scope="module")
def film(scene):
    """What each sensor reads at the start and after each step, (steps + 1, envs, 3), and the field."""
    readings = {name: [sensor.read().mag] for name, sensor in scene.named.items() if name != "lidar"}
    for _ in range(STEPS):
        scene.step()
        for name, seen in readings.items():
            seen.append(scene.named[name].read().mag)
    field = torch.tensor([0.0, 0.0, 0.5])
    return {name: (torch.stack(seen) - field).double() for name, seen in readings.items()}


def test_noise_is_white_with_its_deviation(film):
    drawn = film["noisy"]
    assert not drawn[..., 1].any()
    for axis, deviation in ((0, NOISE), (2, 2 * NOISE)):
        numbers = drawn[..., axis] / deviation
        count = numbers.numel()
        assert abs(float(numbers.mean())) < SIGMA / count**0.5
        assert abs(float(numbers.var()) - 1) < SIGMA * (2 / count) ** 0.5
        assert abs(float((numbers**4).mean()) - 3) < SIGMA * (96 / count) ** 0.5  # a normal draw's fourth moment
        for ahead in (numbers[1:] * numbers[:-1], numbers[:, 1:] * numbers[:, :-1]):  # from step to step, env to env
            assert abs(float(ahead.mean())) < SIGMA / ahead.numel() ** 0.5
    both = drawn[..., 0] * drawn[..., 2] / (2 * NOISE**2)
    assert abs(float(both.mean())) < SIGMA / both.numel() ** 0.5


def test_walks_are_sums_of_their_steps(film):
    walked = film["walking"] / WALK
    steps = torch.diff(walked, dim=0, prepend=torch.zeros_like(walked[:1]))
    assert abs(float(steps.mean())) < SIGMA / steps.numel() ** 0.5
    assert abs(float(steps.var()) - 1) < SIGMA * (2 / steps.numel()) ** 0.5
    assert abs(float((steps[1:] * steps[:-1]).mean())) < SIGMA / steps.numel() ** 0.5
    ends = walked[-1]
    assert abs(float(ends.var()) / (STEPS + 1) - 1) < SIGMA * (2 / ends.numel()) ** 0.5


def test_biases_are_added_before_readings_are_rounded(film):
    expected = np.round(np.array([0, 0.1, 0.7]) / 0.3) * 0.3 - [0, 0, 0.5]
    np.testing.assert_allclose(
        film["stepped"].reshape(-1, 3), np.broadcast_to(expected, (ENVS * (STEPS + 1), 3)), atol=1e-6
    )


def test_delays_shift_what_was_measured(film, scene):
    """Noise tells which measurement is read: it is drawn once, when it is taken."""
    late = film["late"]
    assert all(torch.equal(late[k], late[0]) for k in (1, 2, 3)) and not torch.equal(late[4], late[3])
    between = film["between"]  # measurements 2 and 3 steps old, by a quarter of the way
    assert torch.equal(between[0], between[2])
    captured = torch.stack([measured(scene, "between", step) for step in range(STEPS + 1)])
    expected = captured[7] + 0.25 * (captured[6] - captured[7])
    torch.testing.assert_close(between[9], expected, rtol=0, atol=1e-6)
    torch.testing.assert_close(late[9], torch.stack([measured(scene, "late", 6)])[0], rtol=0, atol=1e-6)


def measured(scene, name, step):
    """The noise of a measurement, drawn from the hash by itself."""
    key = draws.keys(0, scene.named[name].idx, torch.arange(ENVS))
    drawn = draws.normal(draws.at(key, torch.full((ENVS,), step), draws.NOISE), 9)
    return WIDE * drawn[:, 6:]


def test_jitter_is_spread_over_the_steps_that_it_reaches(film, scene):
    """Delays of 3 to 5 steps, rounded up or down at random: shares are those of two even draws' sum."""
    captured = torch.stack([measured(scene, "jittery", step) for step in range(STEPS + 1)])
    shares = np.zeros(8)
    for step in range(8, STEPS + 1):
        nearest = [(film["jittery"][step] - captured[step - age]).abs().amax(1) < 1e-5 for age in range(8)]
        shares += [int(near.sum()) for near in nearest]
    count = ENVS * (STEPS - 7)
    assert shares.sum() == count
    expected = np.array([0, 0, 0, 0.25, 0.5, 0.25, 0, 0])
    np.testing.assert_array_less(np.abs(shares / count - expected), SIGMA * np.sqrt(expected / count) + 1e-9)


def test_only_what_was_found_has_noise(scene):
    scene.reset()
    read, true = scene.named["lidar"].read(), scene.named["lidar"].read_ground_truth()
    found = true.distances < 3.0
    assert found[0].tolist() == [[False, False], [True, True]]
    assert (read.distances[~found] == 3.0).all() and not read.points[~found].any()
    spread = read.distances[found] - 1.4
    assert abs(float(spread.std()) / 0.01 - 1) < SIGMA / (2 * spread.numel()) ** 0.5
    torch.testing.assert_close(read.points[found][:, 2], -read.distances[found])  # points are where distances end


def test_numbers_of_environments_own(scene):
    stepped = scene.named["stepped"]
    bias = torch.zeros(3, 9)
    bias[:, 6] = torch.tensor([0.6, 1.2, 1.8])
    stepped.set_bias(bias, envs_idx=[5, 6, 7])
    stepped.set_resolution(0.0, envs_idx=[6])
    stepped.set_noise(1.0, envs_idx=[8])
    scene.step()
    mag = stepped.read().mag
    assert mag[[4, 5, 6, 7], 0].tolist() == pytest.approx([0, 0.6, 1.2, 1.8])
    assert mag[6, 2] == 0.5 and mag[4, 2] == pytest.approx(0.6)
    assert torch.equal(mag[4], mag[9]) and not torch.equal(mag[8], mag[9])


def test_a_longer_delay_begins_with_the_oldest_measurement():
    line = Timeline(2, torch.tensor([[0.0]]))
    for number in (1.0, 2.0, 3.0):
        line.push(torch.tensor([[number]]))
    line.deepen(5)
    assert line.all()[0, :, 0].tolist() == [3, 2, 2, 2, 2]
    line.push(torch.tensor([[4.0]]))
    assert line.all()[0, :, 0].tolist() == [4, 3, 2, 2, 2]
    assert float(line.between(torch.tensor([0.25]).double())[0, 0]) == 3.75


def test_delays_of_environments_own(scene):
    late = scene.named["late"]
    late.set_delay(6 * DT, envs_idx=[0])
    late.set_delay(0.0, envs_idx=[1])
    begun = int(late._tick[0])
    for _ in range(8):
        scene.step()
    mag = late.read().mag.double() - torch.tensor([0, 0, 0.5])
    for env, age in ((0, 6), (1, 0), (2, 3)):
        torch.testing.assert_close(mag[env], measured(scene, "late", begun + 8 - age)[env], rtol=0, atol=1e-6)


def test_noise_of_an_environment_depends_on_nothing_else():
    """Batches of other sizes, and resets of others beside it."""

    def films(envs, resets):
        init(precision="32")
        scene = gs.Scene(gs.options.SimOptions(dt=DT, gravity=0))
        ball = scene.add_entity(gs.morphs.Sphere(radius=0.1)).idx
        noisy = scene.add_sensor(gs.sensors.IMU(entity_idx=ball, acc_noise=1.0, mag_random_walk=0.5))
        scene.build(n_envs=envs)
        seen = []
        for step in range(4):
            if resets and step == 2:
                scene.reset(envs_idx=[0])
            scene.step()
            seen.append(torch.cat(noisy.read(), 1)[2])
        return torch.stack(seen)

    assert torch.equal(films(3, False), films(9, True))


@pytest.mark.parametrize("seed", [0, 1, 2**63 + 5])
def test_draws_are_even(seed):
    key = draws.at(draws.keys(seed, 3, torch.arange(1000)), torch.arange(1000), draws.WALK)
    drawn = draws.uniform(key, 64).flatten()
    counts = torch.histc(drawn, 50, 0, 1)
    expected = drawn.numel() / 50
    assert float(((counts - expected) ** 2 / expected).sum()) < 49 + SIGMA * 98**0.5  # chi squared
    assert len(drawn.unique()) == drawn.numel()
