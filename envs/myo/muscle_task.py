"""The base class of MyoSuite's tasks: excitations of muscles, weak, tired and rerouted ones, weighted rewards."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import gymnasium
import mujoco
import numpy as np

from ..arrays import Array, exp, row_norm
from ..task.task import Start, StepResult, Task, TaskState
from .fatigue import Fatigue

PALM_UP = -1.5  # rad, the turn of the forearm (the hand's first joint) that brings the palm up
CAMERAS = {
    "finger": ((0.13, 0.0, 0.2), 0.55, 110.0, -15.0),
    "elbow": ((-0.2, 0.15, 1.15), 1.2, 25.0, -10.0),
    "hand": ((-0.21, -0.5, 1.43), 0.42, 160.0, -30.0),
    "torso": ((0.0, 0.0, 1.2), 1.8, 40.0, -10.0),
    "leg": ((0.0, 0.0, 0.9), 2.6, 40.0, -10.0),
}
"""The point (m), the distance, azimuth and elevation (degrees) of the camera on a body that the file's name tells."""
CONDITIONS = ("", "sarcopenia", "fatigue", "reafferentation")
TRANSFER = ("EPL", "EIP")  # muscles that extend thumb and index: the first gets the excitation of the second


class MuscleRating(NamedTuple):
    """The rating of a state of n environments."""

    terms: Mapping[str, Array]  # parts of the reward before they are weighted, each (n,)
    solved: Array  # (n,) bool
    done: Array  # (n,) bool: the episode ends


class MuscleTask(Task):
    """A task of MyoSuite 2.

    The observation is `parts` side by side, then the activations of all muscles. The reward is the sum of the
    rated terms times their `weights`. Info: `success`, MyoSuite's `solved`, after every step.

    Actions: [-1, 1]. Excitations of muscles are 1 / (1 + exp(-5 (action - 0.5))); motors of models that have muscles
    take the action itself, those of models without any their range.

    Options that all have: `condition` is "" for healthy muscles, or

    - "sarcopenia": muscles pull with half the force;
    - "fatigue": the harder a muscle pulled, the less it can, see `fatigue.py`;
    - "reafferentation": the excitation of the index's extensor (EIP) goes to the thumb's (EPL), and EIP gets none.
    """

    weights: ClassVar[Mapping[str, float]]
    shows_sites: ClassVar = True
    reads_present: ClassVar[Sequence[str]] = ("act", "site_xpos")

    frame_skip: int = 10
    condition: str = ""

    @property
    def camera(self) -> Mapping[str, Any]:  # type: ignore[override]
        """The free camera of `render()`, on the body that the model has."""
        chosen = next((view for body, view in CAMERAS.items() if f"/{body}/" in self.xml_file), CAMERAS["leg"])
        return dict(zip(("lookat", "distance", "azimuth", "elevation"), chosen, strict=True))

    def __post_init__(self) -> None:
        """Check the condition.

        Raises:
            ValueError: there is no such condition.
        """
        super().__post_init__()
        if self.condition not in CONDITIONS:
            raise ValueError(f"{type(self).__name__}: condition is {self.condition!r}; there are {CONDITIONS}")

    def edit_spec(self, spec: mujoco.MjSpec) -> None:
        """Weaken the muscles, if that is the condition.

        Raises:
            ValueError: the model has no muscles, or lacks those of the tendon transfer.
        """
        muscles = any(actuator.dyntype == mujoco.mjtDyn.mjDYN_MUSCLE for actuator in spec.actuators)
        if self.condition and not muscles:
            raise ValueError(f"{type(self).__name__}: condition={self.condition!r}: the model has no muscles")
        if self.condition == "sarcopenia":
            for actuator in spec.actuators:
                actuator.gainprm[2] *= 0.5
        if self.condition == "reafferentation" and None in map(spec.actuator, TRANSFER):
            needed = " and ".join(TRANSFER)
            raise ValueError(f"{type(self).__name__}: condition='reafferentation' needs a hand's muscles {needed}")

    def bind(self) -> None:
        """Look up the muscles, and the controls that a tendon transfer swaps."""
        model = self.model
        muscle = model.actuator_dyntype == mujoco.mjtDyn.mjDYN_MUSCLE
        self.muscle, self.any_muscle = self.xp.asarray(muscle, device=self.init_qpos.device), bool(muscle.any())
        low, high = model.actuator_ctrlrange.T
        self.middle, self.half_range = self.array((low + high) / 2), self.array((high - low) / 2)
        self.fatigue = Fatigue(self, muscle) if self.condition == "fatigue" else None
        source, kept = np.arange(model.nu), np.ones(model.nu)
        if self.condition == "reafferentation":
            thumb, index = (model.actuator(name).id for name in TRANSFER)
            source[thumb], kept[index] = index, 0.0
        self.source, self.kept = self.indices(source), self.array(kept)
        self.late = _late(model.opt.timestep, self.frame_skip)

    @property
    def action_space(self) -> gymnasium.spaces.Box:
        """[-1, 1] for every actuator, float32."""
        return gymnasium.spaces.Box(-1.0, 1.0, (self.model.nu,), np.float32)

    def start(
        self, qpos: Array, memory: Mapping[str, Array] | None = None, qvel: Array | None = None, **rest: Any
    ) -> Start:
        """Return starts from coordinates (n, nq), at rest if there are no velocities, with rested muscles."""
        own = {"count": self.xp.zeros_like(qpos[:, :1]), **(memory or {})}
        if self.fatigue is not None:
            own |= self.fatigue.rested(qpos[:, :1])
        return Start(qpos, self.array(np.zeros(self.model.nv)) if qvel is None else qvel, own, **rest)

    def control(self, state: TaskState, action: Array) -> Array:
        """Turn actions into excitations of muscles, as far as these are able to follow, (n, nu)."""
        if not self.any_muscle:
            return self.middle + action * self.half_range
        control = self.excite(action)
        if self.fatigue is not None:
            return self.xp.where(self.muscle, self.fatigue.after(state.memory, control)["active"], control)
        return self.xp.take(control, self.source, axis=1) * self.kept if self.condition else control

    def excite(self, action: Array) -> Array:
        """Turn actions into excitations, (n, nu)."""
        return self.xp.where(self.muscle, 1 / (1 + exp(-5 * (action - 0.5))), action)

    @abstractmethod
    def parts(self, state: TaskState) -> dict[str, Array]:
        """Return the parts of the observation but the activations, by MyoSuite's names, each (n, k)."""

    @abstractmethod
    def rate(self, state: TaskState, parts: Mapping[str, Array]) -> MuscleRating:
        """Rate the state after a step; `parts` are those of the observation, and `act` the activations."""

    def seen(self, state: TaskState) -> dict[str, Array]:
        """Return all parts of the observation, each (n, k)."""
        return self.parts(state) | ({"act": state.present["act"]} if self.model.na else {})

    def observation(self, state: TaskState) -> Array:
        """Return the parts side by side."""
        return self.xp.concat(list(self.seen(state).values()), axis=1)

    def step(self, state: TaskState, action: Array) -> StepResult:
        """Rate the state, and let muscles tire."""
        parts = self.seen(state)
        rating = self.rate(state, parts)
        terms = {f"reward_{name}": weight * rating.terms[name] for name, weight in self.weights.items()}
        memory = {"count": state.memory["count"] + 1}
        if self.fatigue is not None:
            memory |= self.fatigue.after(state.memory, self.excite(action))
        seen = self.xp.concat(list(parts.values()), axis=1)
        return StepResult(seen, terms, rating.done, {"success": rating.solved}, memory)

    # -- for subclasses -----------------------------------------------------------------------------------------------

    def bonus(self, near: Array, nearer: Array) -> Array:
        """Return the number of masks (n,) that are True, from 0 to 2."""
        return self.array(near) + self.array(nearer)

    def activity(self, parts: Mapping[str, Array]) -> Array | float:
        """Return the length of the vector of activations, divided by their number, (n,)."""
        return row_norm(parts["act"]) / self.model.na if self.model.na else 0.0

    def sites(self, names: Sequence[str]) -> Array:
        """Return the numbers of sites, an index."""
        return self.indices([self.model.site(name).id for name in names])

    def places(self, state: TaskState, sites: Array) -> Array:
        """Return the places of sites in the world, side by side, (n, 3 k) m."""
        found = self.xp.take(state.present["site_xpos"], sites, axis=1)
        return self.xp.reshape(found, (found.shape[0], -1))

    def is_late(self, state: TaskState) -> Array:
        """Return True from the step on at which MyoSuite begins to end episodes, (n,)."""
        return state.memory["count"][:, 0] + 1 >= self.late


def _late(timestep: float, frame_skip: int) -> int:
    """Return the first step whose time is above that of two steps; MuJoCo's clock adds up rounding errors."""
    time, steps = 0.0, 0
    while not time > 2 * (timestep * frame_skip):
        for _ in range(frame_skip):
            time += timestep
        steps += 1
    return steps


def leave_out(spec: mujoco.MjSpec, names: Sequence[str]) -> None:
    """Delete sites, and the tendons that draw a line to them and pull nothing."""
    for tendon in list(spec.tendons):
        if any(wrap.target is not None and wrap.target.name in names for wrap in tendon.path):
            spec.delete(tendon)
    for name in names:
        spec.delete(spec.site(name))


def mocap_markers(spec: mujoco.MjSpec, names: Sequence[str]) -> None:
    """Turn sites of the world into mocap bodies of the same names, in the order of the names, for episodes to place."""
    sites = [spec.site(name) for name in names]
    looks = [{name: getattr(site, name) for name in ("type", "size", "rgba", "group")} for site in sites]
    looks = [
        {name: value.copy() if hasattr(value, "copy") else value for name, value in look.items()} for look in looks
    ]
    places = [site.pos.copy() for site in sites]
    leave_out(spec, names)
    for name, place, look in zip(names, places, looks, strict=True):
        spec.worldbody.add_body(name=name, pos=place, mocap=True).add_site(name=name, **look)
