"""The losses of soft actor-critic and of TD3, and their slopes, in compiled functions, for some rows of a minibatch.

Of n transitions (s, a, r, s', end) with discount g, critics Q_k, their targets Q'_k and the temperature t (0 in TD3):

    y     = r + g (1 - end) (min_k Q'_k(s', a') - t log p(a'))          a' drawn at s' (TD3: by the actor's target)
    L_Q   = c sum_k mean((Q_k(s, a) - y)^2)                             c = 1/2 (TD3: 1)
    L_pi  = mean(t log p(b) - min_k Q_k(s, b))                          b drawn at s (TD3: only Q_1)
    L_t   = -log t (mean(log p(b)) + H)                                 H is the entropy that is aimed at

Sources: Haarnoja et al., "Soft actor-critic algorithms and applications", 2018; Fujimoto et al., "Addressing function
approximation error in actor-critic methods", 2018; details as Stable-Baselines3's `SAC.train` and `TD3.train`.
"""

from typing import Any

from ...physics.machine.codegen.functions import clip
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
from .distributions import panel_index
from .networks import NETWORK, Networks
from .products import CHUNK, PANEL, Products
from .squashed import ACTIONS, DRAWN, Squashed

SEEN = Record(
    "Seen",
    now=FLOATS,  # (transitions, width): s
    later=FLOATS,  # s'
    width=INT,
    places=INT,  # number of places in a row of inputs: the actor's, the critics', or both
    place=INTS,  # the column of each place
    mean=DOUBLES,  # (width,): x becomes (x - mean) factor, clipped to +- limit
    factor=DOUBLES,
    limit=DOUBLE,
)
"""A part of the observations in a replay buffer."""
REPLAY = Record(
    "Replay",
    parts=INT,
    part=array_of(SEEN),
    actions=FLOATS,  # (transitions, numbers)
    action_column=INT,  # in a row of inputs
    rewards=FLOATS,  # (transitions,), as all that follow
    ends=FLOATS,  # 1 if the episode ended
    timeouts=FLOATS,  # 1 if it was cut by a time limit, and did not end
    reward_factor=DOUBLE,
    reward_limit=DOUBLE,
)
GROUP = Record(
    "Group",
    x=FLOATS,  # inputs of all networks, in panels
    drawn=DRAWN,
    targets=FLOATS,  # (CHUNK,): y
    pulls=FLOATS,  # slopes of critics in their last panels of inputs, one critic after the other
    actor=NETWORK,
    target_actor=NETWORK,
    critic=array_of(NETWORK),
    target=array_of(NETWORK),
    figures=DOUBLES,  # sums of FIGURES over the rows
)
"""A group of rows: its networks share parameters with those of other groups, and have a gradient each."""
FIGURES = ("critic_loss", "actor_loss", "log_prob")
Q_UPDATE = Record(
    "QUpdate",
    replay=REPLAY,
    actions=ACTIONS,
    index=INTS,  # (rows,): transitions of all minibatches, those of one after those of another
    order=INTS,  # (rows,): the row's number in the minibatch
    starts=INTS,  # (steps + 1,): the first row of each minibatch
    keys=INTS,  # (steps, 2): of draws at s', and at s
    moves=INTS,  # (steps,): whether the actor learns
    follows=INTS,  # whether targets follow
    corrections=DOUBLES,  # (steps, 3, 2) for critics, actor, temperature: 1 / (1 - beta1^k), 1 / sqrt(1 - beta2^k)
    epsilons=DOUBLES,  # (3,): Adam's
    rates=DOUBLES,  # (3,)
    steps=INT,
    step=INT,  # the present one
    n=INT,  # rows of a whole minibatch, of which other processes may have some
    shared=INT,  # 1: other processes have some; -1: they cannot be reached, so that no more steps are taken
    groups=INT,
    group=array_of(GROUP),
    critics=INT,
    judges=INT,  # critics whose least value the actor raises
    zeros=FLOATS,  # as many as a critic has inputs
    gamma=DOUBLE,
    tau=DOUBLE,
    smoothing=DOUBLE,  # of actions at s', in TD3
    loss_factor=DOUBLE,  # c
    temperature=NETWORK,  # its first parameter is log t
    learns_temperature=INT,
    entropy=DOUBLE,  # H
    t=DOUBLE,  # the temperature of this step
    totals=DOUBLES,  # of means of FIGURES, temperatures and losses of temperatures, over the steps
)


class QLosses:
    """The compiled functions: gradients of critics and of the actor, for one group."""

    def __init__(self, module: Module, products: Products, networks: Networks) -> None:
        squashed, gather, place = Squashed(module), _gather(module), _place_actions(module)
        pull = _pull(module, products)
        self.critics = _critics(module, networks, squashed, gather, place)
        self.actor = _actor(module, networks, squashed, gather, place, pull)


def _gather(module: Module) -> Function:
    """Write normalised observations into rows of inputs; those from `count` to n repeat the first, and do not count."""
    arguments: dict[str, Any] = {
        "replay": REPLAY,
        "later": INT,
        "index": INTS,
        "count": INT,
        "n": INT,
        "x": FLOATS,
        "stride": INT,
    }
    write = module.function("gather_seen", **arguments)
    with write as (f, replay, later, index, count, n, x, stride), f.loop(0, replay.parts) as p:
        part = replay.part[p]
        source, width = f.select(later.equals(1), part.later, part.now), part.width
        mean, factor, limit = part.mean, part.factor, part.limit
        with f.loop(0, n) as r:
            row = source + index[f.select(r < count, r, 0)] * width
            with f.loop(0, width) as k:
                value = clip(f, (f.convert(row[k], DOUBLE) - mean[k]) * factor[k], -limit, limit)
                with f.loop(0, part.places) as place:
                    x[panel_index(stride, part.place[place] + k) + r * PANEL] = f.convert(value, FLOAT)
    return f


def _place_actions(module: Module) -> Function:
    """Write n rows of actions, `width` apart, into rows of inputs."""
    arguments: dict[str, Any] = {"actions": FLOATS, "numbers": INT, "x": FLOATS, "column": INT, "stride": INT}
    write = module.function("place_action", **arguments)
    with write as (f, actions, numbers, x, column, stride), f.loop(0, numbers) as k:
        x[panel_index(stride, column + k)] = actions[k]
    return f


def rows_of(f: Function, update: Any, number: Any) -> tuple[Any, Any, Any, Any]:
    """Return a minibatch's index and order, and the first row of a group and the row after its last."""
    start, groups = update.starts[update.step], update.groups
    n = update.starts[update.step + 1] - start
    size = (n + (groups * 8 - 1)) // (groups * 8) * 8
    return update.index + start, update.order + start, f.minimum(number * size, n), f.minimum((number + 1) * size, n)


def _critics(module: Module, networks: Networks, squashed: Squashed, gather: Function, place: Function) -> Function:
    with module.function("critics_gradient", update=Q_UPDATE, number=INT) as (f, update, number):
        group, replay, actions, critics = update.group[number], update.replay, update.actions, update.critics
        index, order, first, last = rows_of(f, update, number)
        x, drawn, targets, critic, target = group.x, group.drawn, group.targets, group.critic, group.target
        actor, stride, numbers, column = group.target_actor, CHUNK * PANEL, actions.numbers, replay.action_column
        key, smoothing, loss = update.keys[update.step * 2], f.convert(update.smoothing, FLOAT), f.variable(DOUBLE, 0.0)
        factor = f.convert(update.loss_factor * 2.0 / f.convert(update.n, DOUBLE), FLOAT)
        with f.loop(0, critics) as k:
            f.call(networks.clear, critic[k].gradient, critic[k].count)
        with f.loop(first, last, CHUNK) as r0:
            many = f.minimum(last - r0, CHUNK)
            rows, here = (many + 7) // 8 * 8, index + r0
            f.call(gather, replay, 1, here, many, rows, x, stride)
            f.call(networks.forward, actor, rows)
            f.call(squashed.draw, actions, top_of(actor).y, stride, key, order + r0, many, rows, smoothing, drawn)
            with f.loop(0, rows) as r:
                f.call(place, drawn.action + r * actions.padded, numbers, x + r * PANEL, column, stride)
            with f.loop(0, critics) as k:
                f.call(networks.forward, target[k], rows)
            _targets(f, update, group, here, many)
            f.call(gather, replay, 0, here, many, rows, x, stride)
            with f.loop(0, rows) as r:
                source = replay.actions + here[f.select(r < many, r, 0)] * numbers
                f.call(place, source, numbers, x + r * PANEL, column, stride)
            with f.loop(0, critics) as k:
                f.call(networks.forward, critic[k], rows)
                top = top_of(critic[k])
                value, slopes = top.y, top.z
                with f.loop(0, many) as r:
                    error = value[r * PANEL] - targets[r]
                    slopes[r * PANEL] = error * factor
                    wide = f.convert(error, DOUBLE)
                    loss.set(f.fma(wide, wide, loss.value))
                with f.loop(many, rows) as r:
                    slopes[r * PANEL] = 0.0
                f.call(networks.backward, critic[k], rows)
        group.figures[0] = loss.value * update.loss_factor
    return f


def top_of(network: Any) -> Any:
    """Return the last layer of a network."""
    return network.layer[network.layers - 1]


def _targets(f: Function, update: Any, group: Any, index: Any, n: Any) -> None:
    """Write y of n rows, of which the targets have the values at s' and a'."""
    replay, drawn, targets, target = update.replay, group.drawn, group.targets, group.target
    gamma, t = (f.convert(x, FLOAT) for x in (update.gamma, update.t))
    limit = update.replay.reward_limit
    with f.loop(0, n) as r:
        value = f.variable(FLOAT, top_of(target[0]).y[r * PANEL])
        with f.loop(1, update.critics) as k:
            value.set(f.minimum(value.value, top_of(target[k]).y[r * PANEL]))
        at = index[r]
        reward = clip(f, f.convert(replay.rewards[at], DOUBLE) * replay.reward_factor, -limit, limit)
        goes_on = 1.0 - replay.ends[at] * (1.0 - replay.timeouts[at])
        after = f.fma(drawn.log_prob[r], -t, value.value)
        targets[r] = f.fma(goes_on * gamma, after, f.convert(reward, FLOAT))


def _pull(module: Module, products: Products) -> Function:
    """Write the slopes in a critic's inputs from column `start` on, a multiple of 16, for slopes z of its output."""
    arguments: dict[str, Any] = {"network": NETWORK, "n": INT, "start": INT, "zeros": FLOATS, "result": FLOATS}
    with module.function("pull", **arguments) as (f, network, n, start, zeros, result):
        capacity, layers, count = network.capacity, network.layer, network.layers
        with f.loop(0, count - 1) as i:
            layer, below = layers[count - 1 - i], layers[count - 2 - i].z
            z, inputs, outputs = layer.z, layer.inputs, layer.outputs
            f.call(products.backward, z, capacity, n, outputs, layer.transposed, inputs, z, below, below)
        first = layers[0]
        inputs, outputs = first.inputs, first.outputs
        w = first.transposed + start * outputs
        f.call(products.forward[-1], first.z, capacity, n, outputs, w, inputs - start, zeros, result, result)
    return f


def _actor(
    module: Module, networks: Networks, squashed: Squashed, gather: Function, place: Function, pull: Function
) -> Function:
    with module.function("actor_gradient", update=Q_UPDATE, number=INT) as (f, update, number):
        group, replay, actions, judges = update.group[number], update.replay, update.actions, update.judges
        index, order, first, last = rows_of(f, update, number)
        x, drawn, critic, actor, pulls = group.x, group.drawn, group.critic, group.actor, group.pulls
        stride, numbers, column = CHUNK * PANEL, actions.numbers, replay.action_column
        in_critic = critic[0].layer[0].inputs - numbers  # the column of actions in a critic's inputs
        start = in_critic // PANEL * PANEL
        size = (in_critic + numbers - start + (PANEL - 1)) // PANEL * stride
        share, key = 1.0 / f.convert(update.n, FLOAT), update.keys[update.step * 2 + 1]
        t, out, z = f.convert(update.t, FLOAT), top_of(actor).y, top_of(actor).z
        loss, log_probs = f.variable(DOUBLE, 0.0), f.variable(DOUBLE, 0.0)
        f.call(networks.clear, actor.gradient, actor.count)
        with f.loop(first, last, CHUNK) as r0:
            many = f.minimum(last - r0, CHUNK)
            rows = (many + 7) // 8 * 8
            f.call(gather, replay, 0, index + r0, many, rows, x, stride)
            f.call(networks.forward, actor, rows)
            f.call(squashed.draw, actions, out, stride, key, order + r0, many, rows, 0.0, drawn)
            with f.loop(0, rows) as r:
                f.call(place, drawn.action + r * actions.padded, numbers, x + r * PANEL, column, stride)
            with f.loop(0, judges) as k:
                f.call(networks.forward, critic[k], rows)
            with f.loop(0, many) as r:
                value = _choose_least(f, critic, judges, r, share)
                log_prob = drawn.log_prob[r]
                log_probs.add(f.convert(log_prob, DOUBLE))
                loss.add(f.convert(f.fma(t, log_prob, -value), DOUBLE))
            with f.loop(0, judges) as k:
                slopes = top_of(critic[k]).z
                with f.loop(many, rows) as r:
                    slopes[r * PANEL] = 0.0
                f.call(pull, critic[k], rows, start, update.zeros, pulls + k * size)
            _sum_pulls(f, actions, drawn, pulls, in_critic - start, size, judges, rows)
            f.call(squashed.slopes, actions, drawn, t * share, out, z, stride, many)
            with f.loop(many, rows) as r, f.loop(0, top_of(actor).outputs) as k:
                z[panel_index(stride, k) + r * PANEL] = 0.0
            f.call(networks.backward, actor, rows)
        group.figures[1], group.figures[2] = loss.value, log_probs.value
    return f


def _choose_least(f: Function, critic: Any, count: Any, r: Any, share: Any) -> Any:
    """Return the least value of row r, and make the slopes of the values -share for its critic, and 0 for others."""
    value, least = f.variable(FLOAT, top_of(critic[0]).y[r * PANEL]), f.variable(INT, 0)
    with f.loop(1, count) as k:
        other = top_of(critic[k]).y[r * PANEL]
        less = other < value.value
        value.set(f.select(less, other, value.value))
        least.set(f.select(less, k, least.value))
    with f.loop(0, count) as k:
        top_of(critic[k]).z[r * PANEL] = f.select(least.value.equals(k), -share, 0.0)
    return value.value


def _sum_pulls(
    f: Function, actions: Any, drawn: Any, pulls: Any, column: Any, size: Any, critics: Any, rows: Any
) -> None:
    """Add the slopes of the critics in the action, which begin at a column of `pulls`."""
    numbers, padded, result, stride = actions.numbers, actions.padded, drawn.pull, CHUNK * PANEL
    with f.loop(0, rows) as r, f.loop(0, numbers) as k:
        at, total = panel_index(stride, column + k) + r * PANEL, f.variable(FLOAT, 0.0)
        with f.loop(0, critics) as c:
            total.add(pulls[c * size + at])
        result[r * padded + k] = total.value
