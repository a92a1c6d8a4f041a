"""Features: the optional code that a model needs. Kernels omit the rest, and compile in half the time."""

from dataclasses import dataclass, make_dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from ..base.hooks import CONTACT_PULL
from ..base.joints import is_scalar, is_slide
from ..files.mjmodel.pairs import repeated_explicit_pairs
from ..files.mjmodel.solver_params import has_uncommon_powers
from ..mechanics.collision.pair_table import PAIR_TABLE
from .condition import LOST
from .model import Model
from .parts import PARTS
from .solver_choice import CG, MPR, MUJOCO, TILTS

STIFF = 5e3  # 1/s^2; MuJoCo's default contact has 2.8e3
FAR = 1.0  # metres
HARD = 4e3
"""Hardness of contacts (`model.pair_hardness`) beyond which single precision has stacked boxes move: at 3,700
they rest, at 10,000 they do not."""
HARD_LOOP = 3e7
"""The same times the condition of the mass matrix, which measures how far single precision gets: at 4e6 a closed chain
has a relative error of 6e-6, at 6e7 its motion ends in non-finite numbers."""


@dataclass(frozen=True)
class CoreFeatures:
    """The optional code in a kernel, without the features of parts, which `Features` adds.

    Attributes:
        ball_joints: limits, springs and actuators on ball and free joints, and the midpoint rule of single free bodies.
        hulls: planes against ellipsoids, cylinders, boxes and meshes; impedance curves of other powers than 1 and 2.
        solids: spheres against cylinders; spheres, capsules and boxes against boxes.
        convex: all other pairs of convex shapes, by GJK and EPA.
        field_planes: planes against meshes with distance fields.
        field_terrain: height fields against such meshes.
        fields: all other geoms against meshes with distance fields.
        terrain: height fields against convex shapes.
        prisms: the same with MuJoCo's contacts, computed from a prism for each triangle.
        mixed_precision: positions, from the coordinates to the distances of geoms, and inverse dynamics are in double
            precision in a solver of single precision (`state.fields.PRECISE`, `model.fields.PRECISE`). Needed if
            contacts are so stiff, or axes of sliding joints so far from their bodies, that the rounding of a position
            causes a noticeable force.
        double_solver: Newton's method is in double precision in a solver of single precision. Needed if constraints
            are so hard that single precision loses the mass matrix in the Hessian.
        cg: conjugate gradients instead of Newton's method.
        explicit_pairs: explicit pairs, each with its contact parameters.
        repeated_pairs: several explicit pairs of the same two geoms.
        friction_reference: explicit pairs with a separate reference for the friction axes of elliptic cones.
        sweep: near pairs of geoms are found by a sweep, not from a list of all pairs.
        grid: static geoms near moving ones are found in a grid.
        elliptic: contacts have elliptic friction cones.
        mpr: Minkowski portal refinement first for convex shapes.
        tilts: more contacts of convex shapes by small rotations.
        warm: convex pairs store the axis that separated them.
        implicit_full: the integrator `implicit`.
        noslip: friction is recomputed without regularisation.
        sensors: sensors that read contacts or limits, or any sensors with Runge-Kutta's integrator, whose first stage
            they read.
        parameters: environments override numbers of the model (`kernel_numbers.RULES`), so that these are lane numbers.
    """

    ball_joints: bool
    hulls: bool
    solids: bool
    convex: bool
    mixed_precision: bool
    cg: bool
    double_solver: bool = False
    explicit_pairs: bool = False
    sweep: bool = False
    grid: bool = False
    elliptic: bool = False
    mpr: bool = False
    tilts: bool = False
    warm: bool = False
    implicit_full: bool = False
    noslip: bool = False
    sensors: bool = False
    parameters: bool = False
    repeated_pairs: bool = False
    friction_reference: bool = False
    field_planes: bool = False
    field_terrain: bool = False
    fields: bool = False
    terrain: bool = False
    prisms: bool = False

    @staticmethod
    def of(model: Model, single: bool) -> "Features":
        """Return the features that `model` needs, in single precision or not."""
        mixed = single and needs_mixed_precision(model)
        convex = _has_pairs(model, "convex")
        solids = convex or _has_pairs(model, "solids")
        hulls = mixed or solids or _has_pairs(model, "hulls") or _has_powers(model) or _needed("hulls", model)
        return Features(
            ball_joints=hulls or _has_ball_joints(model) or _needed("ball_joints", model),
            hulls=hulls,
            solids=solids,
            convex=convex,
            mixed_precision=mixed,
            double_solver=single and needs_double_solver(model),
            cg=model.solver == CG,
            explicit_pairs=model.sizes["nexplicit"] > 0,
            repeated_pairs=has_repeated_pairs(model),
            friction_reference=has_elliptic_cones(model) and bool(model.values["pair_solreffriction"].any()),
            sweep=model.sizes["nsweep"] > 0,
            grid=model.sizes["nstatic"] > 0,
            elliptic=has_elliptic_cones(model),
            mpr=convex and model.convex == MPR,
            tilts=convex and model.manifold == TILTS,
            sensors=any(model.sizes[name] for name in ("nsense", "nlimitsense", "nstart")),
            warm=model.sizes["nwarm"] > 0 and model.convex != MPR and model.manifold != TILTS,
            implicit_full=is_implicit(model),
            noslip=has_noslip(model),
            field_planes=_has_pairs(model, "field_planes"),
            field_terrain=_has_pairs(model, "field_terrain"),
            fields=_has_pairs(model, "fields"),
            terrain=_has_pairs(model, "terrain"),
            prisms=_has_pairs(model, "terrain") and model.hfield == MUJOCO,
            **{each.name: each.wanted(model) for part in PARTS for each in part.features()},
        )


if TYPE_CHECKING:
    Features = CoreFeatures
else:
    Features = make_dataclass(
        "Features",
        [(each.name, bool, False) for part in PARTS for each in part.features()],
        bases=(CoreFeatures,),
        frozen=True,
        namespace={"__doc__": "Optional code in a kernel: that of `CoreFeatures`, and of every part."},
    )
    Features.__module__ = __name__


def needs_mixed_precision(model: Model) -> bool:
    """Return True if single precision needs the feature `mixed_precision`."""
    return _stiff(model) or _slides_far(model) or needs_double_solver(model)


def needs_double_solver(model: Model) -> bool:
    """Return True if single precision needs the feature `double_solver`."""
    hardest = model.hardest_contact
    loops = hardest * float(model.values["condition"].max()) > HARD_LOOP or model.closed_condition > LOST
    return model.solver != CG and (hardest > HARD or loops)


def has_elliptic_cones(model: Model) -> bool:
    """Return True if contacts with friction have elliptic cones."""
    return int(model.mj.opt.cone) == int(mujoco.mjtCone.mjCONE_ELLIPTIC) and model.rubs


def has_repeated_pairs(model: Model) -> bool:
    """Return True if two geoms have several explicit pairs."""
    return len(repeated_explicit_pairs(model.mj)) > 0 and bool(model.row_pairs.any())


def has_pulls(model: Model) -> bool:
    """Return True if a mechanism pulls contacts."""
    return any(part.wanted(model) for part in PARTS if CONTACT_PULL in part.hooks)


def is_implicit(model: Model) -> bool:
    """Return True if Coriolis and gyroscopic forces are integrated implicitly."""
    return int(model.mj.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_IMPLICIT)


def has_noslip(model: Model) -> bool:
    """Return True if friction is recomputed without regularisation."""
    return model.mj.opt.noslip_iterations > 0 and (model.rubs or model.sizes["nf"] > 0)


def _has_ball_joints(model: Model) -> bool:
    """Return True if the code for ball and free joints is needed; see `CoreFeatures`."""
    values = model.values
    return bool(
        (~is_scalar(values["jnt_type"]) & (values["jnt_stiffness"] != 0)).any()
        or not is_scalar(values["actuator_type"]).all()
        or values["body_is_single_free"].any()
    )


def _needed(feature: str, model: Model) -> bool:
    """Return True if the code of a part asks for a feature of the core."""
    return any(part.needs[feature](model) for part in PARTS if feature in part.needs)


def _has_pairs(model: Model, group: str) -> bool:
    """Return True if a pair is served by a row of the dispatch table of this group."""
    return any(count and row.group == group for count, row in zip(model.row_pairs, PAIR_TABLE, strict=True))


def _has_powers(model: Model) -> bool:
    """Return True if contacts have uncommon powers of impedance, or different ones."""
    touching = model.values["geom_solimp"][model.values["geom_collides"] == 1]
    uncommon = has_uncommon_powers(touching) or has_uncommon_powers(model.values["pair_solimp"])
    return uncommon or len(np.unique(np.maximum(touching[:, 4], 1.0))) > 1


def _stiff(model: Model) -> bool:
    """Return True if a contact reacts to an error of 1e-7 m, the rounding of a metre, with more than 5e-4 m/s^2."""
    return bool(model.stiffest > STIFF)


def _slides_far(model: Model) -> bool:
    """Return True if a slide on a rotating body can move farther than FAR, where the rounding of its axis matters."""
    mjm = model.mj
    for dof in range(mjm.nv):
        joint = mjm.dof_jntid[dof]
        if is_slide(mjm.jnt_type[joint]) and (not mjm.jnt_limited[joint] or np.abs(mjm.jnt_range[joint]).max() > FAR):
            above = mjm.dof_parentid[dof]
            while above >= 0:
                if not is_slide(mjm.jnt_type[mjm.dof_jntid[above]]):
                    return True
                above = mjm.dof_parentid[above]
    return False
