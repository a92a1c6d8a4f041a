"""The same robots as URDF and as MJCF: masses, inertias, poses and motion are the same."""

import mujoco
import numpy as np
import pytest

from tumble.physics.files.urdf import urdf_spec

from .two_ways import mjcf, random_robot, urdf

ALIKE = 1e-10
"""Relative difference after 100 steps: both models have the same numbers but for rounding, which grows in them."""
ROUNDING = 1e-12
"""Of a number of the model: poses and inertias are composed of a dozen products."""
STEPS = 100


def worst(mine: np.ndarray, other: np.ndarray) -> float:
    """The largest difference, in parts of the largest number."""
    return float(np.abs(mine - other).max(initial=0.0) / max(np.abs(other).max(initial=0.0), 1.0))


def whole_inertia(mjm: mujoco.MjModel, body: int) -> np.ndarray:
    """Inertia of a body about its centre of mass in the body's axes."""
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, mjm.body_iquat[body])
    turn = matrix.reshape(3, 3)
    return turn @ np.diag(mjm.body_inertia[body]) @ turn.T


def same_columns(mine: mujoco.MjModel, other: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """For each number of the other's qpos, and each dof, which is mine: fusing changes the order of joints."""
    qpos, dofs = [], []
    for j in range(other.njnt):
        i = mine.joint(other.joint(j).name).id if other.joint(j).name else 0  # a free joint has no name in the MJCF
        many = (7, 6) if not other.jnt_type[j] else (1, 1)
        qpos += range(mine.jnt_qposadr[i], mine.jnt_qposadr[i] + many[0])
        dofs += range(mine.jnt_dofadr[i], mine.jnt_dofadr[i] + many[1])
    return np.array(qpos, int), np.array(dofs, int)


def started(mjm: mujoco.MjModel, rng: np.random.Generator) -> mujoco.MjData:
    data = mujoco.MjData(mjm)
    mujoco.mj_integratePos(mjm, data.qpos, rng.normal(size=mjm.nv) * 0.1, 1.0)
    data.qvel[:] = rng.normal(size=mjm.nv) * 0.3
    data.qfrc_applied[:] = rng.normal(size=mjm.nv)
    return data


def tightened(mjm: mujoco.MjModel) -> mujoco.MjModel:
    mjm.opt.tolerance, mjm.opt.iterations = 1e-14, 200
    mjm.opt.disableflags |= int(
        mujoco.mjtDisableBit.mjDSBL_CONTACT
    )  # contacts of other pairs: bodies are cut otherwise
    return mjm


@pytest.mark.parametrize("floats", [True, False])
@pytest.mark.parametrize("merge", [True, False])
def test_urdf_and_mjcf_move_alike(floats, merge):
    """Random trees of hinges, slides and fixed links; MuJoCo's fixed links are bodies, ours are fused or not."""
    rng = np.random.default_rng(3)
    for trial in range(12):
        robot = random_robot(rng, links=9, floats=floats, mimics=trial % 2 == 1)
        text = urdf(robot)
        spec = urdf_spec(text, fixed=not floats, merge_fixed_links=merge)
        mine, other = tightened(spec.compile()), tightened(mujoco.MjModel.from_xml_string(mjcf(robot)))
        assert mine.nv == other.nv and mine.neq == other.neq
        qpos, dofs = same_columns(mine, other)
        # softness is of the reference, which obeys mimics in a URDF, and is 0 in the MJCF
        other.dof_invweight0[:] = mine.dof_invweight0[dofs] if other.neq else other.dof_invweight0
        assert worst(mine.body_subtreemass[1], other.body_subtreemass[1]) < ROUNDING
        a, b = mujoco.MjData(mine), started(other, np.random.default_rng(trial))
        a.qpos[qpos], a.qvel[dofs], a.qfrc_applied[dofs] = b.qpos, b.qvel, b.qfrc_applied
        mujoco.mj_forward(mine, a)
        mujoco.mj_forward(other, b)
        full = [np.zeros((mine.nv, mine.nv)) for _ in range(2)]
        mujoco.mj_fullM(mine, a, full[0])
        mujoco.mj_fullM(other, b, full[1])
        assert worst(full[0][np.ix_(dofs, dofs)], full[1]) < ROUNDING
        mujoco.mj_step(mine, a, STEPS)
        mujoco.mj_step(other, b, STEPS)
        mujoco.mj_forward(mine, a)
        mujoco.mj_forward(other, b)
        assert worst(a.qpos[qpos], b.qpos) < ALIKE and worst(a.qvel[dofs], b.qvel) < ALIKE
        for part in robot.parts:  # fused links are sites of the same name
            body = mujoco.mj_name2id(mine, mujoco.mjtObj.mjOBJ_BODY, part.name)
            place = a.body(part.name) if body >= 0 else a.site(part.name)
            assert worst(place.xpos, b.body(part.name).xpos) < ALIKE
            assert worst(place.xmat, b.body(part.name).xmat) < ALIKE


def test_mujocos_reader_agrees():
    """MuJoCo's own reader of URDF, where both read the same: masses, inertias, poses, joints, shapes."""
    rng = np.random.default_rng(11)
    for _ in range(12):
        text = urdf(random_robot(rng, links=8, floats=False))
        mine = urdf_spec(text, fixed=True, merge_fixed_links=False).compile()
        kept = text.replace(">", '><mujoco><compiler fusestatic="false"/></mujoco>', 1)
        other = mujoco.MjModel.from_xml_string(kept)
        names = [mine.body(i).name for i in range(mine.nbody)]
        for i, name in enumerate(names):
            j = other.body(name).id
            assert mine.body(i).mass[0] == other.body(j).mass[0]
            assert worst(mine.body_pos[i], other.body_pos[j]) < ROUNDING
            assert worst(mine.body_ipos[i], other.body_ipos[j]) < ROUNDING
            angle = abs(mine.body_quat[i] @ other.body_quat[j])
            assert abs(angle - 1.0) < ROUNDING
            if i:
                scale = np.abs(whole_inertia(other, j)).max()
                # MuJoCo's reader turns the file's inertia to its axes to 1e-6 of a moment
                assert np.abs(whole_inertia(mine, i) - whole_inertia(other, j)).max() < 1e-5 * scale
        for i in range(mine.njnt):
            j = other.joint(mine.joint(i).name).id
            for field in ("jnt_type", "jnt_axis", "jnt_pos", "jnt_actfrcrange", "jnt_actfrclimited"):
                assert worst(getattr(mine, field)[i] * 1.0, getattr(other, field)[j] * 1.0) < ROUNDING, field
            assert mine.jnt_limited[i] == other.jnt_limited[j]
            assert (mine.jnt_range[i] == other.jnt_range[j]).all()
            assert mine.dof_damping[mine.jnt_dofadr[i]] == other.dof_damping[other.jnt_dofadr[j]]


def test_fused_inertia_is_that_of_points():
    """Six points of mass have the mass and the inertia of a link; fused links have those of all their points."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        robot = random_robot(rng, links=5, floats=True)
        for part in robot.parts[1:]:
            part.kind = "fixed"
        mjm = urdf_spec(urdf(robot)).compile()
        poses, points, masses = [], [], []
        for part in robot.parts:
            own = affine(part.pos, part.rpy) if part.parent >= 0 else np.eye(4)
            poses.append(poses[part.parent] @ own if part.parent >= 0 else own)
            half = np.sqrt((part.moments.sum() / 2 - part.moments) / part.mass * 3)  # 2 m/6 x^2 is the spread along x
            ends = np.concatenate([np.diag(half), -np.diag(half)])
            frame = poses[-1] @ affine(part.com, part.com_rpy)
            points.append(ends @ frame[:3, :3].T + frame[:3, 3])
            masses.append(np.full(6, part.mass / 6))
        place, mass = np.concatenate(points), np.concatenate(masses)
        center = mass @ place / mass.sum()
        arm = place - center
        spread = np.einsum("n,ni,nj->ij", mass, arm, arm)
        inertia = np.trace(spread) * np.eye(3) - spread
        assert mjm.nbody == 2 and worst(mjm.body_mass[1], mass.sum()) < ROUNDING
        assert worst(mjm.body_ipos[1], center) < ROUNDING
        assert np.abs(whole_inertia(mjm, 1) - inertia).max() < ROUNDING * np.abs(inertia).max()


def affine(pos: np.ndarray, rpy: np.ndarray) -> np.ndarray:
    """A pose (4, 4) from three turns about axes that stay, one after the other."""
    matrix = np.eye(4)
    for axis, angle in enumerate(rpy):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn = np.eye(4)
        turn[i, i] = turn[j, j] = np.cos(angle)
        turn[j, i], turn[i, j] = np.sin(angle), -np.sin(angle)
        matrix = turn @ matrix
    matrix[:3, 3] = pos
    return matrix
