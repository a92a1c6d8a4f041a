"""The managers that a batch runs around a task's methods: no task has to know of them.

| moment | order |
|---|---|
| an episode begins | `task.reset`, `Managers.start`, `task.begin`, `Managers.shown_first` |
| a step | `Managers.acting`, physics, `task.step`, `Managers.stepped` |

What the task declares itself (`Task.randomized_by`) draws from the task's noise, after `reset` and after `step`. The
managers of the user draw from other streams of the same moment, so that the task's draws stay the same to the bit.
Their memory lies beside the task's by names that begin with `randomize_`, `observe_` and `delay_`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..arrays import Array
from ..managers.latency import LateActions
from ..managers.observed_parts import ObservedParts
from ..managers.options import ManagerOptions
from ..managers.pushes import Wrench
from ..managers.randomization import Randomization, Term
from ..task.noise import Noise
from ..task.task import Last, Observation, Start, StepResult, Task, TaskState

_RANDOMIZE, _ACTION, _OBSERVE = 1, 2, 3  # streams of noise
_FORCES = "xfrc_applied"


class ModelChange(NamedTuple):
    """Numbers of the model from the next step on."""

    parameters: Mapping[str, Any]  # (n, ...) by MuJoCo's name
    mask: Array | None  # (n,) bool: the environments whose numbers change; None: all


class Managers:
    """The managers of one task.

    Attributes:
        options: of the user.
    """

    def __init__(self, task: Task, options: ManagerOptions) -> None:
        """Bind the managers to a task that is bound to its model.

        Raises:
            ValueError, TypeError, KeyError: a manager does not fit the model; the message names it.
        """
        self.options = options
        self._task, self._owner = task, type(task).__name__
        self._randomizations: list[tuple[Randomization, int]] = []  # with their streams; 0: the task's own
        own = tuple(task.randomized_by())
        if own:
            self._randomizations.append((Randomization(task, *own), 0))
        if options.randomize:
            self._randomizations.append((self._bound(options.randomize), _RANDOMIZE))
        if len(self._randomizations) > 1:
            (first, _), (second, _) = self._randomizations
            if both := sorted(first.lasting & second.parameters):
                raise ValueError(
                    f"randomize: {self._owner} draws {both[0]} itself, and not for each episode; leave it out"
                )
        pushed = [terms for terms in (own, options.randomize) if any(isinstance(term, Wrench) for term in terms)]
        if len(pushed) > 1:
            raise ValueError(f"randomize: {self._owner} has a Wrench already, and the last one would replace it")
        self._forces = bool(pushed)
        late, delay = (0, 0), options.delay
        self._actions: LateActions | None = None
        if delay is not None:
            late, acts = delay.steps("observation", task.dt), delay.steps("action", task.dt)
            if acts != (0, 0):
                self._actions = LateActions(task, acts, delay.hold, task.action_space)
        self._shown: ObservedParts | None = None
        if options.observe or late != (0, 0):
            self._shown = ObservedParts(task, options.observe, late, 1.0 if delay is None else delay.hold)

    def _bound(self, terms: Sequence[Term]) -> Randomization:
        """Return the user's terms, bound to the task."""
        try:
            return Randomization(self._task, *terms, name="randomize")
        except (ValueError, KeyError) as error:
            raise type(error)(f"randomize: {error.args[0]}") from None

    def __bool__(self) -> bool:
        """Return True if there is anything to run."""
        return bool(self._randomizations or self._actions or self._shown)

    @property
    def randomizes(self) -> bool:
        """True if the starts of episodes depend on the episodes before."""
        return bool(self._randomizations)

    def start(self, start: Start, last: Last | None, noise: Noise, n: int) -> tuple[Array, Start]:
        """Return coordinates (n, nq + nv) and starts of n episodes that a task drew, with the managers' part in them.

        Raises:
            ValueError: the task gives numbers or forces, or has memory, that managers have too.
        """
        if self._forces and _FORCES in start.inputs:
            raise self._clash("reset")
        given = start.memory
        for randomization, stream in self._randomizations:
            assert last is not None
            try:
                start = randomization.begin(start, last, noise.beside(stream) if stream else noise, onto=True)
            except ValueError as error:
                raise ValueError(f"randomize: {self._owner}: {error}") from None
        if self._actions is not None:
            late = self._actions.begin(n, noise.beside(_ACTION))
            start = start._replace(memory={**start.memory, **late})
        added = {name for name, array in start.memory.items() if array is not given.get(name)}
        self._require_free(added, given)
        return self._task.xp.concat((start.qpos, start.qvel), axis=1), start

    def shown_first(self, observation: Observation, noise: Noise) -> tuple[dict[str, Array], Observation]:
        """Return memory, and the first observations of n episodes as the agent sees them."""
        if self._shown is None:
            return {}, observation
        return self._shown.begin(observation, noise.beside(_OBSERVE))

    def learn(self, observation: Observation) -> None:
        """Find the columns that terms are for in an observation of the task, (n, ...)."""
        if self._shown is not None:
            self._shown.learn(observation)

    def acting(self, memory: Mapping[str, Array], action: Array, noise: Noise) -> tuple[dict[str, Array], Array]:
        """Return the memory that changes, and the actions (n, ...) that the task gets, from those of the agent."""
        if self._actions is None:
            return {}, action
        return self._actions.step(memory, action, noise.beside(_ACTION))

    def stepped(
        self, state: TaskState, result: StepResult, memory: Mapping[str, Array]
    ) -> tuple[StepResult, list[ModelChange]]:
        """Return a task's result with the managers' part in it, and the numbers of the model that they change.

        Args:
            state: after the step, as the task saw it.
            result: of the task, checked.
            memory: that `acting` returned.

        Raises:
            ValueError: the task changes numbers or forces that managers change too.
        """
        if self._forces and _FORCES in result.inputs:
            raise self._clash("step")
        state = state._replace(memory={**state.memory, **result.memory, **memory})
        if result.qvel is not None:
            state = state._replace(qvel=result.qvel)
        changes, inputs, qvel = [], dict(result.inputs), result.qvel
        for randomization, stream in self._randomizations:
            noise = state.noise
            state, its = randomization.step(state._replace(noise=noise.beside(stream)) if stream else state)
            state = state._replace(noise=noise)
            if both := sorted(randomization.parameters & result.parameters.keys()):
                raise ValueError(f"randomize: {self._owner}.step changes {both[0]} too; leave the term out")
            if "parameters" in its:
                changes.append(ModelChange(its["parameters"], its["parameters_mask"]))
            inputs |= its.get("inputs", {})
            qvel = its.get("qvel", qvel)
        kept, observation = dict(state.memory), result.observation
        if self._shown is not None:
            noisy = state._replace(noise=state.noise.beside(_OBSERVE))
            changed, observation = self._shown.step(noisy, observation)
            kept |= changed
        return result._replace(observation=observation, memory=kept, inputs=inputs, qvel=qvel), changes

    def space(self, space: Any) -> Any:
        """Return the space of an environment's observations as the agent sees them, from the task's."""
        return space if self._shown is None else self._shown.space(space)

    def _require_free(self, names: Iterable[str], given: Mapping[str, Array]) -> None:
        """Refuse names of managers' memory that the task has too."""
        if both := sorted(name for name in names if name in given):
            raise ValueError(f"randomize: {self._owner} has a memory {both[0]!r} too; give the term another name")

    def _clash(self, method: str) -> ValueError:
        return ValueError(f"randomize: {self._owner}.{method} drives {_FORCES}, and so would a Wrench: leave it out")
