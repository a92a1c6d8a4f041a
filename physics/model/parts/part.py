"""The declaration of a part: one mechanism of the engine, from MuJoCo's model to the readout.

A part is one file of this room. It has the code that kernels run, the rules that load its numbers, and at its end a
`Part` with everything that the rest of the engine derives from it: features, header, memory, tables of support.
Nothing outside the file names the mechanism.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import mujoco
import numpy as np

from ...base.fields import Field
from ...base.hooks import Hooked
from ...files.mjmodel.allowed import Allowed, AllowedNumbers, Parameter
from ...files.mjmodel.history import History
from ...files.mjmodel.unsupported import Unsupported

Rule = tuple[tuple[str, ...], Callable[..., np.ndarray]]
"""Names of MuJoCo's numbers, and a function of the model and these numbers that returns a field's numbers.

The numbers have environments in front, (n, *shape); the result is (n, items, ...)."""


class Loaded(Protocol):
    """The part of `model.Model` that parts look at.

    Attributes:
        mj: the compiled model.
        sizes: named sizes.
        values: numbers of all fields, by name.
        row_pairs: numbers of pairs of geoms by their kind; all 0 if no contact is possible.
    """

    mj: mujoco.MjModel
    sizes: dict[str, int]
    values: dict[str, np.ndarray]
    row_pairs: np.ndarray


class Memory(NamedTuple):
    """A quantity that persists from step to step, one of every environment.

    The engine keeps a twin of it, `eval_<name>`, where the derived quantities were last evaluated, and saves, restores
    and resets both. Users read it by `solver.get`.

    Attributes:
        field: its declaration.
        reset: a rule for the numbers after a reset, (n, numbers); None: zeros. It may name "ctrl", controls of a reset.
        state: name of the element of `mujoco.mjtState` that holds it, such as "plastic"; "": none.
        keyframe: name of the array of keyframes that sets it, such as "key_plastic"; "": none.
        settable: True if `solver.state.set` takes it.
        guarded: True if a step rejects numbers that are not finite, and restores the evaluated ones.
        aged: True if its numbers are ages in steps, which in later stages of Runge-Kutta's integrator, at half a step
            and at a whole one, are more than where the step began.
        staged: True if it advances in every stage of Runge-Kutta's integrator, as coordinates do. Then the part has a
            field `start_<name>`, which is set where a step starts, and to which a step that fails goes back.
        is_input: True if users write it and no step changes it. Then it has derivatives as controls have them: those by
            its numbers are computed where they are asked for, and it is no part of a derivative's state vector.
    """

    field: Field
    reset: Rule | None = None
    state: str = ""
    keyframe: str = ""
    settable: bool = False
    guarded: bool = True
    aged: bool = False
    staged: bool = False
    is_input: bool = False


KINDS_OF_ROWS = EQUALITY, FRICTION, LIMIT = "ne", "nf", "nl"
"""Kinds of constraint rows, in the order in which they stand, and the sizes that count them: MuJoCo's in mjData.

Rows of the first two hold both ways: EQUALITY without end, FRICTION up to a force. Rows of LIMIT only push.
"""


def _no_rows(mjm: mujoco.MjModel) -> Sequence[np.ndarray]:
    return ()


class ConstraintRows(NamedTuple):
    """The constraint rows that a mechanism has, which its stage in the hook `ROWS` appends, each as a block.

    Rows that hold both ways are in every evaluation, and in the same order; a LIMIT may be left out while it is far.

    Attributes:
        kind: EQUALITY, FRICTION or LIMIT.
        dofs: of the model's fields, the number of dofs that each row acts on, (rows,).
        types: of the model's fields, MuJoCo's mjtConstraint of each row that holds both ways, (rows,).
        couples: of a compiled model, the dofs of each row on more than one branch of the kinematic tree, descending.
    """

    kind: str
    dofs: Callable[[Mapping[str, np.ndarray]], np.ndarray]
    types: Callable[[Mapping[str, np.ndarray]], np.ndarray] | None = None
    couples: Callable[[mujoco.MjModel], Sequence[np.ndarray]] = _no_rows

    @property
    def two_sided(self) -> bool:
        """True if the rows hold both ways."""
        return self.kind != LIMIT


class ActuatorKind(NamedTuple):
    """A kind of actuator whose force is more than a gain and a bias.

    Attributes:
        gaintype: its `actuator_gaintype`, by which its actuators are found, and the value of `actuator_servo`.
        biastypes: values of `actuator_biastype` that belong to it.
        dyntypes: values of `actuator_dyntype` that belong to it.
        gains: columns of `actuator_gainprm` that kernels read as `actuator_gain`.
        biases: columns of `actuator_biasprm` that kernels read as `actuator_bias`, if the bias is not affine.
        follows: True if its first control is a setpoint.
        neutral: writes nonzero controls of a reset into an array (nu,) of zeros.
    """

    gaintype: int
    biastypes: tuple[int, ...] = ()
    dyntypes: tuple[int, ...] = ()
    gains: tuple[int, ...] = ()
    biases: tuple[int, ...] = ()
    follows: bool = False
    neutral: Callable[[mujoco.MjModel, np.ndarray], None] | None = None

    def actuators(self, mjm: mujoco.MjModel) -> np.ndarray:
        """Return the ids of the actuators of this kind, ascending."""
        return np.flatnonzero(mjm.actuator_gaintype == self.gaintype)


class Refusal(NamedTuple):
    """A check of per-environment parameters.

    Attributes:
        wrong: the model, and numbers (n, *shape) in double precision, to a mask of the refused ones.
        reason: the end of the message.
    """

    wrong: Callable[[mujoco.MjModel, np.ndarray], np.ndarray]
    reason: str


class Number(NamedTuple):
    """Numbers of a model that MuJoCo does not have, and that may be per-environment parameters.

    `mjmodel.custom` reads them from custom elements of MJCF. A model is refused if they are not allowed, or if reading
    them raises `CustomElementError`. Models without the mechanism have none: an array of size 0.

    Attributes:
        read: the model's numbers, of any shape.
        allowed: the numbers that it may hold.
    """

    read: Callable[[mujoco.MjModel], np.ndarray]
    allowed: Allowed


class Variant(NamedTuple):
    """A feature that some models with a mechanism need in addition: optional code of it.

    Attributes:
        name: the feature: `model.has.<name>` inside kernels.
        doc: one line for `Features` and the tables, without a full stop.
        wanted: True if kernels for a model need the code.
        hooks: code for the loops of stages, in kernels with the feature.
    """

    name: str
    doc: str
    wanted: Callable[[Loaded], bool]
    hooks: Hooked | None = None


def _nothing(*_: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Part:
    """One mechanism.

    Attributes:
        name: its feature: `model.has.<name>` inside kernels.
        doc: one line for `Features` and the tables, without a full stop.
        wanted: True if kernels for a model need its code.
        wanted_with: names of numbers with which kernels have its code if they are set per environment.
        variants: further features, of code that not all of its models need.
        integers, reals: fields of the model (`model.fields`).
        values: of a compiled model the numbers of `integers`, and of the `reals` that `rules` does not give.
        rules: how `reals` follow from MuJoCo's numbers, for numbers that may be set per environment.
        amends: changes to numbers of other parts' fields, by field: a function of the model and these numbers.
        sizes: named sizes, of a compiled model and the numbers of its fields.
        scratch: fields of the workspace (`state.fields`).
        indices: integer fields of the workspace.
        room: named sizes of the workspace only, of a loaded model; they are 0 where kernels have none of its code.
        memory: quantities that persist.
        actuator: the kind of actuator that it is.
        rows: the constraint rows that it has.
        needs: features of the core (`model.features.CoreFeatures`) that its code asks for, each with a condition.
        hooks: code for the loops of stages.
        mujoco: names of the fields of mjModel and mjOption that it reads, separated by spaces, besides `parameters`.
        allowed: the numbers that such fields may hold (`model.number_rules`), where `parameters` do not say so; names
            of mjOption begin with "opt.".
        ranges: the numbers that are ranges, lower bound first, and the fields that say whether they hold.
        parameters: fields that it reads, and that may be per-environment parameters.
        refusals: checks of per-environment parameters, by MuJoCo's name.
        unsupported: its features that models may not use.
        history: its part of mjData.history.
        numbers: numbers that MuJoCo does not have, by the name that `set_parameters` takes. Rules may name them.
        custom: names of the custom elements of MJCF that it reads, separated by spaces.
    """

    name: str
    doc: str
    wanted: Callable[[Loaded], bool]
    wanted_with: str = ""
    variants: tuple[Variant, ...] = ()
    integers: tuple[Field, ...] = ()
    reals: tuple[Field, ...] = ()
    values: Callable[[mujoco.MjModel], Mapping[str, np.ndarray]] = _nothing
    rules: Mapping[str, Rule] = field(default_factory=dict)
    amends: Mapping[str, Callable[[mujoco.MjModel, np.ndarray], np.ndarray]] = field(default_factory=dict)
    sizes: Callable[[mujoco.MjModel, Mapping[str, np.ndarray]], Mapping[str, int]] = _nothing
    scratch: tuple[Field, ...] = ()
    indices: tuple[Field, ...] = ()
    room: Callable[[Loaded], Mapping[str, int]] = _nothing
    memory: tuple[Memory, ...] = ()
    actuator: ActuatorKind | None = None
    rows: ConstraintRows | None = None
    needs: Mapping[str, Callable[[Loaded], bool]] = field(default_factory=dict)
    hooks: Hooked = field(default_factory=dict)
    mujoco: str = ""
    allowed: Mapping[str, AllowedNumbers] = field(default_factory=dict)
    ranges: Mapping[str, str] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    refusals: Mapping[str, Refusal] = field(default_factory=dict)
    unsupported: tuple[Unsupported, ...] = ()
    history: History | None = None
    numbers: Mapping[str, Number] = field(default_factory=dict)
    custom: str = ""

    def allowed_numbers(self) -> dict[str, AllowedNumbers]:
        """Return the numbers that the fields which it reads may hold, by name."""
        return {**self.allowed, **{each.name: each.allowed for each in self.parameters if each.allowed is not None}}

    def features(self) -> tuple["Part | Variant", ...]:
        """Return the objects with a feature: the part, and its variants."""
        return (self, *self.variants)

    def all_fields(self) -> tuple[Field, ...]:
        """Return the fields of the model, of the workspace, and of memory."""
        kept = tuple(memory.field for memory in self.memory)
        return (*self.integers, *self.reals, *self.scratch, *self.indices, *kept)

    def join(self) -> None:
        """Add its code to the hooks: the last of them that joins stands last there."""
        for each in self.features():
            for hook, entry in (each.hooks or {}).items():
                hook.add(each.name, entry)
