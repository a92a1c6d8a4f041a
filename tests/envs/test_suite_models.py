"""The suite's models, written by ourselves, have the physics of dm_control's: every number of it, compiled."""

import mujoco
import numpy as np
import pytest

from tumble import assets

from . import control_suite

pytestmark = pytest.mark.skipif(not control_suite.available(), reason="dm_control is not installed")

MODELS = {
    "cartpole": "CartPoleSwingUp",
    "pendulum": "PendulumSwingUp",
    "acrobot": "AcrobotSwingUp",
    "finger": "FingerSpin",
    "ball_in_cup": "BallInCup",
    "point_mass": "PointMass",
    "reacher": "ReacherHard",
    "walker": "WalkerWalk",
    "cheetah": "CheetahRun",
    "fish": "FishSwim",
}
NUMBERS = (
    *("body_parentid", "body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia", "body_weldid"),
    *("jnt_type", "jnt_bodyid", "jnt_pos", "jnt_axis", "jnt_stiffness", "jnt_limited", "jnt_margin", "qpos0"),
    *("qpos_spring", "dof_armature", "dof_damping", "dof_frictionloss", "dof_solref", "dof_solimp", "dof_invweight0"),
    *(
        "actuator_trntype",
        "actuator_trnid",
        "actuator_gear",
        "actuator_gaintype",
        "actuator_gainprm",
        "actuator_biastype",
    ),
    *("actuator_biasprm", "actuator_ctrlrange", "actuator_ctrllimited", "actuator_forcelimited", "actuator_dyntype"),
    *("tendon_limited", "tendon_range", "tendon_stiffness", "tendon_damping", "tendon_length0", "tendon_invweight0"),
    *("tendon_solref_lim", "tendon_solimp_lim", "wrap_type", "wrap_prm", "wrap_objid", "exclude_signature"),
)
LIMITS = ("jnt_range", "jnt_solref", "jnt_solimp")  # of joints that have one and a model that heeds it
SHAPES = (
    "type",
    "size",
    "pos",
    "quat",
    "friction",
    "condim",
    "margin",
    "gap",
    "solref",
    "solimp",
    "solmix",
    "priority",
)
OPTIONS = (
    *("timestep", "integrator", "cone", "solver", "iterations", "tolerance", "impratio", "gravity", "wind", "density"),
    *("viscosity", "disableflags", "noslip_iterations", "ccd_iterations", "jacobian"),
)


@pytest.fixture(params=MODELS, scope="module")
def models(request) -> tuple[mujoco.MjModel, mujoco.MjModel]:
    """Our model and dm_control's, as its task has it."""
    ours = mujoco.MjModel.from_xml_path(str(assets.find(f"suite_{request.param}.xml")))
    env = control_suite.suite().load(*control_suite.THEIRS[MODELS[request.param]])
    env.reset()
    return ours, env.physics.model.ptr


def test_numbers(models):
    """Bodies, joints, dofs, actuators, tendons; a target of ours is one more body, the last."""
    ours, theirs = models
    assert ours.nbody - ours.nmocap == theirs.nbody
    assert (ours.nq, ours.nv, ours.nu, ours.neq, ours.npair) == (
        theirs.nq,
        theirs.nv,
        theirs.nu,
        theirs.neq,
        theirs.npair,
    )
    for name in NUMBERS:
        mine, wanted = getattr(ours, name), getattr(theirs, name)
        mine = mine[: len(wanted)] if name.startswith("body_") else mine
        np.testing.assert_allclose(mine, wanted, rtol=1e-12, atol=1e-15, err_msg=name)
    heeded = theirs.jnt_limited.astype(bool)
    for name in LIMITS:
        np.testing.assert_allclose(getattr(ours, name)[heeded], getattr(theirs, name)[heeded], rtol=1e-12, err_msg=name)


def test_options(models):
    ours, theirs = models
    for name in OPTIONS:
        np.testing.assert_array_equal(getattr(ours.opt, name), getattr(theirs.opt, name), err_msg=name)


def test_shapes_that_touch(models):
    """Which geoms may meet, and how each of those looks and touches; how far a plane is drawn does not matter."""
    ours, theirs = models
    pairs, wanted = meetings(ours), meetings(theirs)
    mine, other = (sorted({geom for pair in found for geom in pair}) for found in (pairs, wanted))
    assert len(mine) == len(other)
    place = dict(zip(mine, other, strict=True))
    assert [(place[i], place[j]) for i, j in pairs] == wanted
    for i, j in place.items():
        plane = theirs.geom_type[j] == mujoco.mjtGeom.mjGEOM_PLANE
        for field in SHAPES:
            if not (plane and field in ("size", "pos")):
                a, b = getattr(ours, f"geom_{field}")[i], getattr(theirs, f"geom_{field}")[j]
                np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15, err_msg=f"{ours.geom(i).name}, {field}")
        assert not plane or ours.geom_pos[i, 2] == theirs.geom_pos[j, 2]


def meetings(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """Return the pairs of geoms that MuJoCo's filters let meet."""
    if model.opt.disableflags & (mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT):
        return []
    kind, affinity, weld = model.geom_contype, model.geom_conaffinity, model.body_weldid[model.geom_bodyid]
    parent = model.body_weldid[model.body_parentid[weld]]
    found = []
    for i in range(model.ngeom):
        for j in range(i + 1, model.ngeom):
            related = weld[i] == weld[j] or (weld[i] and weld[j] and (weld[i] == parent[j] or weld[j] == parent[i]))
            if not related and (kind[i] & affinity[j] or kind[j] & affinity[i]):
                found.append((i, j))
    return found
