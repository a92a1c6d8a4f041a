"""The allowed values of the floating-point fields of MuJoCo's model: one row for each field, with the reason.

MuJoCo's compiler accepts most numbers silently: NaN, infinity, a negative mass, a timestep of 0. Results computed from
them are non-finite or meaningless. `sanity.py` refuses numbers that a row here does not allow, by name and place, when
a model is loaded; `options.py` does so for options given by keyword, and `parameters.py` for per-environment
parameters. `docs/reference/numbers.md` is this table: `python -m tumble.physics.model.number_rules`.

Fields are named as in mjModel; names of mjOption begin with "opt.", of mjStatistic with "stat.", and the few of
mjVisual that pictures depend on with "vis.". Names with a star stand for a family.
"""

import math
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from ..files.mjmodel.allowed import (
    BRAKE,
    DAMPER,
    FINITE,
    GAIN,
    HIGHER_ORDER,
    MARGIN,
    MASS,
    NOT_NEGATIVE,
    POSITIVE,
    RANGE,
    REACH,
    SOLIMP,
    SOLREF,
    SPRING,
    Allowed,
    AllowedNumbers,
)
from .parts import PARTS


def _rows(allowed: Allowed, reason: str, names: str) -> dict[str, AllowedNumbers]:
    return dict.fromkeys(names.split(), AllowedNumbers(allowed, reason))


_PLACES = "a place, a direction, an orientation or a speed: its sign is free"
_DERIVED = "MuJoCo's compiler derives it from others, and the solver reads it"

RULES: dict[str, AllowedNumbers] = {
    # options
    **_rows(POSITIVE, "time goes forward", "opt.timestep"),
    **_rows(POSITIVE, "a ratio of impedances", "opt.impratio"),
    **_rows(
        NOT_NEGATIVE,
        "a tolerance; 0 asks for all iterations",
        "opt.tolerance opt.ls_tolerance opt.noslip_tolerance opt.ccd_tolerance",
    ),
    **_rows(
        NOT_NEGATIVE,
        "a number of iterations",
        "opt.iterations opt.ls_iterations opt.noslip_iterations opt.ccd_iterations opt.sdf_iterations "
        "opt.sdf_initpoints",
    ),
    **_rows(FINITE, _PLACES, "opt.gravity opt.magnetic"),
    **_rows(FINITE, "an angle of the free camera", "vis.global_.azimuth vis.global_.elevation"),
    **_rows(POSITIVE, "the field of view of the free camera, and its near plane", "vis.global_.fovy vis.map.znear"),
    # joints
    **_rows(FINITE, _PLACES, "jnt_pos jnt_axis"),
    **_rows(*MASS, "dof_armature"),
    **_rows(*SPRING, "jnt_stiffness"),
    **_rows(*DAMPER, "dof_damping"),
    # geoms, sites, cameras, meshes
    **_rows(FINITE, _PLACES, "geom_pos geom_quat site_pos site_quat mesh_vert"),
    **_rows(NOT_NEGATIVE, "a size", "geom_size site_size"),
    **_rows(POSITIVE, "a size", "hfield_size"),
    **_rows(FINITE, "heights, of which the compiler makes numbers from 0 to 1", "hfield_data"),
    **_rows(NOT_NEGATIVE, "a weight", "geom_solmix"),
    **_rows(*SOLREF, "geom_solref pair_solref pair_solreffriction"),
    **_rows(*SOLIMP, "geom_solimp pair_solimp"),
    **_rows(*BRAKE, "geom_friction pair_friction"),
    **_rows(*MARGIN, "geom_margin geom_gap pair_margin pair_gap"),
    **_rows(FINITE, "a colour; values beyond 0 to 1 are clipped", "geom_rgba mat_rgba"),
    **_rows(FINITE, _PLACES, "cam_pos cam_quat"),
    **_rows(NOT_NEGATIVE, "a field of view", "cam_fovy"),
    **_rows(FINITE, "a lens", "cam_sensorsize cam_intrinsic"),
    # bodies, whose inertia follows from geoms, and reference coordinates, which follow from bodies
    **_rows(FINITE, _PLACES, "body_pos body_quat body_ipos body_iquat"),
    **_rows(*MASS, "body_mass body_inertia"),
    **_rows(FINITE, _PLACES, "qpos0 qpos_spring"),
    # actuators and sensors
    **_rows(*GAIN, "actuator_gainprm actuator_biasprm actuator_gear"),
    **_rows(*RANGE, "actuator_ctrlrange actuator_forcerange"),
    **_rows(*DAMPER, "actuator_damping"),
    **_rows(*HIGHER_ORDER, "actuator_dampingpoly"),
    **_rows(*MASS, "actuator_armature"),
    **_rows(REACH, "a cutoff; 0: no cutoff", "sensor_cutoff"),
    # mechanisms
    **{name: row for part in PARTS for name, row in part.allowed_numbers().items()},
    # keyframes
    **_rows(
        FINITE,
        "a state; `reset_to_keyframe` puts environments there",
        "key_time key_qpos key_qvel key_act key_mpos key_mquat key_ctrl key_plastic",
    ),
    # fields that follow from others come last, so that a mistake is reported where it was made
    **_rows(
        NOT_NEGATIVE,
        _DERIVED,
        "body_subtreemass body_invweight0 dof_invweight0 dof_M0 geom_rbound tendon_invweight0",
    ),
    **_rows(
        FINITE, _DERIVED, "geom_aabb cam_poscom0 cam_pos0 cam_mat0 tendon_length0 actuator_acc0 actuator_lengthrange"
    ),
    **_rows(POSITIVE, "a scale of the model", "stat.meaninertia stat.extent"),
    **_rows(FINITE, _PLACES, "stat.center"),
}
"""The fields that are checked."""

LEFT: dict[str, str] = {
    **dict.fromkeys(("opt.o_margin", "opt.o_solref", "opt.o_solimp", "opt.o_friction"), "the flag override is refused"),
    **dict.fromkeys(("stat.meanmass", "stat.meansize"), "nothing reads it"),
    "vis.*": "appearance in MuJoCo's own viewer",
    **dict.fromkeys(("light_*", "skin_*", "mat_*", "site_rgba", "tendon_rgba", "tendon_width"), "appearance"),
    **dict.fromkeys(("mesh_normal", "mesh_texcoord", "mesh_facenormal"), "appearance"),
    **dict.fromkeys(("mesh_scale", "mesh_pos", "mesh_quat"), "the compiler has applied it to the vertices"),
    **dict.fromkeys(("mesh_polynormal", "body_margin", "bvh_*", "oct_*"), "the solver has its own"),
    "cam_ipd": "nothing reads it",
    **dict.fromkeys(("flex_*", "flexedge_*", "efm0_*"), "deformable bodies are refused"),
    "actuator_length0": "nothing reads it",
    "sensor_noise": "MuJoCo itself adds no noise",
    **dict.fromkeys(("*_user", "numeric_data", "tuple_objprm"), "the user's own data"),
}
"""The fields that are not checked, with the reason."""

LIMITED = {
    "actuator_ctrlrange": "actuator_ctrllimited",
    "actuator_forcerange": "actuator_forcelimited",
    **{name: limited for part in PARTS for name, limited in part.ranges.items()},
}
"""Ranges, lower bound first, with the field that says if a range is in force."""


def row(field: str) -> AllowedNumbers | str:
    """Return the row of a field, or the reason why it is not checked.

    Raises:
        KeyError: neither table has the field.
    """
    if field in RULES:
        return RULES[field]
    for pattern, reason in LEFT.items():
        if fnmatchcase(field, pattern):
            return reason
    raise KeyError(field)


def crossed(ranges: np.ndarray) -> np.ndarray:
    """Return the mask of ranges (..., 2) without a number: bounds in the wrong order, inf as lower or -inf as upper."""
    lower, upper = ranges[..., 0], ranges[..., 1]
    return (lower > upper) | (lower == math.inf) | (upper == -math.inf)


def page() -> str:
    """Return the text of `docs/reference/numbers.md`."""
    lines = [
        "# Numbers that models may hold",
        "",
        "Generated by `python -m tumble.physics.model.number_rules docs/reference/numbers.md`; do not edit. A model "
        "with any other number is refused when it is loaded, with its file, line, element, field and value; so are "
        "options by keyword and per-environment parameters. A solver of single precision also refuses "
        "a finite number above 3.4e38, where infinity is not allowed. Fields have MuJoCo's names.",
        "",
        "| fields | allowed | why |",
        "|---|---|---|",
    ]
    grouped: dict[AllowedNumbers, list[str]] = {}
    for field, found in RULES.items():
        grouped.setdefault(found, []).append(f"`{field}`")
    lines += [f"| {' '.join(names)} | {found.allowed.words} | {found.reason} |" for found, names in grouped.items()]
    lines += ["", "A range that holds must also have its lower bound at or below its upper one.", ""]
    lines += ["## Fields that are not looked at", "", "| fields | why |", "|---|---|"]
    reasons: dict[str, list[str]] = {}
    for field, reason in LEFT.items():
        reasons.setdefault(reason, []).append(f"`{field}`")
    return "\n".join([*lines, *(f"| {' '.join(names)} | {reason} |" for reason, names in reasons.items())]) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
