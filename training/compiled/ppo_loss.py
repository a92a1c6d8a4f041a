"""The loss of proximal policy optimisation and its slopes, in compiled functions, for a part of a minibatch.

With the ratio r = exp(log p - log p_old), the advantage A, the value V, the return R and the entropy H, of n rows:

    L = -mean(min(A r, A clip(r, 1 - c, 1 + c))) + vf_coef mean((V - R)^2) - ent_coef mean(H)

`clip_range_vf` replaces V by V_old + clip(V - V_old, +-c_V). Source: Schulman et al., "Proximal policy optimization
algorithms", 2017; details as Stable-Baselines3's `PPO.train` has them.
"""

from typing import Any

from ...physics.machine.codegen.words import (
    DOUBLE,
    DOUBLES,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    Function,
    Module,
    Record,
    array_of,
)
from .distributions import DISTRIBUTION, Distributions
from .functions import clip, exp
from .networks import LANES, NETWORK, OPTIMIZER, Networks
from .products import CHUNK, PANEL

UPDATE = Record(
    "Update",
    rollout=FLOATS,  # (rows, width): observations, actions, log p, advantage, return, value
    width=INT,
    actions=INT,  # the column of the first number of an action
    index=INTS,  # the rollout's row of each row of all minibatches
    starts=INTS,  # of each minibatch in the index, and the end of the last
    minibatches=INT,
    sizes=INTS,  # rows of each minibatch in all processes
    scales=FLOATS,  # (minibatches, 2): of advantages, if `normalize` is 2
    minibatch=INT,  # the present one
    groups=INT,  # of a minibatch's rows
    distribution=array_of(DISTRIBUTION),
    clip_range=DOUBLE,
    clip_range_vf=DOUBLE,  # infinite: none
    normalize=INT,  # 1: advantages get mean 0 and standard deviation 1 in each minibatch; 2: by `scales`
    vf_coef=DOUBLE,
    ent_coef=DOUBLE,
    max_grad_norm=DOUBLE,
    rate=DOUBLE,  # Adam's
    epsilon=DOUBLE,
    corrections=DOUBLES,  # (minibatches, 2): 1 / (1 - beta1^k), 1 / sqrt(1 - beta2^k)
    desired_kl=DOUBLE,  # steers the rate; 0: the rate stays
    target_kl=DOUBLE,  # ends the update; infinite: never
    optimizer=OPTIMIZER,
    pending=INT,  # 1: the step of the last minibatch has yet to be taken
    done=INT,  # steps that were taken
    stopped=INT,
    shared=INT,  # 1: other processes have rows too; -1: one of them cannot be reached
    totals=DOUBLES,  # of FIGURES, over all minibatches
    actor=array_of(NETWORK),  # one for each group, with common parameters
    critic=array_of(NETWORK),
    actor_column=INT,  # the first of the observations that the actor sees
    critic_column=INT,
    figures=DOUBLES,  # (groups, FIGURES), of the present minibatch
    log_std_gradient=INT,  # its first number in the actor's gradient
)
FIGURES = ("policy_loss", "kl", "clipped", "entropy", "value_loss")
LOG_PROB, ADVANTAGE, RETURN, VALUE = range(4)
"""Columns of a rollout after its actions."""


class Losses:
    """The compiled functions: gradients of actor and critic for one group of a minibatch's rows."""

    def __init__(self, module: Module, networks: Networks, distributions: Distributions) -> None:
        self.gather = gather = _gather(module)
        scale = _advantage_scale(module)
        self.actor = _actor(module, networks, distributions, gather, scale)
        self.critic = _critic(module, networks, gather)


def _gather(module: Module) -> Function:
    """Write rows of observations into a network's input; rows from `count` to n repeat the first, and do not count."""
    arguments: dict[str, Any] = {
        "network": NETWORK,
        "rollout": FLOATS,
        "width": INT,
        "index": INTS,
        "count": INT,
        "n": INT,
    }
    with module.function("gather", **arguments) as (f, network, rollout, width, index, count, n):
        layer = network.layer[0]
        x, inputs, stride = layer.x, layer.inputs, network.capacity * PANEL
        whole = inputs // PANEL * PANEL
        with f.loop(0, n) as r:
            source, row = rollout + index[f.select(r < count, r, 0)] * width, x + r * PANEL
            with f.loop(0, whole, PANEL) as k:
                f.store(row + k // PANEL * stride, source.vector(k, PANEL))
            rest = row + whole // PANEL * stride
            with f.loop(0, inputs - whole) as k:
                rest[k] = source[whole + k]
    return f


def _advantage_scale(module: Module) -> Function:
    """Write the mean of a minibatch's advantages, and 1 / (deviation + 1e-8); without normalisation 0 and 1."""
    write = module.function("advantage_scale", update=UPDATE, index=INTS, n=INT, out=FLOATS)
    with write as (f, update, index, n, out):
        column, width = update.rollout + (update.actions + update.distribution[0].numbers + ADVANTAGE), update.width
        total, squares, count = f.variable(DOUBLE, 0.0), f.variable(DOUBLE, 0.0), f.convert(n, DOUBLE)
        out[0], out[1] = 0.0, 1.0
        with f.when(update.normalize.equals(2)):
            out[0], out[1] = update.scales[update.minibatch * 2], update.scales[update.minibatch * 2 + 1]
        with f.when(update.normalize.equals(1)), f.when(n > 1):
            with f.loop(0, n) as r:
                total.add(f.convert(column[index[r] * width], DOUBLE))
            mean = total.value / count
            with f.loop(0, n) as r:
                deviation = f.convert(column[index[r] * width], DOUBLE) - mean
                squares.set(f.fma(deviation, deviation, squares.value))
            out[0] = f.convert(mean, FLOAT)
            out[1] = f.convert(1.0 / (f.sqrt(squares.value / (count - 1.0)) + 1e-8), FLOAT)
    return f


def group_of(f: Function, update: Any, group: Any) -> tuple[Any, Any, Any, Any]:
    """Return a minibatch's index and number of rows, and the first row of a group and the row after its last."""
    start, stop = update.starts[update.minibatch], update.starts[update.minibatch + 1]
    n = stop - start
    size = (n + (update.groups * 8 - 1)) // (update.groups * 8) * 8
    return update.index + start, n, f.minimum(group * size, n), f.minimum((group + 1) * size, n)


def _actor(
    module: Module, networks: Networks, distributions: Distributions, gather: Function, advantages: Function
) -> Function:
    with module.function("actor_gradient", update=UPDATE, group=INT) as (f, update, group):
        network, distribution = update.actor[group], update.distribution[0]
        index, n, first, last = group_of(f, update, group)
        rollout, width, actions, numbers = update.rollout, update.width, update.actions, distribution.numbers
        count, bottom = network.layers, network.layer
        top = bottom[count - 1]
        out, slopes, stride, log_std_gradient = top.y, top.z, network.capacity * PANEL, network.gradient
        log_std_gradient = log_std_gradient + update.log_std_gradient
        limits = f.array(FLOAT, 2)
        f.call(advantages, update, index, n, limits)
        mean, scale, clip_range = limits[0], limits[1], f.convert(update.clip_range, FLOAT)
        share = 1.0 / f.convert(update.sizes[update.minibatch], FLOAT)
        entropy_slope = share * f.convert(update.ent_coef, FLOAT)
        figures, entropy = [f.variable(DOUBLE.vector(LANES), 0.0) for _ in FIGURES[:3]], f.variable(DOUBLE, 0.0)
        log_ratios, scaled = f.array(FLOAT, CHUNK), f.array(FLOAT, CHUNK)
        f.call(networks.clear, network.gradient, network.count)
        with f.loop(first, last, CHUNK) as r0:
            many = f.minimum(last - r0, CHUNK)
            rows = (many + 7) // 8 * 8  # tiles have no other number of rows
            here = index + r0
            f.call(gather, network, rollout + update.actor_column, width, here, many, rows)
            f.call(networks.forward, network, rows)
            with f.loop(0, many) as r:
                row, at = rollout + (here[r] * width + actions), r * PANEL
                log_prob, rest = (
                    f.call(distributions.log_prob, distribution, out + at, stride, row, slopes + at),
                    row + numbers,
                )
                log_ratios[r], scaled[r] = log_prob - rest[LOG_PROB], (rest[ADVANTAGE] - mean) * scale
            with f.loop(many, rows) as r:
                log_ratios[r], scaled[r] = 0.0, 0.0
            with f.loop(0, rows, LANES) as r:
                log_ratio, advantage = log_ratios.vector(r, LANES), scaled.vector(r, LANES)
                ratio = exp(f, log_ratio)
                free = advantage * ratio
                held = advantage * clip(f, ratio, 1.0 - clip_range, clip_range + 1.0)
                far = f.select(f.abs(ratio - 1.0) > clip_range, f.constant(1.0, ratio.type), 0.0)
                for figure, value in zip(figures, (-f.minimum(free, held), ratio - 1.0 - log_ratio, far), strict=True):
                    figure.add(f.convert(value, DOUBLE))
                # zero where the clipped term, which is constant, is the smaller one
                f.store(log_ratios + r, f.select(free <= held, free * -share, 0.0))
            with f.loop(0, many) as r:
                row, at, slope = rollout + (here[r] * width + actions), slopes + r * PANEL, log_ratios[r]
                of_row = f.call(
                    distributions.slopes, distribution, slope, entropy_slope, stride, row, at, log_std_gradient
                )
                entropy.add(f.convert(of_row, DOUBLE))
            _clear_rows(f, top, stride, many, rows)
            f.call(networks.backward, network, rows)
        for k, value in enumerate([*(f.total(figure.value) for figure in figures), entropy.value]):
            update.figures[group * len(FIGURES) + k] = value
    return f


def _clear_rows(f: Function, layer: Any, stride: Any, first: Any, last: Any) -> None:
    """Set the slopes of rows that do not count to 0."""
    outputs, z = layer.outputs, layer.z
    zero = f.constant(0.0, FLOAT.vector(PANEL))
    with f.loop(0, outputs, PANEL) as k, f.loop(first, last) as r:
        f.store(z + (k // PANEL * stride + r * PANEL), zero)


def _critic(module: Module, networks: Networks, gather: Function) -> Function:
    with module.function("critic_gradient", update=UPDATE, group=INT) as (f, update, group):
        network = update.critic[group]
        index, _, first, last = group_of(f, update, group)
        rollout, width = update.rollout, update.width
        targets = rollout + (update.actions + update.distribution[0].numbers)
        top = network.layer[network.layers - 1]
        out, slopes, stride = top.y, top.z, network.capacity * PANEL
        limit = f.convert(update.clip_range_vf, FLOAT)
        factor = f.convert(update.vf_coef * 2.0, FLOAT) / f.convert(update.sizes[update.minibatch], FLOAT)
        loss = f.variable(DOUBLE, 0.0)
        f.call(networks.clear, network.gradient, network.count)
        with f.loop(first, last, CHUNK) as r0:
            many = f.minimum(last - r0, CHUNK)
            rows = (many + 7) // 8 * 8
            here = index + r0
            f.call(gather, network, rollout + update.critic_column, width, here, many, rows)
            f.call(networks.forward, network, rows)
            with f.loop(0, many) as r:
                target, value = targets + here[r] * width, out[r * PANEL]
                change = value - target[VALUE]
                inside = f.abs(change) <= limit
                kept = f.select(inside, value, target[VALUE] + clip(f, change, -limit, limit))
                error = kept - target[RETURN]
                slopes[r * PANEL] = f.select(inside, error * factor, 0.0)
                squared = f.convert(error, DOUBLE)
                loss.set(f.fma(squared, squared, loss.value))
            _clear_rows(f, top, stride, many, rows)
            f.call(networks.backward, network, rows)
        update.figures[group * len(FIGURES) + 4] = loss.value
    return f
