"""Updates of soft actor-critic and TD3 as one call of compiled code: all gradient steps of an iteration.

A step has four phases, each a launch of the pool's threads, whose tasks are independent:

1. gradients of the critics, for each group of the minibatch's rows;
2. steps of the critics: the gradients of groups are added in their order, then Adam;
3. gradients of the actor, for each group;
4. the steps of actor and temperature, and targets that follow: p' <- (1 - tau) p' + tau p.

If other processes have rows of the minibatch, gradients and figures of all are added after phases 1 and 3.

The number of groups depends on the number of rows, so the bits of results depend neither on the threads nor on who took
which task.
"""

from typing import Any

from ...physics.machine.codegen.functions import exp
from ...physics.machine.codegen.words import BYTES, DOUBLE, FLOAT, INT, Function, Module, Record
from .networks import LANES, NETWORK, OPTIMIZER, Networks
from .products import Products
from .q_loss import FIGURES, Q_UPDATE, QLosses

Q_TASK = Record("QTask", update=Q_UPDATE, number=INT)
"""A task of a phase: the number of a group, of a critic, or of a network that follows: the actor, then each critic."""
PHASES, EXCHANGES = ("critics", "steps", "actor", "rest"), ("add_critics", "add_actor")
Q_LAUNCHES = Record("QLaunches", update=Q_UPDATE, launch=BYTES, **dict.fromkeys((*PHASES, *EXCHANGES), BYTES))
"""The pool's function `launch`, one launch for each phase, and functions that add the numbers of all processes."""
CRITICS, ACTOR, TEMPERATURE = range(3)
"""Rows of corrections, epsilons and rates."""


class QUpdateFunctions:
    """The compiled functions of an update.

    Attributes:
        critics, steps, actor, rest: the tasks of the phases, of a Q_TASK.
        run: the update, of Q_LAUNCHES.
    """

    def __init__(self, module: Module, products: Products, networks: Networks) -> None:
        losses, step, follow = QLosses(module, products, networks), _step(module, networks), _follow(module)
        transpose = _transpose(module, products, networks)
        self.critics = _gradient_task(module, "critics_task", losses.critics)
        self.steps = _steps_task(module, networks, step, transpose)
        self.actor = _gradient_task(module, "actor_task", losses.actor)
        self.rest = _rest_task(module, networks, step, transpose, follow)
        self.run = _run(module)


def _gradient_task(module: Module, name: str, gradient: Function) -> Function:
    with module.function(name, public=True, task=Q_TASK) as (f, task):
        f.call(gradient, task.update, task.number)
    return f


def _step(module: Module, networks: Networks) -> Function:
    """Write a step of Adam, with the numbers of a kind of networks."""
    with module.function("q_step", update=Q_UPDATE, kind=INT, network=NETWORK) as (f, update, kind, network):
        optimizer, corrections = f.record(OPTIMIZER), update.corrections + (update.step * 3 + kind) * 2
        optimizer.scale, optimizer.rate = 1.0, update.rates[kind] * corrections[0]
        optimizer.root, optimizer.epsilon = corrections[1], update.epsilons[kind]
        f.call(networks.adam, network, optimizer)
    return f


def _transpose(module: Module, products: Products, networks: Networks) -> Function:
    """Write the renewal of the transposed weights, the first layer's too."""
    with module.function("transpose_network", public=True, network=NETWORK) as (f, network):
        first = network.layer[0]
        f.call(products.transpose, first.weights, first.transposed, first.inputs, first.outputs)
        f.call(networks.transpose, network)
    return f


def _follow(module: Module) -> Function:
    with module.function("follow", target=NETWORK, network=NETWORK, tau=FLOAT) as (f, target, network, tau):
        followers, parameters, kept = target.parameters, network.parameters, f.splat(1.0 - tau, LANES)
        with f.loop(0, network.count, LANES) as i:
            f.store(followers + i, f.fma(parameters.vector(i, LANES), tau, followers.vector(i, LANES) * kept))
    return f


def _steps_task(module: Module, networks: Networks, step: Function, transpose: Function) -> Function:
    with module.function("steps_task", public=True, task=Q_TASK) as (f, task):
        update, groups, k = task.update, task.update.group, task.number
        network = groups[0].critic[k]
        with f.loop(1, update.groups) as g:
            f.call(networks.add, network.gradient, groups[g].critic[k].gradient, network.count)
        f.call(step, update, CRITICS, network)
        f.call(transpose, network)
    return f


def _rest_task(module: Module, networks: Networks, step: Function, transpose: Function, follow: Function) -> Function:
    with module.function("rest_task", public=True, task=Q_TASK) as (f, task):
        update, groups, number, tau = task.update, task.update.group, task.number, f.convert(task.update.tau, FLOAT)
        group, moves, follows = groups[0], update.moves[update.step], update.follows[update.step]
        actor, k = group.actor, number - 1
        with f.when(number.equals(0)), f.when(moves.equals(1)):
            with f.loop(1, update.groups) as g:
                f.call(networks.add, actor.gradient, groups[g].actor.gradient, actor.count)
            f.call(step, update, ACTOR, actor)
            f.call(transpose, actor)
            with f.when(update.learns_temperature.equals(1)):
                f.call(step, update, TEMPERATURE, update.temperature)
        with f.when(follows.equals(1)):
            with f.when(number.equals(0)), f.when(update.actions.gaussian.equals(0)):
                f.call(follow, group.target_actor, actor, tau)
            with f.when(number > 0):
                f.call(follow, group.target[k], group.critic[k], tau)
    return f


def _run(module: Module) -> Function:
    with module.function("q_update", public=True, launches=Q_LAUNCHES) as (f, launches):
        update = launches.update
        log_t = update.temperature.parameters
        with f.loop(0, update.steps) as step, f.when(update.shared >= 0):
            update.step = step
            with f.when(update.learns_temperature.equals(1)):
                update.t = f.convert(exp(f, log_t[0]), DOUBLE)
            f.call_address(launches.launch, launches.critics)
            with f.when(update.shared.equals(1)):
                f.call_address(launches.add_critics)
            f.call_address(launches.launch, launches.steps)
            _add_figures(f, update, 0)
            with f.when(update.moves[step].equals(1)):
                f.call_address(launches.launch, launches.actor)
                with f.when(update.shared.equals(1)):
                    f.call_address(launches.add_actor)
                _add_figures(f, update, 1)
                log_prob = _add_figures(f, update, 2)
                _add_temperature(f, update, log_prob)
            f.call_address(launches.launch, launches.rest)
    return f


def _add_figures(f: Function, update: Any, k: int) -> Any:
    """Add the mean of figure k to the totals, and return it."""
    total, groups = f.variable(DOUBLE, 0.0), update.group
    with f.loop(0, update.groups) as g:
        total.add(groups[g].figures[k])
    mean = total.value / f.convert(update.n, DOUBLE)
    update.totals[k] = update.totals[k] + mean
    return mean


def _add_temperature(f: Function, update: Any, log_prob: Any) -> None:
    """Write the slope of the temperature's loss in log t; add temperature and loss to the totals."""
    totals, at, slope = update.totals, len(FIGURES), -(log_prob + update.entropy)
    totals[at] = totals[at] + update.t
    with f.when(update.learns_temperature.equals(1)):
        temperature = update.temperature
        temperature.gradient[0] = f.convert(slope, FLOAT)
        totals[at + 1] = totals[at + 1] + slope * f.convert(temperature.parameters[0], DOUBLE)
