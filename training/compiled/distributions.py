"""Distributions of actions in compiled functions: log-probability, its slopes, and entropy, of one row.

An action is numbers from Gaussians, whose means the actor's output has and whose standard deviations are parameters; or
it is choices, of which the output has the logits of all options, one choice after another. A row of output lies in
panels, `stride` numbers apart. Of a row, `log_prob` fills the slopes z with what `slopes` then needs.
"""

import math
from typing import Any

from ...physics.machine.codegen.functions import exp, log
from ...physics.machine.codegen.words import DOUBLE, FLOAT, FLOATS, INT, INTS, Function, Module, Record
from .products import NARROW, PANEL

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
DISTRIBUTION = Record(
    "Distribution",
    numbers=INT,  # of an action
    choices=INT,  # equal to numbers if these are choices; 0: they are Gaussian
    options=INTS,  # of each choice
    log_std=FLOATS,  # of each Gaussian
    std=FLOATS,
    inverse_std=FLOATS,  # and zeros up to a multiple of 8
    log_normalizer=DOUBLE,  # sum of log std + log(2 pi) / 2
)
LEAST = -3.0e38
"""Below every logit."""


class Distributions:
    """The compiled functions.

    Attributes:
        prepare: set std, inverse_std and log_normalizer, after a change of log_std.
        log_prob: return the log-probability of an action; z: deviations in units of std, or log-probabilities of all
            options.
        slopes: change z into slopes of the loss, for the loss's slope in the log-probability and that in the entropy;
            add to the gradient of log_std. Return the entropy of choices, and 0 of Gaussians, in all rows the same.
    """

    def __init__(self, module: Module) -> None:
        self.prepare = _prepare(module)
        self.log_prob = _log_prob(module)
        self.slopes = _slopes(module)


def panel_index(stride: Any, k: Any) -> Any:
    """Return where column k of a row in panels is."""
    return k // PANEL * stride + k % PANEL


def _prepare(module: Module) -> Function:
    with module.function("prepare_distribution", public=True, distribution=DISTRIBUTION) as (f, distribution):
        log_std, std, inverse_std = distribution.log_std, distribution.std, distribution.inverse_std
        total = f.variable(DOUBLE, 0.0)
        with f.when(distribution.choices.equals(0)), f.loop(0, distribution.numbers) as k:
            value = log_std[k]
            std[k] = exp(f, value)
            inverse_std[k] = exp(f, -value)
            total.add(f.convert(value, DOUBLE) + HALF_LOG_2PI)
        distribution.log_normalizer = total.value
    return f


def _log_prob(module: Module) -> Function:
    arguments: dict[str, Any] = {
        "distribution": DISTRIBUTION,
        "out": FLOATS,
        "stride": INT,
        "action": FLOATS,
        "z": FLOATS,
    }
    with module.function("log_prob", returns=FLOAT, **arguments) as (f, distribution, out, stride, action, z):
        result, choices = f.variable(FLOAT, 0.0), distribution.choices
        with f.when(choices.equals(0)):
            numbers, inverse_std = distribution.numbers, distribution.inverse_std
            squares = f.variable(FLOAT.vector(NARROW), 0.0)
            with f.loop(0, numbers, NARROW) as k:
                at = panel_index(stride, k)
                taken = f.load_first(action + k, numbers - k, NARROW)
                deviation = (taken - out.vector(at, NARROW)) * inverse_std.vector(k, NARROW)
                f.store(z + at, deviation)
                squares.set(f.fma(deviation, deviation, squares.value))
            result.set(f.fma(f.total(squares.value), -0.5, -f.convert(distribution.log_normalizer, FLOAT)))
        first, options = f.variable(INT, 0), distribution.options
        with f.loop(0, choices) as c:
            start, stop = first.value, first.value + options[c]
            most, total = f.variable(FLOAT, LEAST), f.variable(FLOAT, 0.0)
            with f.loop(start, stop) as k:
                most.set(f.maximum(out[panel_index(stride, k)], most.value))
            with f.loop(start, stop) as k:
                total.add(exp(f, out[panel_index(stride, k)] - most.value))
            normalizer = most.value + log(f, total.value)
            with f.loop(start, stop) as k:
                at = panel_index(stride, k)
                z[at] = out[at] - normalizer
            result.add(z[panel_index(stride, start + f.convert(action[c], INT))])
            first.set(stop)
        f.give(result.value)
    return f


def _slopes(module: Module) -> Function:
    """Write the slopes of s log p - e H; of Gaussians the entropy H is left out here, as it depends only on log_std.

    Gaussian: d log p / d mean = z / std, d log p / d log std = z^2 - 1. Of a choice with log-probabilities l and
    probabilities p: d log p / d logit = [chosen] - p, dH / d logit = -p (l + H).
    """
    arguments: dict[str, Any] = {
        "distribution": DISTRIBUTION,
        "s": FLOAT,
        "e": FLOAT,
        "stride": INT,
        "action": FLOATS,
        "z": FLOATS,
    }
    write = module.function("slopes", returns=FLOAT, **arguments, log_std_gradient=FLOATS)
    with write as (f, distribution, s, e, stride, action, z, log_std_gradient):
        entropy, choices = f.variable(FLOAT, 0.0), distribution.choices
        with f.when(choices.equals(0)), f.loop(0, distribution.numbers, NARROW) as k:
            at, inverse_std = panel_index(stride, k), distribution.inverse_std.vector(k, NARROW)
            deviation = z.vector(at, NARROW)
            slope = f.select(inverse_std > 0.0, f.fma(deviation, deviation, -1.0), 0.0)
            f.store(log_std_gradient + k, f.fma(slope, s, log_std_gradient.vector(k, NARROW)))
            f.store(z + at, deviation * s * inverse_std)
        first, options = f.variable(INT, 0), distribution.options
        with f.loop(0, choices) as c:
            start, stop = first.value, first.value + options[c]
            own = f.variable(FLOAT, 0.0)
            with f.loop(start, stop) as k:
                chance = z[panel_index(stride, k)]
                own.set(own.value - exp(f, chance) * chance)
            with f.loop(start, stop) as k:
                at = panel_index(stride, k)
                chance = exp(f, z[at])
                z[at] = f.fma(e * chance, z[at] + own.value, -(s * chance))
            at = panel_index(stride, start + f.convert(action[c], INT))
            z[at] = z[at] + s
            entropy.add(own.value)
            first.set(stop)
        f.give(entropy.value)
    return f
