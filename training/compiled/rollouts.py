"""Rollouts in compiled functions: statistics, normalisation, acting, rewards, and advantages, for all environments.

A rollout's rows lie in blocks of one row for each environment: block t has what the networks see at step t, and what
follows from it. Observations and rewards are normalised as Stable-Baselines3's `VecNormalize` does, by means and
variances of all that came before (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing
sample variances", 1979).
"""

from typing import Any

from ...physics.machine.codegen.functions import clip, exp
from ...physics.machine.codegen.words import (
    BYTES,
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
from .distributions import DISTRIBUTION, LEAST, Distributions, panel_index
from .draws import fraction, normal, random_bits
from .networks import LANES, NETWORK, Networks
from .ppo_loss import ADVANTAGE, LOG_PROB, RETURN, VALUE
from .products import CHUNK, PANEL

PART = Record(
    "Part",
    x=FLOATS,  # of the last step, (envs, width)
    width=INT,
    columns=INT,  # number of places in a row
    column=INTS,  # the first column of each place
    learns=INT,  # 1: statistics take in x
    normalizes=INT,
    limit=DOUBLE,  # normalised numbers are clipped to +- this
    mean=DOUBLES,
    variance=DOUBLES,
    count=DOUBLES,
)
"""A part of an observation: one network or both see it."""
ROLLOUT = Record(
    "Rollout",
    envs=INT,
    step=INT,  # the present block
    steps=INT,
    rows=FLOATS,  # (blocks, envs, width)
    width=INT,
    actions=INT,  # the column of the first number of an action
    parts=INT,
    part=array_of(PART),
    actor=NETWORK,
    critic=NETWORK,
    actor_column=INT,
    critic_column=INT,
    distribution=DISTRIBUTION,
    index=INTS,  # 0, 1, 2, ...
    key=INT,  # of the draws of this step
    first=INT,  # the number that the first environment draws by: others may be in other processes
    low=FLOATS,  # limits of what the environment takes (numbers of an action,)
    high=FLOATS,
    taken=FLOATS,  # actions inside of the limits (envs, numbers)
    values=FLOATS,  # (steps + 2, envs)
    reward=FLOATS,  # of the last step, as the environment gave it
    terminated=BYTES,
    truncated=BYTES,
    rewards=FLOATS,  # (steps, envs), normalised
    starts=FLOATS,  # (steps + 1, envs): 1 if the episode begins at the step
    returns=DOUBLES,  # discounted, of the running episodes, for the statistics of rewards
    return_part=array_of(PART),  # their statistics
    sums=DOUBLES,  # of rewards of the running episodes
    lengths=DOUBLES,
    gamma=DOUBLE,
    gae_lambda=DOUBLE,
    ended=INT,  # number of environments whose episode ended at the last step
)
ACTING = Record("Acting", rollout=ROLLOUT, critic=INT)
"""A task of acting: the actor's (0) or the critic's (1)."""
EPSILON = 1e-8
"""Added to variances, as in `VecNormalize`."""


class Rollouts:
    """The compiled functions, of a ROLLOUT.

    Attributes:
        act: a task, of ACTING: draws, log-probabilities of the present block, and the actions to take; or its values.
        record: take in what the environments returned: statistics, rewards, the next block.
        normalize: write parts, as they are in `part.x`, into the present block, without statistics.
        value: values of the present block.
        advantages: generalised advantages and returns, from values and rewards.
    """

    def __init__(self, module: Module, networks: Networks, distributions: Distributions, gather: Function) -> None:
        normalize, observe = _normalize(module), _observe(module)
        values = _values(module, networks, gather)
        self.act = _act(module, networks, distributions, gather, values)
        self.record = _record(module, normalize, observe)
        self.normalize = _normalize_all(module, normalize)
        self.value = values
        self.advantages = _advantages(module)


def _columns(f: Function, width: Any) -> Any:
    """Yield lanes and the first column, inside a loop over columns that are taken together and one over the rest."""
    whole = width // LANES * LANES
    for lanes, start, stop in ((LANES, 0, whole), (0, whole, width)):
        with f.loop(start, stop, max(lanes, 1)) as k:
            yield lanes, k


def _observe(module: Module) -> Function:
    """Write the update of a part's statistics by n rows x (n, width) of numbers."""
    with module.function("observe", part=PART, n=INT) as (f, part, n):
        x, width, mean, variance, count = part.x, part.width, part.mean, part.variance, f.convert(n, DOUBLE)
        before = part.count[0]
        total = before + count
        part.count[0] = total
        for lanes, k in _columns(f, width):
            kind = DOUBLE.vector(lanes)
            new_mean, new_square = f.variable(kind, 0.0), f.variable(kind, 0.0)
            with f.loop(0, n) as r:
                new_mean.add(f.convert(x.vector(r * width + k, lanes), DOUBLE))
            new_mean.set(new_mean.value / count)
            with f.loop(0, n) as r:
                deviation = f.convert(x.vector(r * width + k, lanes), DOUBLE) - new_mean.value
                new_square.set(f.fma(deviation, deviation, new_square.value))
            old = mean.vector(k, lanes)
            change = new_mean.value - old
            squares = variance.vector(k, lanes) * before + new_square.value + change * change * before * count / total
            f.store(mean + k, old + change * count / total)
            f.store(variance + k, squares / total)
    return f


def _normalize(module: Module) -> Function:
    """Write a part's normalised numbers into n rows of a block."""
    write = module.function("normalize_part", part=PART, rows=FLOATS, width=INT, n=INT)
    with write as (f, part, rows, width, n):
        x, size, limit = part.x, part.width, f.convert(part.limit, FLOAT)
        for lanes, k in _columns(f, size):
            kind = FLOAT.vector(lanes)
            mean, factor, most = f.variable(kind, 0.0), f.variable(kind, 1.0), f.variable(kind, -LEAST)
            with f.when(part.normalizes.equals(1)):
                mean.set(f.convert(part.mean.vector(k, lanes), FLOAT))
                factor.set(f.convert(1.0 / f.sqrt(part.variance.vector(k, lanes) + EPSILON), FLOAT))
                most.set(limit)
            with f.loop(0, part.columns) as place:
                target = rows + (part.column[place] + k)
                with f.loop(0, n) as r:
                    value = (x.vector(r * size + k, lanes) - mean.value) * factor.value
                    f.store(target + r * width, clip(f, value, -most.value, most.value))
    return f


def _normalize_all(module: Module, normalize: Function) -> Function:
    with module.function("normalize_block", public=True, rollout=ROLLOUT) as (f, rollout):
        n, width = rollout.envs, rollout.width
        with f.loop(0, rollout.parts) as k:
            f.call(normalize, rollout.part[k], rollout.rows + rollout.step * n * width, width, n)
    return f


def _values(module: Module, networks: Networks, gather: Function) -> Function:
    with module.function("value_block", public=True, rollout=ROLLOUT) as (f, rollout):
        n, width, critic = rollout.envs, rollout.width, rollout.critic
        block, values = rollout.rows + rollout.step * n * width, rollout.values + rollout.step * n
        out = critic.layer[critic.layers - 1].y
        column = rollout.actions + rollout.distribution.numbers + VALUE
        with f.loop(0, n, CHUNK) as first:
            many = f.minimum(n - first, CHUNK)
            rows = (many + 7) // 8 * 8
            f.call(gather, critic, block + rollout.critic_column, width, rollout.index + first, many, rows)
            f.call(networks.forward, critic, rows)
            with f.loop(0, many) as r:
                env, value = first + r, out[r * PANEL]
                values[env] = value
                block[env * width + column] = value
    return f


def _act(
    module: Module, networks: Networks, distributions: Distributions, gather: Function, value: Function
) -> Function:
    draw = _draw(module)
    with module.function("act", rollout=ROLLOUT) as (f, rollout):
        n, width, actor, distribution = rollout.envs, rollout.width, rollout.actor, rollout.distribution
        numbers, block = distribution.numbers, rollout.rows + rollout.step * n * width
        top = actor.layer[actor.layers - 1]
        out, slopes, stride = top.y, top.z, actor.capacity * PANEL
        with f.loop(0, n, CHUNK) as first:
            many = f.minimum(n - first, CHUNK)
            rows = (many + 7) // 8 * 8
            f.call(gather, actor, block + rollout.actor_column, width, rollout.index + first, many, rows)
            f.call(networks.forward, actor, rows)
            with f.loop(0, many) as r:
                env = first + r
                action, place = block + (env * width + rollout.actions), r * PANEL
                f.call(draw, rollout, env, out + place, stride, action)
                log_prob = action + (numbers + LOG_PROB)
                log_prob[0] = f.call(distributions.log_prob, distribution, out + place, stride, action, slopes + place)
    act = f
    with module.function("act_task", public=True, task=ACTING) as (f, task):
        with f.when(task.critic.equals(0)):
            f.call(act, task.rollout)
        with f.when(task.critic.equals(1)):
            f.call(value, task.rollout)
    return f


def _draw(module: Module) -> Function:
    """Write an environment's action, and what of it the environment takes."""
    arguments: dict[str, Any] = {"rollout": ROLLOUT, "env": INT, "out": FLOATS, "stride": INT, "action": FLOATS}
    with module.function("draw", **arguments) as (f, rollout, env, out, stride, action):
        distribution = rollout.distribution
        numbers, choices, std = distribution.numbers, distribution.choices, distribution.std
        taken, drawn = rollout.taken + env * numbers, (rollout.first + env) * numbers
        low, high = rollout.low, rollout.high
        with f.when(choices.equals(0)), f.loop(0, numbers) as k:
            z = normal(f, random_bits(rollout.key, drawn + k + 1))
            action[k] = f.fma(z, std[k], out[panel_index(stride, k)])
            taken[k] = clip(f, action[k], low[k], high[k])
        first, options = f.variable(INT, 0), distribution.options
        with f.loop(0, choices) as c:
            chance = fraction(f, random_bits(rollout.key, drawn + c + 1) >> 40)
            chosen = _choose(f, out, stride, first.value, options[c], chance)
            action[c] = f.convert(chosen, FLOAT)
            taken[c] = action[c]
            first.add(options[c])
    return f


def _choose(f: Function, out: Any, stride: Any, first: Any, options: Any, chance: Any) -> Any:
    """Return the option at which the sum of probabilities, given as logits, first exceeds a fraction."""
    most, total = f.variable(FLOAT, LEAST), f.variable(FLOAT, 0.0)
    with f.loop(0, options) as k:
        most.set(f.maximum(out[panel_index(stride, first + k)], most.value))
    with f.loop(0, options) as k:
        total.add(exp(f, out[panel_index(stride, first + k)] - most.value))
    below, chosen = f.variable(FLOAT, 0.0), f.variable(INT, 0)
    with f.loop(0, options - 1) as k:
        below.add(exp(f, out[panel_index(stride, first + k)] - most.value))
        chosen.set(f.select(below.value <= chance * total.value, k + 1, chosen.value))
    return chosen.value


def _record(module: Module, normalize: Function, observe: Function) -> Function:
    with module.function("record", public=True, rollout=ROLLOUT) as (f, rollout):
        n, width, step = rollout.envs, rollout.width, rollout.step
        reward, terminated, truncated = rollout.reward, rollout.terminated, rollout.truncated
        returns, sums, lengths, statistics = rollout.returns, rollout.sums, rollout.lengths, rollout.return_part[0]
        rewards, starts = rollout.rewards + step * n, rollout.starts + (step + 1) * n
        copies, ended = statistics.x, f.variable(INT, 0)
        with f.loop(0, n) as i:
            r = f.convert(reward[i], DOUBLE)
            sums[i] = sums[i] + r
            lengths[i] = lengths[i] + 1.0
            returns[i] = returns[i] * rollout.gamma + r
            copies[i] = f.convert(returns[i], FLOAT)
            done = f.convert(terminated[i] | truncated[i], INT)
            starts[i] = f.convert(done, FLOAT)
            ended.add(done)
        with f.when(statistics.learns.equals(1)):
            f.call(observe, statistics, n)
        factor, limit = f.variable(FLOAT, 1.0), f.variable(FLOAT, -LEAST)
        with f.when(statistics.normalizes.equals(1)):
            factor.set(f.convert(1.0 / f.sqrt(statistics.variance[0] + EPSILON), FLOAT))
            limit.set(f.convert(statistics.limit, FLOAT))
        with f.loop(0, n) as i:
            rewards[i] = clip(f, reward[i] * factor.value, -limit.value, limit.value)
            returns[i] = f.select(starts[i] > 0.0, 0.0, returns[i])
        block = rollout.rows + (step + 1) * n * width
        with f.loop(0, rollout.parts) as k:
            part = rollout.part[k]
            with f.when(part.learns.equals(1)):
                f.call(observe, part, n)
            f.call(normalize, part, block, width, n)
        rollout.ended = ended.value
    return f


def _advantages(module: Module) -> Function:
    """Write A_t = d_t + gamma lambda A_t+1 with d_t = r_t + gamma V_t+1 - V_t, nothing of later episodes, and A + V.

    Source: Schulman et al., "High-dimensional continuous control using generalized advantage estimation", 2016, (16).
    """
    with module.function("advantages_of_rollout", public=True, rollout=ROLLOUT) as (f, rollout):
        n, steps, width, values = rollout.envs, rollout.steps, rollout.width, rollout.values
        gamma = f.convert(rollout.gamma, FLOAT)
        decay = f.convert(rollout.gamma * rollout.gae_lambda, FLOAT)
        rest = rollout.rows + (rollout.actions + rollout.distribution.numbers)
        with f.loop(0, n) as i:
            advantage = f.variable(FLOAT, 0.0)
            with f.loop(0, steps) as k:
                t = steps - 1 - k
                at = t * n + i
                goes_on = 1.0 - rollout.starts[at + n]
                delta = f.fma(values[at + n] * goes_on, gamma, rollout.rewards[at]) - values[at]
                advantage.set(f.fma(decay * goes_on, advantage.value, delta))
                row = rest + at * width
                row[ADVANTAGE] = advantage.value
                row[RETURN] = advantage.value + values[at]
    return f
