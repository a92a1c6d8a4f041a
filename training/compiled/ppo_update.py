"""An update of proximal policy optimisation as one call of compiled code: all minibatches of all epochs.

A minibatch has three phases, whose tasks are independent:

1. gradients: actor and critic, each for every group of the minibatch's rows;
2. sums: the gradients of the groups are added in their order, and the squares of the sum;
3. steps: Adam for actor and critic, with the gradient limited by the norm of both.

Each phase is a launch of the pool's threads. If there is one group, actor and critic meet only for the norm, so that
one launch has the steps of the minibatch before, gradients and sums. The number of groups depends on the number of
rows, so the bits of results depend neither on the threads nor on who took which task.
"""

from typing import Any

from ...physics.machine.codegen.words import BYTES, DOUBLE, INT, Function, Module, Record
from .distributions import Distributions
from .networks import OPTIMIZER, Networks
from .ppo_loss import FIGURES, UPDATE, Losses

TASK = Record("Task", update=UPDATE, critic=INT, group=INT)
"""A task of a phase: the actor (0) or the critic (1), and a group of rows."""
LAUNCHES = Record(
    "Launches", update=UPDATE, launch=BYTES, gradients=BYTES, sums=BYTES, steps=BYTES, fused=BYTES, exchange=BYTES
)
"""The pool's function `launch`, a launch for each phase, and one that has all of them; and a function that adds the
gradients and figures of all processes."""
FACTOR, LEAST_RATE, MOST_RATE = 1.5, 1e-5, 1e-2
"""The rule of rsl_rl's schedule "adaptive" (`PPO.update`), by which the KL divergence steers the rate."""


class UpdateFunctions:
    """The compiled functions of an update.

    Attributes:
        gradients, sums, steps: the tasks of the phases, of a TASK.
        fused: the task of one launch for all phases.
        run: the update, of LAUNCHES.
    """

    def __init__(self, module: Module, networks: Networks, distributions: Distributions) -> None:
        losses = Losses(module, networks, distributions)
        self.gather = losses.gather
        self.gradients = _gradients(module, losses)
        self.sums = _sums(module, networks)
        self.steps = _steps(module, networks, distributions)
        self.fused = _fused(module, self.gradients, self.sums, self.steps)
        self.run = _run(module, networks, distributions)


def _of(f: Function, task: Any) -> Any:
    """Yield each network of the update, inside a condition that the task is the network's."""
    update, critic = task.update, task.critic
    for number, network in enumerate((update.actor, update.critic)):
        with f.when(critic.equals(number)):
            yield number, network


def _gradients(module: Module, losses: Losses) -> Function:
    with module.function("gradients_task", public=True, task=TASK) as (f, task):
        for number, _ in _of(f, task):
            f.call((losses.actor, losses.critic)[number], task.update, task.group)
    return f


def _sums(module: Module, networks: Networks) -> Function:
    with module.function("sums_task", public=True, task=TASK) as (f, task):
        update = task.update
        for number, network in _of(f, task):
            first = network[0]
            with f.loop(1, update.groups) as group:
                f.call(networks.add, first.gradient, network[group].gradient, first.count)
            if number == 0:  # the entropy of Gaussians is the sum of log std, and a constant
                distribution = update.distribution[0]
                with f.when(distribution.choices.equals(0)):
                    gradient = first.gradient + update.log_std_gradient
                    with f.loop(0, distribution.numbers) as k:
                        gradient[k] = gradient[k] - f.convert(update.ent_coef, gradient[k].type)
            f.call(networks.norm, first)
    return f


def _steps(module: Module, networks: Networks, distributions: Distributions) -> Function:
    with module.function("steps_task", public=True, task=TASK) as (f, task):
        update = task.update
        for number, network in _of(f, task):
            f.call(networks.adam, network[0], update.optimizer)
            f.call(networks.transpose, network[0])
            if number == 0:
                f.call(distributions.prepare, update.distribution[0])
    return f


def _fused(module: Module, gradients: Function, sums: Function, steps: Function) -> Function:
    with module.function("fused_task", public=True, task=TASK) as (f, task):
        with f.when(task.update.pending.equals(1)):
            f.call(steps, task)
        f.call(gradients, task)
        f.call(sums, task)
    return f


def _run(module: Module, networks: Networks, distributions: Distributions) -> Function:
    with module.function("update", public=True, launches=LAUNCHES) as (f, launches):
        update = launches.update
        update.optimizer = f.record(OPTIMIZER)
        f.call(distributions.prepare, update.distribution[0])
        with f.loop(0, update.minibatches) as k, f.when(update.stopped.equals(0)):
            update.minibatch = k
            with f.when(update.groups.equals(1)):
                f.call_address(launches.launch, launches.fused)
            with f.when(update.groups > 1):
                with f.when(update.pending.equals(1)):
                    f.call_address(launches.launch, launches.steps)
                f.call_address(launches.launch, launches.gradients)
                f.call_address(launches.launch, launches.sums)
            with f.when(update.shared.equals(1)):
                f.call_address(launches.exchange)
                f.call(networks.norm, update.actor[0])
                f.call(networks.norm, update.critic[0])
            update.done = update.done + update.pending
            kl = _add_figures(f, update)
            update.stopped = f.convert(kl > update.target_kl * 1.5, INT) | f.convert(update.shared < 0, INT)
            update.pending = 1 - update.stopped
            with f.when(update.desired_kl > 0.0):
                _steer(f, update, kl)
            _prepare_step(f, update)
        with f.when(update.pending.equals(1)):
            f.call_address(launches.launch, launches.steps)
            update.done = update.done + 1
    return f


def _prepare_step(f: Function, update: Any) -> None:
    """Set the numbers of Adam's step with the present gradient."""
    optimizer, corrections = update.optimizer, update.corrections + update.done * 2
    norm = f.sqrt(update.actor[0].squared_norm + update.critic[0].squared_norm)
    optimizer.scale = f.minimum(update.max_grad_norm / (norm + 1e-6), 1.0)
    optimizer.rate = update.rate * corrections[0]
    optimizer.root, optimizer.epsilon = corrections[1], update.epsilon


def _add_figures(f: Function, update: Any) -> Any:
    """Add the means of the present minibatch to the totals; return its KL divergence."""
    n = f.convert(update.sizes[update.minibatch], DOUBLE)
    means = []
    for k in range(len(FIGURES)):
        total = f.variable(DOUBLE, 0.0)
        with f.loop(0, update.groups) as group:
            total.add(update.figures[group * len(FIGURES) + k])
        means.append(total.value / n)
        update.totals[k] = update.totals[k] + means[-1]
    return means[FIGURES.index("kl")]


def _steer(f: Function, update: Any, kl: Any) -> None:
    """Change the rate if the policy moves too fast or too slowly."""
    with f.when(kl > update.desired_kl * 2.0):
        update.rate = f.maximum(update.rate / FACTOR, LEAST_RATE)
    with f.when(kl < update.desired_kl / 2.0), f.when(kl > 0.0):
        update.rate = f.minimum(update.rate * FACTOR, MOST_RATE)
