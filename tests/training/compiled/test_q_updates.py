"""Compiled updates of SAC and TD3 beside Stable-Baselines3's own code in double precision, and their bits."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tumble.physics.machine.codegen.llvm import load, optimized_machine_code
from tumble.physics.machine.codegen.pool import shared_pool
from tumble.training.compiled import code

from .groups import in_groups
from .off_policy import OURS, SEED, THEIRS, Case

GRADIENT = 2e-6
"""The bound, as a share of the largest entry in double precision. Single precision rounds to 6e-8, and sums have 10 to
1,000 terms."""
WEIGHTS = 3e-6
"""After 100 steps, against double precision, from which Stable-Baselines3 in single precision is as far with TD3."""
pytestmark = pytest.mark.usefixtures("one_torch_thread")
SOME = [("sac", 3), ("sac", 4), ("sac", 5), ("td3", 3), ("td3", 4), ("td3", 5)]


def train_ours(model, case, steps):
    """Train with the minibatches that Stable-Baselines3 draws."""
    np.random.seed(SEED)
    model.train(steps, case.n)
    assert model.reason() == ""


def weights(model):
    """All weights, targets' too, and the logarithm of the temperature."""
    learned = getattr(model, "log_ent_coef", None)
    parameters = [*model.policy.parameters(), *([] if learned is None else [learned])]
    return torch.cat([p.detach().double().flatten() for p in parameters])


@pytest.mark.parametrize("algo", ["sac", "td3"])
def test_gradients_are_those_of_stable_baselines_in_double_precision(algo, monkeypatch):
    """The cases have random architectures, spaces and numbers of rows, and a rate of 0, so that weights stay."""
    worst = {}
    for seed in range(20):
        case = Case(algo, seed, learning_rate=0.0, **({"policy_delay": 1} if algo == "td3" else {}))
        ours, theirs = case.model(OURS[algo]), case.model(THEIRS[algo])
        with monkeypatch.context() as patch:
            expected = case.train_theirs(theirs, 1, patch)
        train_ours(ours, case, 1)
        networks = [*ours._updates.critics, ours._updates.actor]
        if algo == "sac" and ours.ent_coef_optimizer:
            networks.insert(0, ours._updates.temperature)
        actual = [g for network in networks for g in network.gradient()]
        first = len(actual) - len(ours._updates.actor.tensors)
        for part in (slice(first), slice(first, None)):
            largest = max(float(g.abs().max()) for g in expected[part])
            errors = [float((a - b).abs().max()) for a, b in zip(actual[part], expected[part], strict=True)]
            worst[seed] = max(worst.get(seed, 0.0), max(errors) / largest)
    assert max(worst.values()) < GRADIENT, worst


@pytest.mark.parametrize(("algo", "seed"), SOME)
def test_weights_after_a_hundred_steps_are_those_of_stable_baselines(algo, seed, monkeypatch):
    """With Adam, targets that follow, and the temperature; targets of SAC follow each third step here."""
    case = Case(algo, seed, **({"target_update_interval": 3} if algo == "sac" else {}))
    ours, theirs = case.model(OURS[algo]), case.model(THEIRS[algo])
    before = weights(ours)
    train_ours(ours, case, 100)
    case.train_theirs(theirs, 100, monkeypatch)
    expected = weights(theirs)
    assert float((expected - before).abs().max()) > 1e3 * WEIGHTS
    np.testing.assert_allclose(weights(ours), expected, rtol=0, atol=WEIGHTS)
    for name in ("train/actor_loss", "train/critic_loss", "train/ent_coef", "train/ent_coef_loss", "train/n_updates"):
        values = [model.logger.name_to_value.get(name, np.nan) for model in (ours, theirs)]
        np.testing.assert_allclose(*values, rtol=1e-4, atol=1e-5, err_msg=name)
    for one, other in zip(ours._optimizers(), (theirs.critic.optimizer, theirs.actor.optimizer), strict=False):
        steps = [int(next(iter(optimizer.state.values()))["step"]) for optimizer in (one, other)]
        assert steps[0] == steps[1] > 0


def vectors(algo, seed, threads=1):
    """Weights after some steps."""
    case = Case(algo, seed)
    model = case.model(OURS[algo])
    with pytest.MonkeyPatch.context() as patch:
        pool = shared_pool(threads)
        patch.setattr("tumble.training.learning.compiled_off_policy.learning_pool", lambda: pool)
        train_ours(model, case, 8)
    return weights(model).numpy()


@pytest.mark.parametrize(("algo", "seed"), [("sac", 1), ("sac", 2), ("td3", 2)])
def test_bits_do_not_depend_on_threads(algo, seed):
    """Minibatches of 513 rows have four groups."""
    np.testing.assert_array_equal(vectors(algo, seed), vectors(algo, seed, threads=3))


@pytest.mark.parametrize("change", ["tile_rows", "chunk"])
def test_bits_do_not_depend_on_tiles_and_chunks(change, monkeypatch):
    """Sums are in the order of the inner index whatever the sizes of blocks."""
    expected = vectors("sac", 2)
    rows = code.tile_rows()
    if change == "tile_rows":
        rows = 8 if rows == 4 else 4
    else:
        for module in ("products", "q_loss", "perceptron", "q_updates"):
            monkeypatch.setattr(f"tumble.training.compiled.{module}.CHUNK", 32)
    changed = code.q_code_at(load(optimized_machine_code(code.q_source(rows)), *code.Q_NAMES))
    monkeypatch.setattr("tumble.training.compiled.q_updates.q_code", lambda: changed)
    np.testing.assert_array_equal(vectors("sac", 2), expected)


def test_one_call_makes_the_steps_of_many():
    """Steps of Adam, targets and draws go on from call to call."""
    case = Case("td3", 2)
    at_once, one_by_one = case.model(OURS["td3"]), case.model(OURS["td3"])
    train_ours(at_once, case, 5)
    np.random.seed(SEED)
    for _ in range(5):
        one_by_one.train(1, case.n)
    assert torch.equal(weights(at_once), weights(one_by_one))


def run_steps(model, case, steps, add=None):
    """Take gradient steps; return the figures."""
    optimizers, updates = model._optimizers(), model._prepared(case.n)
    updates.read(optimizers)
    figures = updates.run(model._replay(), steps, optimizers, model._settings(), add)
    updates.write(optimizers)
    return figures


@pytest.mark.parametrize(("algo", "seed"), [("sac", 2), ("sac", 12), ("td3", 2), ("td3", 0)])
@pytest.mark.parametrize("size", [2, 3])
def test_parts_of_minibatches_make_the_steps_of_the_whole(algo, seed, size):
    """Minibatches have 513, 7 or 1 rows, so that a process may have none; all get the same bits."""
    case = Case(algo, seed)
    whole, *models = (case.model(OURS[algo]) for _ in range(1 + size))
    np.random.seed(SEED)
    steps = whole._gradient_steps(10, case.n)
    minibatch = np.repeat(np.arange(10), case.n)
    owner = (np.linspace(0, 1, whole._replay().rewards.size) ** 2 * size).astype(int).clip(0, size - 1)[steps.index]
    expected = run_steps(whole, case, steps)

    def work(group):
        mine = owner == group.rank
        starts = np.cumsum([0, *np.bincount(minibatch[mine], minlength=10)])
        part = replace(steps, index=steps.index[mine], order=steps.order[mine], starts=starts)
        return run_steps(models[group.rank], case, part, group.add)

    for model, figures in zip(models, in_groups(size, work), strict=True):
        assert torch.equal(weights(model), weights(models[0]))
        np.testing.assert_allclose(weights(model), weights(whole), rtol=0, atol=WEIGHTS)
        assert figures == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_an_error_of_the_exchange_ends_the_update():
    """It is raised by `run`, after the exchange in which it happened; the next update is whole."""
    case, calls = Case("sac", 2), []
    model = case.model(OURS["sac"])

    def fail(numbers):
        calls.append(len(numbers))
        raise RuntimeError("connection closed")

    before, steps = weights(model), model._gradient_steps(5, case.n)
    with pytest.raises(RuntimeError, match="connection closed"):
        run_steps(model, case, steps, fail)
    assert len(calls) == 1 and torch.equal(weights(model), before)
