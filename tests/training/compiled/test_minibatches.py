"""Compiled updates beside torch's automatic differentiation, and their bits."""

import numpy as np
import pytest
import torch

from tumble.physics.machine.codegen.llvm import load, optimized_machine_code
from tumble.training.compiled import code

from .networks import Case, random_case

GRADIENT = 2e-6
"""The bound, as a share of the largest entry in double precision. Single precision rounds to 6e-8, and sums have 10 to
1,000 terms."""
WEIGHTS = 1e-6
"""After 100 steps. Adam divides by the size of the gradient, so errors do not grow with it."""


def batches(case: Case, count: int) -> list[torch.Tensor]:
    """Minibatches of random rows."""
    return [torch.randperm(len(case.rollout))[: case.n] for _ in range(count)]


def vectors(case: Case, threads: int = 1, count: int = 16) -> np.ndarray:
    """Parameters and moments of both networks after some minibatches."""
    torch.manual_seed(1)
    networks = case.compiled(threads)
    networks.run(case.rollout, case.columns, batches(case, count), case.settings)
    return np.concatenate([networks.actor.vectors.numpy().ravel(), networks.critic.vectors.numpy().ravel()])


def test_gradients_equal_automatic_differentiation_in_double_precision():
    """Forty cases have random architectures, numbers of rows and options."""
    worst = {}
    for seed in range(40):
        case = random_case(seed)
        networks = case.compiled()
        (batch,) = batches(case, 1)
        parameters = case.optimizer(networks).param_groups[0]["params"]
        case.loss(batch, torch.float64).backward()
        networks.run(case.rollout, case.columns, [batch], case.settings)
        actual = [*networks.actor.gradient(), *networks.critic.gradient()]
        largest = max(float(p.grad.abs().max()) for p in parameters)
        errors = [float((a - p.grad).abs().max()) for a, p in zip(actual, parameters, strict=True)]
        worst[seed] = max(errors) / largest
    assert max(worst.values()) < GRADIENT, worst


@pytest.mark.parametrize("seed", range(8))
def test_weights_after_a_hundred_steps_are_those_of_torch(seed):
    """With the gradient's norm limited, and Adam."""
    case = random_case(seed)
    networks = case.compiled()
    optimizer = case.optimizer(networks)
    parameters, chosen = optimizer.param_groups[0]["params"], batches(case, 100)
    before = [p.detach().clone() for p in parameters]
    for batch in chosen:
        optimizer.zero_grad()
        case.loss(batch).backward()
        torch.nn.utils.clip_grad_norm_(parameters, case.settings.max_grad_norm)
        optimizer.step()
    expected = [p.detach().clone() for p in parameters]
    assert max(float((a - b).abs().max()) for a, b in zip(before, expected, strict=True)) > 1e3 * WEIGHTS
    networks.run(case.rollout, case.columns, chosen, case.settings)
    networks.write(optimizer)
    for p, value in zip(parameters, expected, strict=True):
        np.testing.assert_allclose(p.detach(), value, rtol=0, atol=WEIGHTS)
    assert networks.steps == 100 == int(optimizer.state[parameters[0]]["step"])


def test_bits_do_not_depend_on_threads():
    """Minibatches of 64 and 200 rows have one group, those of 1,100 two, so four tasks."""
    for seed in (1, 6, 12):  # tests/training/compiled/networks.py: Gaussians and choices
        case = random_case(seed)
        np.testing.assert_array_equal(vectors(case), vectors(case, threads=3))


@pytest.mark.parametrize("change", ["tile_rows", "chunk"])
def test_bits_do_not_depend_on_tiles_and_chunks(change, monkeypatch):
    """Sums are in the order of the inner index whatever the sizes of blocks."""
    case = random_case(6)
    expected = vectors(case)
    if change == "tile_rows":
        rows = 8 if code.tile_rows() == 4 else 4
        monkeypatch.setattr(code, "tile_rows", lambda: rows)
    else:
        for module in ("products", "ppo_loss", "perceptron", "rollouts"):
            monkeypatch.setattr(f"tumble.training.compiled.{module}.CHUNK", 32)
    binary = optimized_machine_code(code.source(code.tile_rows()))
    changed = code.code_at(load(binary, *code.NAMES))
    monkeypatch.setattr("tumble.training.compiled.minibatches.code", lambda: changed)
    np.testing.assert_array_equal(vectors(case), expected)


def test_a_large_divergence_ends_the_update():
    """Stable-Baselines3 ends it in front of the step whose policy is too far: 1.5 times the target."""
    case = random_case(6, target_kl=1e-9)
    networks = case.compiled()
    report = networks.run(case.rollout, case.columns, batches(case, 5), case.settings)
    assert (report.done, report.stopped, networks.steps) == (0, True, 0)
    assert networks.run(case.rollout, case.columns, batches(case, 5), random_case(6).settings).done == 5


@pytest.mark.parametrize(("desired", "factor"), [(1e-9, 1 / 1.5), (1e3, 1.5)])
def test_the_divergence_steers_the_rate(desired, factor):
    """By rsl_rl's rule: above twice the desired divergence the rate is divided by 1.5, below half of it multiplied."""
    case = random_case(6, desired_kl=desired, rate=1e-3)
    report = case.compiled().run(case.rollout, case.columns, batches(case, 2), case.settings)
    assert report.rate == pytest.approx(1e-3 * factor**2)


def test_other_rows_than_those_of_a_minibatch_do_not_matter():
    """A row that is no number stays outside of sums."""
    case = random_case(6)
    chosen = [torch.arange(case.n)] * 3
    results = []
    for _ in range(2):
        networks = case.compiled()
        networks.run(case.rollout, case.columns, chosen, case.settings)
        results.append(networks.actor.vectors.clone())
        case.rollout[case.n :] = torch.nan
    assert torch.equal(*results)
