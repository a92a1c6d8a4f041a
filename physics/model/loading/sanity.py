"""Checks for models that MuJoCo compiles and no solver can simulate: impossible numbers, and too many geoms.

MuJoCo accepts an infinite size or a negative inertia silently, and results are then non-finite. Here each such number
is reported with its element and its place before anything is computed with it. `number_rules.py` has the allowed values
of each field.
"""

from collections.abc import Callable, Mapping

import mujoco
import numpy as np

from ...files.mjmodel.actuators import owners
from ...files.mjmodel.custom import CustomElementError
from ...files.mjmodel.pairs import contacts_disabled
from ..element_locations import Elements, Places
from ..number_rules import LIMITED, RULES, Allowed, crossed
from ..parts import NUMBERS

MOST_PAIRS = (1 << 22) - 1
"""The most pairs of geoms that can touch: all are listed once while a model is loaded."""
MOST_GEOMS = 22_000
"""Geoms that can collide: more would need tables of more than half a gigabyte to find their pairs."""
_KINDS = {"jnt": "joint", "cam": "camera", "mat": "material", "eq": "equality"}
"""The kind of element for each prefix of a field of mjModel that is short for it."""
_BEYOND = 'is infinite in single precision: choose numbers of other units, or tumble.init(precision="64")'
_SECTIONS = {"opt": ("option", "option"), "stat": ("statistic", "statistic"), "vis": ("visual", "visual")}
"""The word for messages and the section of an MJCF file for each prefix of a field that is in no element."""


def _by_address(kind: str, addresses: str) -> Callable[[mujoco.MjModel, int], tuple[str, int]]:
    """Return a function that finds the element whose numbers, from its address on, include a row."""

    def owner(mjm: mujoco.MjModel, row: int) -> tuple[str, int]:
        return kind, int(np.searchsorted(getattr(mjm, addresses), row, side="right")) - 1

    return owner


_OWNERS: dict[str, Callable[[mujoco.MjModel, int], tuple[str, int]]] = {
    "qpos0": _by_address("jnt", "jnt_qposadr"),
    "qpos_spring": _by_address("jnt", "jnt_qposadr"),
    "mesh_vert": _by_address("mesh", "mesh_vertadr"),
    "hfield_data": _by_address("hfield", "hfield_adr"),
    "wrap_prm": _by_address("tendon", "tendon_adr"),
    "actuator_ctrlrange": _by_address("actuator", "actuator_ctrladr"),
    **dict.fromkeys(
        ("actuator_gear", "actuator_acc0", "actuator_lengthrange"),
        lambda mjm, row: ("actuator", int(owners(mjm)[row])),
    ),
}
"""Functions that find the element of a row, for fields in which elements have several rows."""


class ModelLoadError(ValueError):
    """A model file is missing, is not MJCF, is rejected by MuJoCo's compiler, or cannot be simulated by any solver."""


def reject_impossible(mjm: mujoco.MjModel, spec: mujoco.MjSpec | None, places: Places) -> None:
    """Refuse a model with numbers that no mechanism can have, or with too many geoms.

    Args:
        mjm: the compiled model.
        spec: the MjSpec it was compiled from, if any, for the places.
        places: the tags of its files.

    Raises:
        ModelLoadError: with the element, its place and its number.
    """
    elements = Elements(mjm, spec, places)
    for field, (allowed, _) in RULES.items():
        numbers = _numbers(mjm, field)
        fits = allowed.fits(numbers)
        if not fits.all():
            place = tuple(np.argwhere(~fits)[0])
            _refuse(elements, field, place, allowed.fault(float(numbers[place])), allowed)
    for field, limited in LIMITED.items():
        ranges = getattr(mjm, field).reshape(-1, 2)
        wrong = np.flatnonzero(crossed(ranges))
        for row in wrong[np.asarray(getattr(mjm, limited), bool)[wrong]][:1]:
            fault = f"begins where no number is, or above its end at {ranges[row, 1]:g}"
            _refuse(elements, field, (row, 0), fault, RULES[field].allowed)
    _reject_own_numbers(mjm, places.label)
    _reject_crowd(mjm, places.label)


def reject_beyond_single(elements: Elements, values: Mapping[str, np.ndarray]) -> None:
    """Refuse a model with finite numbers that single precision makes infinite.

    Args:
        elements: of the compiled model.
        values: the numbers that kernels read, by name; some follow from the compiled model's.

    Raises:
        ModelLoadError: with the element, its place and its number.
    """
    for field, (allowed, _) in RULES.items():
        numbers = _numbers(elements.mjm, field)
        beyond = beyond_single(numbers)
        if beyond.any() and not allowed.infinite:
            _refuse(elements, field, tuple(np.argwhere(beyond)[0]), _BEYOND, allowed)
    for name, numbers in values.items():
        for place in np.argwhere(beyond_single(numbers))[:1]:
            raise ModelLoadError(f"{elements.places.label}: {name} {numbers[tuple(place)]:g} {_BEYOND}")


def beyond_single(numbers: np.ndarray) -> np.ndarray:
    """Return the mask of finite numbers that are infinite in single precision."""
    return np.isfinite(numbers) & (np.abs(numbers) > np.finfo(np.float32).max)


def _reject_own_numbers(mjm: mujoco.MjModel, label: str) -> None:
    """Refuse impossible numbers of mechanisms that MuJoCo does not have."""
    for name, number in NUMBERS.items():
        try:
            numbers = number.read(mjm)
        except CustomElementError as error:
            raise ModelLoadError(f"{label}: {error}") from error
        for place in np.argwhere(~number.allowed.fits(numbers))[:1]:
            found, at = float(numbers[tuple(place)]), "".join(f"[{i}]" for i in place)
            raise ModelLoadError(
                f"{label}: {name}{at} {found:g} {number.allowed.fault(found)}; it must be {number.allowed.words}"
            )


def _numbers(mjm: mujoco.MjModel, field: str) -> np.ndarray:
    """Return the numbers of a field of mjModel, or of a part of it if the name has points, such as "opt.gravity"."""
    found = mjm
    for name in field.split("."):
        found = getattr(found, name)
    return np.asarray(found)


def _refuse(elements: Elements, field: str, place: tuple[int, ...], fault: str, allowed: Allowed) -> None:
    """Raise the error about a number of a field."""
    mjm = elements.mjm
    number = f"{float(_numbers(mjm, field)[place]):g}"
    kind, _, name = field.partition(".")
    if name:
        last = name.rpartition(".")[2]
        word, section = _SECTIONS[kind]
        where = f"{elements.places.of_attribute(section, last)}: {word} {last}"
    else:
        kind = field.partition("_")[0]
        owner, index = _OWNERS[field](mjm, int(place[0])) if field in _OWNERS else (kind, int(place[0]))
        where = f"{_element(elements, owner, index)}: {field if field in _OWNERS else field[len(kind) + 1 :]}"
    raise ModelLoadError(f"{where} {number} {fault}; it must be {allowed.words}")


def _element(elements: Elements, prefix: str, index: int) -> str:
    """Place and name of an element; a dof is named by its joint."""
    if prefix == "dof":
        prefix, index = "jnt", int(elements.mjm.dof_jntid[index])
    kind = _KINDS.get(prefix, prefix)
    return f"{elements.place(kind, index)}: {kind} '{elements.name(kind, index)}'"


def _reject_crowd(mjm: mujoco.MjModel, label: str) -> None:
    """Refuse more geoms or pairs than a step can handle; pairs are counted without listing them."""
    if contacts_disabled(mjm):
        return
    solid = int(np.count_nonzero(mjm.geom_contype | mjm.geom_conaffinity))
    if solid > MOST_GEOMS:
        raise ModelLoadError(
            f"{label}: too large a model: {solid:,} of its geoms can collide, and {MOST_GEOMS:,} are the most; "
            "give geoms that need not collide contype and conaffinity 0"
        )
    count = least_pairs(mjm)
    if count > MOST_PAIRS:
        raise ModelLoadError(
            f"{label}: too large a model: among its {mjm.ngeom:,} geoms {count:,} pairs or more can touch, and "
            f"{MOST_PAIRS:,} are the most; give geoms that need not touch each other contype and conaffinity 0"
        )


def least_pairs(mjm: mujoco.MjModel) -> int:
    """Return a lower bound of the number of pairs of geoms that can touch, in time linear in the number of geoms.

    It counts pairs whose masks meet, without pairs of one body, of two static bodies, of a body and its parent, and of
    excluded bodies (`pairs.possible_pairs` has the rules).
    """
    weld = mjm.body_weldid[mjm.geom_bodyid]
    count = _meeting(mjm, np.ones(mjm.ngeom, bool))
    if count <= MOST_PAIRS:
        return count
    still = mjm.body_dofnum[weld] == 0
    count -= _meeting(mjm, still)
    load = np.bincount(weld, minlength=mjm.nbody).astype(np.int64)
    moving = np.flatnonzero((mjm.body_weldid == np.arange(mjm.nbody)) & (mjm.body_dofnum > 0))
    count -= int((load[moving] * (load[moving] - 1) // 2).sum())
    parent = mjm.body_weldid[mjm.body_parentid[moving]]
    count -= int((load[moving] * load[parent])[parent > 0].sum())
    for signature in mjm.exclude_signature:
        low, high = int(signature) >> 16, int(signature) & 0xFFFF
        count -= int(mjm.body_geomnum[low]) * int(mjm.body_geomnum[high])
    return count


def _meeting(mjm: mujoco.MjModel, chosen: np.ndarray) -> int:
    """Return the number of pairs among the chosen geoms in which contype of one meets conaffinity of the other."""
    masks = np.stack([mjm.geom_contype, mjm.geom_conaffinity], axis=1)[chosen]
    kinds, counts = np.unique(masks, axis=0, return_counts=True)
    meets = ((kinds[:, :1] & kinds[:, 1]) | (kinds[:, 1:] & kinds[:, 0])) != 0
    counts = counts.astype(np.int64)
    twice = counts[:, None] * counts - np.diag(counts)
    return int(twice[meets].sum()) // 2
