"""The check of a compiled MuJoCo model for support: everything that Tumble cannot simulate is found at once and named.

``check_support`` reads the compiled MjModel (in which defaults, replicas and attachments are resolved) and takes the
place of each element from the MjSpec it was compiled from. ``rules.py`` lists the refused features, and
``mujoco_fields.py`` the use of each field of mjModel.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import mujoco
import numpy as np

from ..base.shapes import HFIELD
from ..files.geometry.compiled_mesh import legacy_volume_of, triangles_of, volume_of
from ..files.geometry.names import type_name
from ..files.geometry.visual import MESH_TYPES
from ..files.mjmodel.equalities import EQUALITY_ROWS
from ..files.mjmodel.pairs import contacts_disabled, idle_explicit_pairs, possible_pairs
from ..files.mjmodel.sensors import refused_sensors
from ..files.mjmodel.unsupported import Unsupported
from .element_locations import KINDS, Elements, ModelSource, Places
from .parts import PARTS
from .rules import RULES, has_narrow_phase
from .tables.mujoco_fields import DISABLE_FLAGS, ENABLE_FLAGS, MODEL, Flag, role

_OVERWEIGHT = 0.05
"""The share by which a mesh may weigh more than it encloses without a note; meshes of scanned things have dents."""
_CUSTOM = {name for part in PARTS for name in part.custom.split()}
"""Names of custom elements that parts read."""
_REPORTING_ONLY = {
    "texture": "textures are not drawn",
    "numeric": "custom data",
    "text": "custom data",
    "tuple": "custom data",
    "skin": "skins are not drawn",
    "light": "lights of the model are not used by the renderer",
}


@dataclass(frozen=True)
class Finding:
    """One thing in a model that Tumble refuses or leaves unused.

    Attributes:
        feature: its name, as a noun.
        kind: the kind of element: a key of ``element_locations.KINDS``, "option" or "contact".
        name: the element's name, "#3" if it has none (its id in the compiled model), or the attribute of an option.
        place: file and line, as far as they are known.
        index: the element's id in the compiled model; -1 for options.
        rule: the row of ``rules.RULES`` that found it, if one did.
    """

    feature: str
    kind: str
    name: str
    place: str
    index: int = -1
    rule: Unsupported | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.kind} '{self.name}' ({self.place}): {self.feature}"


@dataclass(frozen=True)
class Support:
    """The result of ``check_support``: elements that are refused, unused, or treated differently."""

    source: str
    unsupported: list[Finding]
    unused: list[Finding]
    notes: list[str]

    def raise_if_unsupported(self) -> None:
        """Raise UnsupportedModelError with everything that is refused, if anything is."""
        if self.unsupported:
            raise UnsupportedModelError(self.source, self.unsupported)


class UnsupportedModelError(ValueError):
    """A model uses something that Tumble cannot simulate yet; ``findings`` has it all."""

    def __init__(self, source: str, findings: list[Finding]):
        self.source, self.findings = source, findings
        super().__init__(describe(source, findings))


def describe(source: str, findings: list[Finding]) -> str:
    """Return the message of an UnsupportedModelError: one line an element, grouped by kind."""
    elements: dict[tuple[str, str, str], list[str]] = {}
    for finding in findings:
        elements.setdefault((finding.kind, finding.name, finding.place), []).append(finding.feature)
    lines = [f"{source}: Tumble does not support yet features of {_count(len(elements), 'element')} of this model:"]
    previous = ""
    for (kind, name, place), features in elements.items():
        if kind != previous:
            lines.append(f"  {kind}:")
            previous = kind
        lines.append(f"    '{name}' ({place}): {'; '.join(features)}")
    lines.append("Take these out of the model, or load it with strict=False to drop them with a warning.")
    return "\n".join(lines)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' if n != 1 else ''}"


def check_support(
    mjm: mujoco.MjModel,
    spec: mujoco.MjSpec | None = None,
    source: ModelSource | str = "model",
    places: Places | None = None,
) -> Support:
    """Find everything in ``mjm`` that Tumble cannot simulate, and everything that it leaves unused.

    Args:
        mjm: the compiled model.
        spec: the MjSpec that ``mjm`` was compiled from, for the places.
        source: the origin of the model: a label, or a Source with its file or text.
        places: the places of ``source`` if the caller has read them already.

    Returns:
        The refused, the unused and the differently treated elements; nothing is raised here.
    """
    source = source if isinstance(source, ModelSource) else ModelSource(source)
    look_up = _LookUp(mjm, spec, places or Places.read(source))
    unsupported: list[Finding] = []
    unused: list[Finding] = []
    for rule in RULES:
        without = int(mjm.opt.disableflags) & rule.without
        for index in rule.where(mjm):
            finding = look_up.finding(rule.kind, int(index), rule.feature, rule)
            (unused if without else unsupported).append(finding)
    unsupported += _pairs_without_narrow_phase(mjm, look_up)
    unsupported += _unknown_fields(mjm, look_up)
    unused += _unused_elements(mjm, look_up)
    return Support(source.label, unsupported, unused, [*_notes(mjm), *_sensor_notes(mjm), *_weight_notes(mjm, spec)])


def _notes(mjm: mujoco.MjModel) -> list[str]:
    """Return a sentence about options of the file that have no effect in Tumble, if it sets any."""
    usual = mujoco.MjSpec().option
    asked = [n for n in ("sdf_iterations", "sdf_initpoints") if getattr(mjm.opt, n) != getattr(usual, n)]
    if not asked:
        return []
    return [f"{' and '.join(asked)}: without effect: contacts of geoms of type sdf are sought at points of surfaces"]


def _sensor_notes(mjm: mujoco.MjModel) -> list[str]:
    """Return a sentence about sensors that are not computed, if there are any."""
    refused = refused_sensors(mjm)
    listed = "; ".join(f"'{mjm.sensor(i).name or f'#{i}'}' is {why}" for i, why in refused.items())
    return [f"sensors that are not computed, and read 0: {listed}"] if refused else []


def _weight_notes(mjm: mujoco.MjModel, spec: mujoco.MjSpec | None) -> list[str]:
    """Return a sentence about meshes to which MuJoCo's default gives more volume than they enclose, if any."""
    shares = {}
    for mesh, name in sorted(_weighing_meshes(spec).items() if spec is not None else ()):
        triangles = triangles_of(mjm, mesh)
        enclosed = volume_of(triangles)
        share = legacy_volume_of(triangles) / enclosed if enclosed > 0.0 else 1.0
        if share > 1.0 + _OVERWEIGHT:
            shares[name] = share
    listed = ", ".join(f"'{name}' {share:.2f}" for name, share in shares.items())
    return [
        f"meshes that weigh more than they enclose, by these factors: {listed}; MuJoCo's default counts hollow and "
        'knotted meshes so, and <mesh inertia="exact"> weighs what a closed mesh encloses'
    ] * bool(shares)


def _weighing_meshes(spec: mujoco.MjSpec) -> dict[int, str]:
    """Return ids and names of the meshes of inertia "legacy" that bodies take their mass or inertia from."""
    legacy = {mesh.name: mesh.id for mesh in spec.meshes if mesh.inertia == mujoco.mjtMeshInertia.mjMESH_INERTIA_LEGACY}
    least, most = spec.compiler.inertiagrouprange
    always = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    return {
        legacy[geom.meshname]: geom.meshname
        for body in spec.bodies[1:]
        if always or not body.explicitinertial
        for geom in body.geoms
        if geom.type in MESH_TYPES
        and geom.meshname in legacy
        and least <= geom.group <= most
        and geom.typeinertia != mujoco.mjtGeomInertia.mjINERTIA_SHELL
        and (geom.density if np.isnan(geom.mass) else geom.mass) > 0.0
    }


class _LookUp(Elements):
    """The elements of a model, and findings about them."""

    def finding(self, kind: str, index: int, feature: str, rule: Unsupported | None = None) -> Finding:
        if kind == "option":
            attribute = rule.attribute if rule else feature
            return Finding(feature, kind, attribute, self.places.of_attribute("option", attribute), -1, rule)
        return Finding(feature, kind, self.name(kind, index), self.place(kind, index), index, rule)

    def pair(self, geoms: Iterable[int]) -> tuple[str, str]:
        """Return the names and the places of a pair of geoms."""
        geoms = [int(g) for g in geoms]
        return "' and '".join(self.name("geom", g) for g in geoms), "; ".join(self.place("geom", g) for g in geoms)


def _pairs_without_narrow_phase(mjm: mujoco.MjModel, look_up: _LookUp) -> list[Finding]:
    pairs = possible_pairs(mjm)
    findings = []
    for pair in pairs[~has_narrow_phase(mjm, pairs)]:
        first, second = (type_name(t) for t in mjm.geom_type[pair])
        name, place = look_up.pair(pair)
        findings.append(Finding(f"contact of {first} with {second}", "contact", name, place))
    return findings


def _unknown_fields(mjm: mujoco.MjModel, look_up: _LookUp) -> list[Finding]:
    """Return nonzero arrays of a MuJoCo newer than the table of fields; none for the version it was made for."""
    if mujoco.__version__.startswith("4.0."):
        return []
    findings = []
    for name in dir(mjm):
        if name.startswith("_") or role(MODEL, name) is not None:
            continue
        value = getattr(mjm, name)
        if isinstance(value, np.ndarray) and value.size and np.any(value != 0):
            feature = f"mjModel field of MuJoCo {mujoco.__version__} that Tumble does not know"
            findings.append(Finding(feature, "option", name, look_up.places.label))
    return findings


def _unused_elements(mjm: mujoco.MjModel, look_up: _LookUp) -> list[Finding]:
    """Return the elements that cannot change the motion and that Tumble ignores."""
    unused = []
    # elements that only report or draw, unread sensors, inactive equalities, height fields, pairs, geoms, flags
    for kind, why in _REPORTING_ONLY.items():
        found = range(getattr(mjm, KINDS[kind][1]))
        unused += [look_up.finding(kind, i, why) for i in found if look_up.name(kind, i) not in _CUSTOM]
    unused += [look_up.finding("sensor", i, f"not computed: {why}") for i, why in refused_sensors(mjm).items()]
    idle = np.flatnonzero(~np.isin(mjm.eq_type, list(EQUALITY_ROWS)) & (mjm.eq_active0 == 0))
    unused += [look_up.finding("equality", int(i), "inactive equality constraint") for i in idle]
    placed = mjm.geom_dataid[mjm.geom_type == HFIELD]
    unused += [look_up.finding("hfield", i, "no geom has it") for i in range(mjm.nhfield) if i not in placed]
    unused += [
        look_up.finding("pair", int(i), "its geoms move together, or not at all") for i in idle_explicit_pairs(mjm)
    ]
    unused += _idle_geoms(mjm, look_up) + _idle_flags(mjm, look_up)
    return unused


def _idle_geoms(mjm: mujoco.MjModel, look_up: _LookUp) -> list[Finding]:
    """Return the geoms whose masks ask for contacts that can never happen."""
    asks = np.flatnonzero((mjm.geom_contype != 0) | (mjm.geom_conaffinity != 0))
    why = "contacts are disabled" if contacts_disabled(mjm) else "can never collide with another geom"
    return [look_up.finding("geom", int(g), why) for g in np.setdiff1d(asks, possible_pairs(mjm))]


def _idle_flags(mjm: mujoco.MjModel, look_up: _LookUp) -> list[Finding]:
    sets = (
        (ENABLE_FLAGS, "mjENBL_", mujoco.mjtEnableBit, int(mjm.opt.enableflags), "enable"),
        (DISABLE_FLAGS, "mjDSBL_", mujoco.mjtDisableBit, int(mjm.opt.disableflags), "disable"),
    )
    return [
        Finding(f"flag {name}='{word}' has no effect here", "option", name, look_up.places.of_attribute("option", name))
        for table, prefix, enum, bits, word in sets
        for name, meaning in table.items()
        if meaning is Flag.WITHOUT_EFFECT and bits & int(enum.__members__[prefix + name.upper()])
    ]


def drop_unsupported(spec: mujoco.MjSpec, findings: Iterable[Finding]) -> mujoco.MjSpec:
    """Return a copy of ``spec`` without the elements that ``findings`` name; the caller compiles it and warns.

    Fields are set to the value that switches the feature off. If an element cannot do without the feature, it is
    deleted: an actuator (which shortens ``ctrl``), an equality, a contact pair, a flex. Pairs of geoms without a narrow
    phase stay in the model: they make no contacts, as they are not in Tumble's pair table.

    Args:
        spec: a compiled MjSpec; not changed.
        findings: the unsupported elements from ``check_support``.

    Raises:
        ValueError: for a finding that cannot be taken out.
    """
    spec = spec.copy()
    spec.compile()  # gives the elements of the copy their ids
    doomed = []
    for finding in findings:
        if finding.kind == "contact":
            continue
        if finding.rule is None:
            raise ValueError(f"cannot drop: {finding}")
        if finding.kind == "option":
            finding.rule.drop(spec.option)  # type: ignore[misc]
            continue
        element = getattr(spec, KINDS[finding.kind][0])[finding.index]
        if finding.rule.drop is None:
            doomed.append((finding.kind, finding.index, element))
        else:
            finding.rule.drop(element)
    for element in {(kind, index): element for kind, index, element in doomed}.values():
        spec.delete(element)
    return spec
