"""Hooks: lists of functions that stages call, to which mechanisms add code.

A stage that sums something, such as forces, calls all entries of a hook and knows none of the mechanisms by name. A
mechanism adds entries where it declares itself (`parts.part.Part`); a kernel has them if it has the mechanism's
feature.
"""

from collections.abc import Callable
from typing import Any

from .math.lanes import traced


class Hook:
    """A list of functions that a stage calls, each for kernels with one feature.

    Args:
        doc: the arguments of the functions, when they are called, and their effect.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc
        self.entries: list[tuple[str, Any]] = []

    def add(self, feature: str, entry: Any) -> None:
        """Add an entry for kernels with a feature: a function, or a tuple of functions and constants."""
        self.entries.append((feature, entry))

    @traced
    def of(self, has: Any) -> list[Any]:
        """Return the entries of a kernel with these features, in the order of the parts."""
        return [entry for feature, entry in self.entries if getattr(has, feature)]

    @traced
    def is_empty(self, has: Any) -> bool:
        """Return True if a kernel with these features has no entry."""
        return not self.of(has)

    @traced
    def around(self, has: Any, usual: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that computes `usual`, and passes the result through one entry after the other."""

        @traced
        def changed(*arguments: Any) -> Any:
            value = usual(*arguments)
            for entry in self.of(has):
                value = entry(*arguments, value)
            return value

        return changed


Hooked = dict[Hook, Any]
"""The entries that a part adds, by hook."""

INERTIA = Hook("(model, work): add to M, after the inertia of bodies and the armature of dofs.")
BEGINNING = Hook("Stages before an evaluation, at its coordinates.")
STANDSTILL = Hook("(model, work): return True if nothing moves: an evaluation that is not read may then be left out.")
POSITION = Hook("Stages that compute more from the poses of bodies, after centres of mass.")
PAIR_MASK = Hook("(model, work, g1, g2): return the mask of lanes in which contacts of two geoms are looked for.")
CONTACTS_AGAIN = Hook("Stages after the search for contacts; one that sets search_again to 1 repeats the search.")
CONTACTS_FOUND = Hook("Stages after the last search for contacts.")
VELOCITY = Hook("Stages that compute more from the velocities of bodies.")
ROWS = Hook("Stages that append blocks of constraint rows (`parts.part.ConstraintRows`), or change earlier blocks.")
BODY_FORCES = Hook(
    "Stages that compute forces on bodies, before the forces of actuators; poses, velocities and contacts are known. A "
    "stage puts a torque and a force on every body from 1 on into cfrc, and the results of `newton_euler.gather` and "
    "`along` into a separate field."
)
CONTACT_FORCES = Hook("Stages that add forces of contacts to qfrc_passive.")
END_OF_EVALUATION = Hook(
    "Stages at the end of every evaluation of a step, after the integration, and in place of an omitted one, because "
    "all environments sleep: time passes."
)
CONTACT_VELOCITY = Hook(
    "(model, work, k, block, dim, frame): change the velocity of contact slot k, of geom 2 relative to geom 1, in "
    "block_aref of its block, which has `dim` axes: the rows of `frame`."
)
CONTACT_PULL = Hook(
    "(model, pair, g1, g2): return the force (N) that pulls two geoms in contact together. The constraint's force "
    "resists it; the mechanism adds it to qfrc_passive, and readings of forces of contacts subtract it (con_pull). "
    "Beyond its margin such a contact has its normal row."
)
FIRST_EVALUATION = Hook("Stages after the first evaluation of a step.")
END_OF_STEP = Hook(
    "Stages after the integration, at the end of a step, with qpos and qvel after it. A part's memory changes "
    "only by the factor `stage_time.moving`: not in an environment that was stopped or whose tree sleeps."
)
INERTIAL_FORCES = Hook("(model, work, qacc): add a mechanism's forces for these accelerations to qfrc_inverse.")
FROZEN = Hook("(model, work, i): return True in lanes in which dof i has no velocity, no acceleration and no force.")
PASSIVE_FORCES = Hook(
    "(model, work): add a passive force to qfrc_passive, after springs and dampers. Flags of the model that switch "
    "passive forces off are the part's to heed, when its numbers are loaded (`mjmodel.flags`)."
)
EXTERNAL_FORCES = Hook("(model, work): add forces of constraint rows, or of a mechanism, on bodies to cfrc_ext.")
WAKING_FORCES = Hook("(model, work, b): return the mask of lanes in which a mechanism's force keeps body b awake.")
TENDON_FORCES = Hook("(model, work): add forces of constraint rows along tendons to ten_force.")
FORCE_SLOPES = Hook(
    "Two functions, for integrators that take forces at the end of a step. (model, work): prepare. "
    "(model, work, b, i, j): return the derivative of a passive force on dof i by the velocity of dof j (N s/m or "
    "N m s/rad), where body b is that of the lower dof in the tree: both dofs move b and all bodies below it."
)
ROW_SLOPES = Hook(
    "Two functions, for the same integrators and forces J' f(J qvel). (model): return how many there are. (model, "
    "work, k): return the row J of force k as MOMENT_ROWS does, and the derivative of f (N s/m) instead of a factor."
)
HAS_SPRING = Hook("(model, j): return True if joint j has a spring, though jnt_stiffness[j] is 0.")
SPRING = Hook("(model, j, stretch, usual): return the force of joint j's spring over its stretch, instead of `usual`.")
DAMPER = Hook("(model, work, i, usual): return the force of dof i's damper over its velocity, instead of `usual`.")
DAMPER_SLOPE = Hook("(model, work, i, usual): return the derivative of that force by the velocity, instead of `usual`.")
SPRING_REST = Hook("(model, work, j, q, c, usual): coordinate c, qpos[q], at which joint j's spring rests.")
TENDON_REST = Hook("(model, work, t, side, usual): an end of the lengths at which tendon t's spring rests.")
OUTPUT_LENGTHS = Hook("Stages that compute lengths and moments of actuators' outputs.")
TRANSMISSIONS = Hook(
    "Two functions of (model, work, u), output u having an actuator_type above TENDON: one returns its length and "
    "velocity, the other adds its force times its moment to qfrc_actuator."
)
MOMENT_ROWS = Hook(
    "Two functions. (model, u): return True if output u is of this kind. (model, work, u): return the row J of its "
    "moment: its first entry, the end of its entries, the field of their dofs, that of their numbers, and a factor."
)
CONTROLS = Hook("(model, work): change acting_ctrl, the controls that act, which are ctrl before.")
JOINT_ACTUATORS = Hook("(model, work): add to qfrc_actuator, after the actuators.")
JOINT_LIMITS = Hook("(model, work): limit qfrc_actuator, after all that add to it, and slopes of its forces.")
CLEAR_RATES = Hook("(model, work): before actuators compute rates of their activations.")
GAIN_INPUT = Hook("(model, work, u, control, length): return the number that the gain of output u is multiplied by.")
ADDED_FORCES = Hook(
    "Two functions. (model, work, u, length, velocity, control, clamped, force, slope): return the force of output u "
    "and its derivative by the velocity, with something added to those of gain and bias; the gain is multiplied by "
    "`control`, and `clamped` is the same before whole turns were taken off. (model, work, u): return True if what is "
    "added depends on the velocity."
)
ACTUATOR_FORCES = Hook(
    "Value of `actuator_servo`, and (model, work, u, length, velocity): set actuator_force and actuator_slope of "
    "output u where no range limits them, and act_dot of its activations."
)
SHAFT_FORCES = Hook(
    "Value of `actuator_servo`, and (model, work, u): add a force that no range limits to actuator_force and "
    "actuator_slope of output u. The entry of ACTUATOR_FORCES keeps the inputs from length and velocity in a field."
)
STATES_ADVANCE = Hook("Stages that advance other states, before qpos and qvel advance.")
ACTIVATION_START = Hook("(model, work): after the first evaluation of a step, before activations advance.")
ACTIVATION_END = Hook("(model, work, a, act): return activation a at the end of a step, where `act` is the usual one.")
SETPOINTS_END = Hook("(model, work): bring activations to their usual form at the end of a step.")
