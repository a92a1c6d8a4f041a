"""Actions between -1 and 1 in compiled functions: draws, their log-probabilities, and the slopes of a loss.

The actor's output has, for each number of an action, the mean m and, for a Gaussian, the logarithm of the standard
deviation s, each at the head of panels of 8. With a normal draw e:

    Gaussian (SAC)      a = tanh(u),  u = m + s e,   log p = sum(-e^2 / 2 - log s - log(2 pi) / 2 - log(1 - a^2 + 1e-6))
    deterministic (TD3) a = clip(tanh(m) + clip(S e, -c, c), -1, 1),   log p = 0

Sources: Haarnoja et al., "Soft actor-critic algorithms and applications", 2018, appendix C; Fujimoto et al.,
"Addressing function approximation error in actor-critic methods", 2018; limits as in Stable-Baselines3.
"""

from typing import Any

from ...physics.machine.codegen.functions import clip, exp, log
from ...physics.machine.codegen.words import DOUBLE, FLOAT, FLOATS, INT, INTS, Function, Module, Record
from .distributions import HALF_LOG_2PI, panel_index
from .draws import normal, random_bits
from .products import NARROW, PANEL

LEAST_LOG_STD, MOST_LOG_STD = -20.0, 2.0
SQUASH_EPSILON = 1e-6
ACTIONS = Record(
    "Actions",
    numbers=INT,  # of an action
    padded=INT,  # a multiple of 8
    gaussian=INT,
    mask=FLOATS,  # (padded,): 1 for each number, 0 for the rest
    limit=DOUBLE,  # c
)
DRAWN = Record(
    "Drawn",
    action=FLOATS,  # (rows, padded), as all but the last
    slope=FLOATS,  # da / du = 1 - a^2
    spread=FLOATS,  # s e
    pull=FLOATS,  # slopes of the loss in the action
    log_prob=FLOATS,  # (rows,)
)
"""The draws of some rows."""


class Squashed:
    """The compiled functions.

    Attributes:
        draw: fill DRAWN for n rows of an actor's output, with S. A row's draws are those of the key and of its number
            in `order`; the rows from `count` to n have the first one's, and do not count.
        slopes: write the slopes z of an actor's output, for `pull` and the slope in log p.
    """

    def __init__(self, module: Module) -> None:
        self.draw = _draw(module)
        self.slopes = _slopes(module)


def squash(f: Function, u: Any) -> tuple[Any, Any]:
    """Return a = tanh u and 1 - a^2, to rounding even if a is close to 1: with t = e^-2|u|, 4 t / (1 + t)^2."""
    t = exp(f, f.abs(u) * -2.0)
    share = 1.0 / (t + 1.0)
    size = (1.0 - t) * share
    return f.select(u < 0.0, -size, size), t * share * share * 4.0


def _draw(module: Module) -> Function:
    arguments: dict[str, Any] = {
        "actions": ACTIONS,
        "out": FLOATS,
        "stride": INT,
        "key": INT,
        "order": INTS,
        "count": INT,
        "n": INT,
        "smoothing": FLOAT,
        "drawn": DRAWN,
    }
    write = module.function("draw_actions", **arguments)
    with write as (f, actions, out, stride, key, order, count, n, smoothing, drawn):
        padded, gaussian, mask = actions.padded, actions.gaussian, actions.mask
        action, slope, spread, log_prob = drawn.action, drawn.slope, drawn.spread, drawn.log_prob
        limit, numbers = f.convert(actions.limit, FLOAT), f.indices(NARROW) + 1
        with f.loop(0, n) as r:
            total, number = f.variable(FLOAT.vector(NARROW), 0.0), order[f.select(r < count, r, 0)]
            with f.loop(0, padded, NARROW) as k:
                row, at = out + r * PANEL, r * padded + k
                real = mask.vector(k, NARROW)
                e = normal(f, random_bits(key, numbers + (number * padded + k))) * real
                mean = row.vector(panel_index(stride, k), NARROW)
                with f.when(gaussian.equals(1)):
                    log_std = _log_std(f, row.vector(panel_index(stride, padded + k), NARROW))
                    change = exp(f, log_std) * e
                    a, da = squash(f, mean + change)
                    _store(f, at, (action, a), (slope, da), (spread, change))
                    term = f.fma(e * e, -0.5, -log_std) - (log(f, da + SQUASH_EPSILON) + HALF_LOG_2PI)
                    total.set(f.fma(real, term, total.value))
                with f.when(gaussian.equals(0)):
                    a, da = squash(f, mean)
                    a = clip(f, a + clip(f, e * smoothing, -limit, limit), -1.0, 1.0)
                    _store(f, at, (action, a), (slope, da))
            log_prob[r] = f.sum(total.value)
    return f


def _log_std(f: Function, x: Any) -> Any:
    return clip(f, x, LEAST_LOG_STD, MOST_LOG_STD)


def _store(f: Function, at: Any, *pairs: Any) -> None:
    for array, value in pairs:
        f.store(array + at, value)


def _slopes(module: Module) -> Function:
    """Write the slopes of a loss with slopes `pull` in the action and `by` in log p.

    dL / du = pull (1 - a^2) + by 2 a (1 - a^2) / (1 - a^2 + 1e-6), which is dL / dm; dL / d log s = s e dL / du - by.
    """
    arguments: dict[str, Any] = {
        "actions": ACTIONS,
        "drawn": DRAWN,
        "by": FLOAT,
        "out": FLOATS,
        "z": FLOATS,
        "stride": INT,
        "n": INT,
    }
    with module.function("action_slopes", **arguments) as (f, actions, drawn, by, out, z, stride, n):
        padded, gaussian, mask = actions.padded, actions.gaussian, actions.mask
        with f.loop(0, n) as r, f.loop(0, padded, NARROW) as k:
            row, result, real, at = out + r * PANEL, z + r * PANEL, mask.vector(k, NARROW), r * padded + k
            pull, a, da = (array.vector(at, NARROW) for array in (drawn.pull, drawn.action, drawn.slope))
            squashing = a * da * 2.0 / (da + SQUASH_EPSILON)
            du = f.fma(pull, da, squashing * by) * real
            f.store(result + panel_index(stride, k), du)
            with f.when(gaussian.equals(1)):
                place = panel_index(stride, padded + k)
                log_std = row.vector(place, NARROW)
                free = f.abs(log_std - (LEAST_LOG_STD + MOST_LOG_STD) / 2) <= (MOST_LOG_STD - LEAST_LOG_STD) / 2
                slope = f.fma(du, drawn.spread.vector(at, NARROW), -(real * by))
                f.store(result + place, f.select(free, slope, 0.0))
    return f
