"""Randomization: draws have their distributions, numbers become what is said, and constants follow as in MuJoCo."""

import math
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from scipy import stats

import tumble
from tumble.envs import Last, Push, Randomization, Randomize, Start, Wrench
from tumble.envs.managers import randomize as dr
from tumble.envs.managers.randomize import draw
from tumble.envs.managers.targets import Inertia, mapped

from ...cases import cases
from .robot import NUMPY, STRICT, TORCH, XML, Robot, bound, in_numpy, noise_of, state_of

N = 3000


def ends(n, memory=None, fresh=False, kind=NUMPY):
    xp = kind.xp
    memory = {name: kind.like(value) for name, value in (memory or {}).items()}
    return Last(xp.arange(n), n, xp.asarray(np.full(n, fresh)), xp.asarray(np.ones(n, int)), None, None, memory)


def begun(*terms, n=N, task=None, last=None, episode=0, first=0):
    """Return the starts of n episodes."""
    task = task or bound()
    kind = task._kind
    noise = noise_of(n, episode, kind, first)
    start = Randomization(task, *terms).begin(Start(None, None, {}), last or ends(n, kind=kind), noise)
    return start.parameters, in_numpy(start.memory)


# -- distributions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("distribution", "low", "high", "oracle"),
    [
        ("uniform", -1.0, 3.0, stats.uniform(-1, 4)),
        ("log_uniform", 1e-4, 2e-2, stats.loguniform(1e-4, 2e-2)),
        ("normal", 0.5, 0.2, stats.norm(0.5, 0.2)),
    ],
)
def test_draws_have_their_distribution(distribution, low, high, oracle):
    found = draw(noise_of(N), distribution, np.full(3, low), np.full(3, high))
    for column in found.T:
        assert stats.kstest(column, oracle.cdf).pvalue > 1e-3
    assert abs(np.corrcoef(found.T) - np.eye(3)).max() < 5 / math.sqrt(N)


# -- numbers of the model ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("scale", lambda own, drawn: own * drawn),
        ("add", lambda own, drawn: own + drawn),
        ("abs", lambda own, drawn: drawn),
    ],
)
def test_operations_and_rows(operation, expected):
    """Joints that are named, by a pattern too, change by draws of their own; all others stay."""
    task = bound()
    term = Randomize("dof_damping", 0.5, 0.9, operation=operation, joints=["left_.*", "right_hip"], name="damping")
    parameters, memory = begun(term)
    own, found = task.model.dof_damping, parameters["dof_damping"]
    np.testing.assert_array_equal(found[:, :6], np.tile(own[:6], (N, 1)))
    np.testing.assert_allclose(found[:, 6:], expected(own[6:], memory["damping"].astype(float)), rtol=1e-12)
    for column in memory["damping"].T:
        assert stats.kstest(column, stats.uniform(0.5, 0.4).cdf).pvalue > 1e-3
    assert begun(Randomize("dof_damping", 0.5, 0.9, name="d"))[1]["d"].shape == (N, 3)  # not of the free joint


def test_axes_shared_draws_and_clip():
    task = bound()
    spin, _ = begun(dr.friction(1e-4, 2e-2, "left_.*", "spin", distribution="log_uniform"))
    own, chosen = task.model.geom_friction, [task.model.geom(name).id for name in ("left_shank", "left_sole")]
    found = spin["geom_friction"]
    assert stats.kstest(found[:, chosen[1], 1], stats.loguniform(1e-4, 2e-2).cdf).pvalue > 1e-3
    found[:, chosen, 1] = own[chosen, 1]
    np.testing.assert_array_equal(found, np.tile(own, (N, 1, 1)))
    together, _ = begun(dr.friction(0.4, 1.0, bodies="left.*", shared=True))
    values = together["geom_friction"][:, chosen, 0]
    assert (values[:, 0] == values[:, 1]).all() and values[:, 0].std() > 0.1
    assert (together["geom_friction"][:, task.model.geom("floor").id, 0] == 1).all()
    clipped, _ = begun(Randomize("dof_armature", 1.0, 0.5, distribution="normal", clip=(0.008, 0.012)))
    values = clipped["dof_armature"][:, 6:]
    assert values.min() == 0.008 and values.max() == 0.012 and (values == 0.008).mean() < 0.4


def test_pairs_of_geoms_have_rows():
    """An axis is one of each pair, not of all pairs one after the other."""
    pairs = '<contact><pair geom1="floor" geom2="left_sole"/><pair geom1="floor" geom2="right_shank"/></contact>'
    model = mujoco.MjModel.from_xml_string(XML.replace("<actuator>", pairs + "<actuator>"))
    task = Robot().bound(model, NUMPY)
    drawn, _ = begun(Randomize("pair_friction", 0.2, 0.9, operation="abs", axes=0), n=5, task=task)
    friction = drawn["pair_friction"]
    assert ((friction[..., 0] > 0.19) & (friction[..., 0] < 0.91)).all() and len(np.unique(friction[..., 0])) == 10
    np.testing.assert_array_equal(friction[..., 1:], np.broadcast_to(model.pair_friction[:, 1:], (5, 2, 4)))
    drawn, _ = begun(Randomize("pair_margin", 0.0, 0.1, operation="abs", shared=True), n=5, task=task)
    assert (drawn["pair_margin"] == drawn["pair_margin"][:, :1]).all()


def test_each_axis_has_its_range():
    parameters, _ = begun(Randomize("body_ipos", (-0.1, 0, 0.2), (0.1, 0, 0.3), operation="add", bodies="trunk"))
    moved = parameters["body_ipos"] - bound().model.body_ipos
    assert not moved[:, [0, 2, 3, 4]].any() and not moved[:, 1, 1].any()
    assert stats.kstest(moved[:, 1, 0], stats.uniform(-0.1, 0.2).cdf).pvalue > 1e-3
    assert stats.kstest(moved[:, 1, 2], stats.uniform(0.2, 0.1).cdf).pvalue > 1e-3


def test_terms_for_the_same_numbers_act_in_turn():
    parameters, memory = begun(dr.mass(0.8, 1.2, name="a"), dr.mass(-1, 1, "trunk", operation="add", name="b"))
    own = bound().model.body_mass
    expected = own[1] * memory["a"][:, 0].astype(float) + memory["b"][:, 0]
    np.testing.assert_allclose(parameters["body_mass"][:, 1], expected, rtol=1e-12)
    shares = parameters["body_inertia"][:, 1] / bound().model.body_inertia[1]
    np.testing.assert_allclose(shares, (expected / own[1])[:, None] * np.ones(3), rtol=1e-9)


def test_gains_change_with_their_biases():
    model = bound().model
    parameters, memory = begun(dr.kp(0.5, 2, name="kp"), dr.kv(0.5, 2, "left_hip", name="kv"))
    gain, bias = parameters["actuator_gainprm"], parameters["actuator_biasprm"]
    np.testing.assert_allclose(gain[:, :2, 0], memory["kp"] * [40.0, 30.0], rtol=1e-6)
    np.testing.assert_array_equal(bias[:, :2, 1], -gain[:, :2, 0])
    np.testing.assert_allclose(bias[:, 0, 2], -2 * memory["kv"][:, 0], rtol=1e-6)
    assert (bias[:, 1, 2] == -1).all() and (gain[:, 2] == model.actuator_gainprm[2]).all()


def test_a_position_servo_with_equal_gains_keeps_its_other_one():
    """Its control is a position, although the gain on it happens to be that of the velocity too."""
    task = bound()
    task.model.actuator_gainprm[0, 0], task.model.actuator_biasprm[0, :3] = 10.0, (0.0, -10.0, -10.0)
    parameters, _ = begun(dr.kv(2, 2, "left_hip"), n=1, task=task)
    assert list(parameters) == ["actuator_biasprm"]  # the gain on the control stays
    np.testing.assert_allclose(parameters["actuator_biasprm"][0, 0, :3], (0, -10, -20))


def test_a_weaker_motor_is_weaker_in_everything():
    """In MuJoCo, with these numbers, its force is that share of its force, within and beyond its limits."""
    parameters, memory = begun(dr.motor_strength(0.5, 0.9, name="s"), n=5)
    own, weak = (mujoco.MjModel.from_xml_string(XML) for _ in range(2))
    for env in range(5):
        for name, values in parameters.items():
            getattr(weak, name)[:] = values[env]
        for scale in (0.1, 5.0):
            forces = []
            for model in (own, weak):
                data = mujoco.MjData(model)
                data.ctrl[:], data.qvel[6:] = scale * np.array([0.3, -0.4, 0.9]), [0.5, -0.6, 0.7]
                mujoco.mj_forward(model, data)
                forces.append(data.actuator_force.copy())
            np.testing.assert_allclose(forces[1], memory["s"][env] * forces[0], rtol=1e-6)


def test_gravity_and_limits_of_forces():
    parameters, _ = begun(dr.gravity(-1, 1, axes=2), dr.effort_limit(0.5, 1.0))
    gravity, limits = parameters["gravity"], parameters["actuator_forcerange"]
    assert not gravity[:, :2].any() and stats.kstest(gravity[:, 2], stats.uniform(-10.81, 2).cdf).pvalue > 1e-3
    np.testing.assert_array_equal(limits[:, 0, 0], -limits[:, 0, 1])
    assert stats.kstest(limits[:, 0, 1], stats.uniform(15, 15).cdf).pvalue > 1e-3 and not limits[:, 1:].any()


# -- inertia ----------------------------------------------------------------------------------------------------------


def pseudo_inertia(mass, ipos, inertia, iquat) -> np.ndarray:
    """J of a body about its frame's origin, 4 x 4, by its definition: second moments of its mass."""
    mat = np.zeros(9)
    mujoco.mju_quat2Mat(mat, iquat)
    turn = mat.reshape(3, 3)
    about_com = turn @ np.diag(inertia) @ turn.T
    second = 0.5 * np.trace(about_com) * np.eye(3) - about_com + mass * np.outer(ipos, ipos)
    return np.block([[second, mass * ipos[:, None]], [mass * ipos[None], np.array([[mass]])]])


def test_inertias_are_mapped_as_published():
    """J' = exp(2 alpha) U J U', with J about the old centre of mass, and positive definite at any numbers."""
    rng = np.random.default_rng(3)
    model = bound().model
    for body in (1, 2, 4):
        own = Inertia(*(getattr(model, f"body_{part}")[body].copy() for part in Inertia._fields))
        for size in (0.1, 1.0):
            numbers = size * rng.normal(size=(20, 10))
            found = mapped(Inertia(*(np.repeat(part[None], 20, axis=0) for part in own)), numbers)
            for k, (alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3) in enumerate(numbers):
                u = np.array(
                    [[np.exp(d1), s12, s13, t1], [0, np.exp(d2), s23, t2], [0, 0, np.exp(d3), t3], [0, 0, 0, 1]]
                )
                shift = np.eye(4)
                shift[:3, 3] = own.ipos
                centered = pseudo_inertia(own.mass, 0 * own.ipos, own.inertia, own.iquat)
                expected = np.exp(2 * alpha) * shift @ u @ centered @ u.T @ shift.T
                j = pseudo_inertia(*(part[k] for part in found))
                np.testing.assert_allclose(j, expected, rtol=1e-9, atol=1e-12 * abs(expected).max())
                assert (np.linalg.eigvalsh(j) > 0).all()
                moments = found.inertia[k]
                assert (moments > 0).all() and (2 * moments < moments.sum()).all()
                assert abs(np.linalg.norm(found.iquat[k]) - 1) < 1e-12


def test_inertias_of_some_body_are_taken_by_mujocos_compiler():
    parameters, _ = begun(dr.inertia(alpha=(-0.5, 0.5), d=(-0.4, 0.4), s=(-0.3, 0.3), t=(-0.05, 0.05)), n=50)
    assert set(parameters) == {"body_mass", "body_ipos", "body_inertia", "body_iquat"}
    moments = parameters["body_inertia"][:, 1:]
    assert (2 * moments < moments.sum(-1, keepdims=True)).all() and (parameters["body_inertia"][:, 0] == 0).all()
    heavier, _ = begun(dr.inertia("trunk", alpha=(-0.5, 0.5)), n=50)
    own = bound().model
    ratio = heavier["body_mass"][:, 1] / own.body_mass[1]
    np.testing.assert_allclose(heavier["body_inertia"][:, 1], ratio[:, None] * own.body_inertia[1], rtol=1e-12)
    np.testing.assert_array_equal(heavier["body_iquat"][:, 1], np.tile(own.body_iquat[1], (50, 1)))


# -- when -------------------------------------------------------------------------------------------------------------


def test_what_is_drawn_at_the_start_is_kept_until_a_seed():
    """And is not written again, unless another environment that begins anew needs it."""
    terms = dr.mass(0.5, 1.5, when="start"), dr.friction(0.4, 1.0)
    first, memory = begun(*terms, n=20)
    later, kept = begun(*terms, n=20, last=ends(20, memory), episode=1)
    np.testing.assert_array_equal(kept["randomization_0"], memory["randomization_0"])
    assert (first["geom_friction"][..., 0] != later["geom_friction"][..., 0]).all()
    assert {*later} == {"geom_friction"} and {*first} == {"geom_friction", "body_mass", "body_inertia"}
    last = ends(20, kept)._replace(fresh=np.arange(20) == 3)
    anew, _ = begun(*terms, n=20, last=last, episode=2)
    changed = (anew["body_mass"][:, 1:] != first["body_mass"][:, 1:]).all(1)
    np.testing.assert_array_equal(changed, last.fresh)
    assert not (anew["body_mass"] != first["body_mass"])[~last.fresh].any()
    assert begun(terms[0], n=20, last=ends(20, memory), episode=1)[0] == {}


def test_numbers_that_terms_share_are_written_together():
    """Also by way of a third term: what is drawn anew for masses is written with inertias of another term."""
    terms = (
        Randomize("body_mass", 0.9, 1.1, when=(0.1, 0.1), name="i"),
        dr.mass(0.5, 1.5, "trunk", when="start", name="m"),
        Randomize("body_inertia", 1.5, 2.0, shared=True, when="start", name="s"),
    )
    task = bound()
    randomization = Randomization(task, *terms)
    start = randomization.begin(Start(None, None, {}), ends(4), noise_of(4))
    again = randomization.begin(Start(None, None, {}), ends(4, start.memory), noise_of(4, 1))
    memory = again.memory
    for step in range(5):
        state, changes = randomization.step(state_of(task, memory, step))
        memory = state.memory
    for parameters, said in ((again.parameters, again.memory), (changes["parameters"], memory)):
        said = {name: np.asarray(value, float) for name, value in in_numpy(said).items()}
        expected = task.model.body_mass[1] * said["i"][:, 0] * said["m"][:, 0]
        np.testing.assert_allclose(parameters["body_mass"][:, 1], expected, rtol=1e-12)
        moments = task.model.body_inertia[1] * (said["m"] * said["s"])
        np.testing.assert_allclose(parameters["body_inertia"][:, 1], moments, rtol=1e-12)


def test_intervals_are_each_environments_own():
    task = bound()
    randomization = Randomization(
        task, dr.mass(0.5, 1.5, name="m"), dr.mass(0.9, 1.1, "trunk", when=(0.1, 0.3), name="i")
    )
    start = randomization.begin(Start(None, None, {}), ends(50), noise_of(50))
    memory, last_time, gaps = start.memory, np.zeros(50), []
    expected = start.parameters["body_mass"].copy()
    for step in range(100):
        before = in_numpy(memory)
        state, changes = randomization.step(state_of(task, memory, step))
        memory, now = state.memory, in_numpy(state.memory)
        due = (now["i"] != before["i"]).any(1)
        np.testing.assert_array_equal(due, before["i_steps"] == 1)
        assert ("parameters" in changes) == due.any()
        if due.any():
            np.testing.assert_array_equal(changes["parameters_mask"], due)
            expected[due] = changes["parameters"]["body_mass"][due]
            gaps += (step + 1 - last_time[due]).tolist()
            last_time[due] = step + 1
        own = task.model.body_mass[1] * now["m"][:, 0].astype(float) * now["i"][:, 0]
        np.testing.assert_allclose(expected[:, 1], own, rtol=1e-12)
    assert {*gaps} == {*range(5, 16)}


# -- pushes and wrenches ----------------------------------------------------------------------------------------------


def test_pushes_add_what_is_drawn_to_the_free_bodys_velocity():
    task, rng = bound(), np.random.default_rng(0)
    push = Push(x=(0.2, 0.5), z=(-0.1, 0.1), yaw=(-1, 1), roll=(0.5, 0.6), when=(0.04, 0.1))
    randomization = Randomization(task, push)
    memory = randomization.begin(Start(None, None, {}), ends(N), noise_of(N)).memory
    quat = rng.normal(size=(N, 4))
    qpos = np.tile(task.model.qpos0, (N, 1))
    qpos[:, 3:7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    qvel, kicks = rng.normal(size=(N, task.model.nv)), []
    for step in range(6):
        before = state_of(task, memory, step, qpos, qvel)
        due = before.memory["randomization_0_steps"] == 1
        state, changes = randomization.step(before)
        memory = state.memory
        assert ("qvel" in changes) == due.any()
        change = (state.qvel - before.qvel).astype(float)
        assert not change[~due].any() and not change[:, 6:].any()
        if due.any():
            assert changes["qvel"] is state.qvel
            np.testing.assert_array_equal(state.coordinates, np.concatenate((state.qpos, state.qvel), axis=1))
            for row in np.flatnonzero(due)[:50]:
                mujoco.mju_rotVecQuat(change[row, 3:6], change[row, 3:6].copy(), qpos[row, 3:7])  # to the world's frame
                kicks.append(change[row])
    kicks = np.array(kicks)
    assert len(kicks) > 150 and abs(kicks[:, [1, 4]]).max() < 1e-6
    for column, low, high in ((0, 0.2, 0.5), (2, -0.1, 0.1), (3, 0.5, 0.6), (5, -1, 1)):
        assert stats.kstest(kicks[:, column], stats.uniform(low, high - low).cdf).pvalue > 1e-3


def test_kicks_in_any_direction():
    task = bound()
    randomization = Randomization(task, Push(speed=(0.5, 1.0), when=(0.02, 0.02)))
    memory = randomization.begin(Start(None, None, {}), ends(N), noise_of(N)).memory
    kick = randomization.step(state_of(task, memory))[0].qvel
    assert stats.kstest(np.hypot(kick[:, 0], kick[:, 1]), stats.uniform(0.5, 0.5).cdf).pvalue > 1e-3
    assert stats.kstest(np.arctan2(kick[:, 1], kick[:, 0]), stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > 1e-3
    assert not kick[:, 2:].any()


PLANAR = """
<mujoco><worldbody><body name="cart" euler="0 0 30">
  <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>{hinge}
  <geom size="0.1" mass="1" pos="0.2 0 0"/><body><joint name="arm" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body>
</body></worldbody></mujoco>
"""
YAW = '<joint name="yaw" axis="0 0 1"/>'


def test_a_planar_root_is_pushed_along_its_joints():
    """Oracle: MuJoCo's velocity of the cart's origin in the world, by mj_objectVelocity, turned by any angle."""
    model = mujoco.MjModel.from_xml_string(PLANAR.format(hinge=YAW))
    task = SimpleNamespace(
        model=model, dt=0.02, xp=np, array=lambda values: np.asarray(values, np.float64), _kind=NUMPY
    )
    push = Push(x=(0.2, 0.5), y=(-0.3, 0.1), z=(1, 2), yaw=(-1, 1), when=(0.02, 0.02)).bound(task, "push")
    rng, n = np.random.default_rng(0), 20
    qpos, qvel = rng.normal(size=(n, model.nq)), rng.normal(size=(n, model.nv))
    memory = push.begin(noise_of(n))
    before = state_of(task, memory, 0, qpos, qvel)
    drawn = push._draw(noise_of(n))["kick"]
    after, changed = push.step(before._replace(noise=noise_of(n)))
    assert changed and (after.qvel[:, 3] == before.qvel[:, 3]).all()
    data, frame = mujoco.MjData(model), np.zeros((2, 6))
    for row in range(n):
        for k, state in enumerate((before, after)):
            data.qpos, data.qvel = state.qpos[row], state.qvel[row]
            mujoco.mj_forward(model, data)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, 1, frame[k], 0)
        change = frame[1] - frame[0]  # turn, then motion
        np.testing.assert_allclose(change[[3, 4, 2]], drawn[row][[0, 1, 5]], atol=1e-5)
        np.testing.assert_allclose(change[[0, 1, 5]], 0.0, atol=1e-5)


@pytest.mark.parametrize(
    "joints", ['<joint name="yaw" axis="0 0 1"/>', '<joint type="slide"/>', '<joint type="ball"/>']
)
def test_a_root_that_is_not_planar_is_refused(joints):
    body = f'<body>{joints}<geom size="0.1"/></body>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with pytest.raises(ValueError, match="neither a free joint nor a root with two slides"):
        Push().bound(SimpleNamespace(model=model), "push")


def test_wrenches_begin_last_and_end():
    """Against a plain count for each environment."""
    task, n = bound(), 40
    wrench = Wrench(
        ["trunk", "right"], force=(-20, 20), torque=((0, 0, 1), (0, 0, 2)), when=(0.2, 0.4), duration=(0.06, 0.1)
    )
    randomization = Randomization(task, wrench)
    memory = randomization.begin(Start(None, None, {}), ends(n), noise_of(n)).memory
    bodies = [task.model.body(name).id for name in ("trunk", "right")]
    acting, lengths, begins = np.zeros((n, task.model.nbody, 6), np.float32), [], [[] for _ in range(n)]
    for step in range(120):
        state, changes = randomization.step(state_of(task, memory, step))
        memory = state.memory
        now = changes["inputs"]["xfrc_applied"] if changes else acting
        for env in range(n):
            if now[env].any() and not acting[env].any():
                begins[env].append(step)
            elif acting[env].any() and not now[env].any():
                lengths.append(step - begins[env][-1])
        acting = now
        others = np.delete(acting, bodies, axis=1)
        assert not others.any()
    drawn = memory["randomization_0"][memory["randomization_0"].any(1)]
    assert abs(drawn[:, :3]).max() <= 20 and (drawn[:, 3:5] == 0).all() and (drawn[:, 5] >= 1).all()
    assert (drawn[:, :3] != drawn[:, 6:9]).all()
    gaps = np.concatenate([np.diff(times) for times in begins])
    assert {*lengths} == {3, 4, 5} and {*gaps} == {*range(10, 21)}


# -- bits -------------------------------------------------------------------------------------------------------------

EVERYTHING = (
    dr.mass(0.9, 1.1, when="start"),
    dr.inertia("trunk", alpha=(-0.1, 0.1), d=(-0.1, 0.1), s=(-0.1, 0.1), t=(-0.02, 0.02)),
    dr.friction(1e-4, 1e-2, kind="roll", distribution="log_uniform"),
    dr.armature(1.0, 0.02, distribution="normal"),
    dr.kp(0.8, 1.2, when=(0.1, 0.3)),
    Push(x=(-0.5, 0.5), yaw=(-1, 1), speed=(0, 1), when=(0.04, 0.2)),
    Wrench("trunk", force=(-5, 5), when=(0.1, 0.2)),
)


def played(kind, n=12, first=0, steps=20):
    """All that is said and remembered."""
    task = bound(kind)
    randomization = Randomization(task, *EVERYTHING)
    start = randomization.begin(Start(None, None, {}), ends(n, kind=kind), noise_of(n, 0, kind, first))
    said, memory = [dict(start.parameters) | in_numpy(start.memory)], start.memory
    for step in range(steps):
        state, changes = randomization.step(state_of(task, memory, step, first=first))
        memory = state.memory
        inputs = in_numpy(changes.get("inputs", {}))
        said.append(in_numpy(memory) | {"qvel": np.asarray(state.qvel)} | inputs)
        if "parameters" in changes:
            mask = np.asarray(changes["parameters_mask"])
            said[-1] |= {name: value * mask[:, None, None] for name, value in changes["parameters"].items()}
    return said


@pytest.mark.parametrize("kind", [TORCH, STRICT], ids=["torch", "strict"])
def test_bits_are_the_same_in_every_library(kind):
    for one, other in zip(played(NUMPY), played(kind), strict=True):
        for name in one:
            np.testing.assert_array_equal(one[name], other[name], name)


def test_an_environment_alone_has_the_same_bits():
    together = played(NUMPY)
    for k in (0, 5, 11):
        for one, other in zip(played(NUMPY, 1, k), together, strict=True):
            for name in one:
                np.testing.assert_array_equal(one[name][0], other[name][k], name)


# -- in environments --------------------------------------------------------------------------------------------------


class Randomized(Robot):
    """The robot with everything at once."""

    def bind(self):
        """All terms."""
        self.randomization = Randomization(self, *EVERYTHING, dr.kv(0.8, 1.2, name="kv"))

    def reset_after(self, last, noise):
        """With numbers of its own."""
        return self.randomization.begin(self.reset(noise), last, noise)

    def step(self, state, action):
        """With what changes."""
        state, changes = self.randomization.step(state)
        result = super().step(state, action)
        return result._replace(memory=state.memory, **changes)


@pytest.fixture(scope="module")
def envs():
    envs = tumble.make_vec(Randomized, 6, max_episode_steps=15, autoreset_mode="SAME_STEP", output="numpy")
    yield envs
    envs.close()


def test_constants_follow_as_in_mujoco(envs):
    """Each environment's constants are those that `mj_setConst` computes from its numbers, also within episodes."""
    envs.reset(seed=0)
    for _ in range(9):
        envs.step(np.zeros((6, 3), np.float32))
    solver = envs.solver
    derived = ("body_subtreemass", "body_invweight0", "dof_invweight0", "dof_M0", "actuator_acc0")
    names = (
        "body_mass",
        "body_ipos",
        "body_inertia",
        "body_iquat",
        "dof_armature",
        "actuator_gainprm",
        "actuator_biasprm",
    )
    for env in range(6):
        model = mujoco.MjModel.from_xml_string(XML)
        for name in names:
            getattr(model, name)[:] = solver.get_parameters(name)[env]
        mujoco.mj_setConst(model, mujoco.MjData(model))
        for name in derived:
            found = solver.get_parameters(name)[env].numpy()
            np.testing.assert_allclose(found, getattr(model, name), rtol=1e-9, err_msg=name)
    assert (solver.get_parameters("dof_invweight0")[0] != solver.get_parameters("dof_invweight0")[1]).all()


def test_episodes_go_on_with_all_of_it(envs):
    """Pushes are seen, intervals change gains within episodes, resets draw anew, and a seed determines everything."""
    actions = np.random.default_rng(0).uniform(-0.2, 0.2, (40, 6, 3)).astype(np.float32)
    runs = []
    for _ in range(2):
        envs.reset(seed=4)
        seen, gains, masses = [], [], []
        for action in actions:
            observation, _, terminated, truncated, _ = envs.step(action)
            assert not terminated.any()
            assert truncated.all() or (observation == envs.solver.coordinates().numpy()).all()
            seen.append(observation)
            gains.append(envs.solver.get_parameters("actuator_gainprm").numpy())
            masses.append(envs.solver.get_parameters("body_mass").numpy())
        runs.append(np.array(seen))
        changes = (np.diff(np.array(gains)[:, :, 0, 0], axis=0) != 0).sum(0)
        assert (changes >= 3).all() and changes.max() > changes.min()
        steady, varied = np.array(masses)[:, :, 2], np.array(masses)[:, :, 1]
        assert (np.diff(steady, axis=0) == 0).all() and ((np.diff(varied, axis=0) != 0).sum(0) == 2).all()
    np.testing.assert_array_equal(*runs)


def test_a_saved_state_goes_on(envs):
    actions = np.random.default_rng(0).uniform(-0.2, 0.2, (30, 6, 3)).astype(np.float32)
    envs.reset(seed=4)
    for action in actions[:8]:
        envs.step(action)
    state = envs.state_dict()
    first = [envs.step(action)[0] for action in actions[8:]]
    envs.reset(seed=99)
    envs.load_state_dict(state)
    np.testing.assert_array_equal(first, [envs.step(action)[0] for action in actions[8:]])


# -- errors -----------------------------------------------------------------------------------------------------------


@cases(
    "term, error, message",
    [
        (lambda: dr.mass(0.5, 1.5, "trnk"), ValueError, r"Randomize\('mass'\): bodies='trnk': the model has none"),
        (lambda: dr.mass(1.5, 0.5), ValueError, r"Randomize\('mass'\): low=.* is above high=.*: exchange them"),
        (lambda: dr.friction(0, 1, distribution="log_uniform"), ValueError, "log_uniform needs numbers above 0"),
        (lambda: dr.friction(0, 1, distribution="gaussian"), ValueError, "there are uniform, log_uniform, normal"),
        (lambda: dr.kp(0.5, 1, "right_hip"), ValueError, r"'kp'\): actuator 'right_hip' has no position gain"),
        (lambda: dr.kv(0.5, 1, "right_hip"), ValueError, "actuator 'right_hip' has no velocity gain"),
        (lambda: dr.damping(0.5, 1, bodies="trunk"), ValueError, "bodies were given, and it is chosen by joints"),
        (lambda: dr.gravity(0, 1, bodies="trunk"), ValueError, "bodies were given, and it has no parts"),
        (lambda: dr.friction(0, 1, kind="slip"), ValueError, "there are slide, spin, roll"),
        (lambda: Randomize("geom_friction", 0, 1, axes=3), ValueError, "axes=3: there are 0 to 2"),
        (lambda: Randomize("dof_dampign", 0, 1), KeyError, r"Randomize\('dof_dampign'\): .*did you mean dof_damping"),
        (lambda: Randomize("dof_invweight0", 0, 1), KeyError, "cannot be set: it follows from"),
        (lambda: Randomize("mass", 0, 1, operation="times"), ValueError, "there are scale, add, abs"),
        (lambda: Randomize("mass", (1, 2), (3, 4)), ValueError, "needed is a number, or one for each of 1 axes"),
        (lambda: dr.mass(1, 2, when="episode"), ValueError, 'it is "start", "reset", or a pair of seconds'),
        (lambda: dr.mass(1, 2, when=(0, 1)), ValueError, "seconds must be above 0"),
        (lambda: dr.mass(1, 2, when=5.0), ValueError, "when=5.0: it must be a pair"),
        (lambda: dr.mass(1, 2, when=(np.inf, np.inf)), ValueError, "when=.*: seconds must be finite"),
        (lambda: dr.mass(1, 2, clip=(2, 1)), ValueError, r"clip=\(2, 1\): it must be a pair"),
        (lambda: dr.mass(1, 2, "*_foot"), ValueError, r"bodies='\*_foot': it is no name, and no regular expression: "),
        (lambda: dr.mass(1, 2, [1, 2]), ValueError, r"bodies=\[1, 2\]: give names, .*; there are world, trunk"),
        (lambda: dr.com(0, 1, axes=[True, False, True]), ValueError, "axes=.*: there are .*, each to be named once"),
        (lambda: dr.com(0, 1, axes=1.5), ValueError, "axes=1.5: there are 0 to 2"),
        (lambda: dr.inertia("trunk", alpha=0.1), ValueError, "inertia: alpha=0.1: it must be a pair"),
        (lambda: dr.mass(-0.5, 1.5), ValueError, r"'mass'\): it may come to this: body_mass\[1\] is -3: it must"),
        (lambda: dr.damping(1, 0.3, distribution="normal"), ValueError, "not be negative. Draw from less, or give"),
        (lambda: Randomize("tendon_stiffness", 1, 2), ValueError, "the model has nothing of the kind"),
        (lambda: Push(x=(1, -1)), ValueError, r"Push: x=\(1, -1\): it must be a pair"),
        (lambda: Push(x=(0, np.inf)), ValueError, r"Push: x=\(0, inf\): .* of finite numbers"),
        (lambda: Push(when=(np.inf, np.inf)), ValueError, "Push: when=.*: seconds must be finite"),
        (lambda: Push(joint="left_hip"), ValueError, "Push: joint 'left_hip' is not free"),
        (lambda: Push(when=(0, 1)), ValueError, r"Push: when=\(0, 1\): seconds must be above 0"),
        (lambda: Wrench("trunk", force=(1, -1)), ValueError, "Wrench: force=.*low must be at most high"),
        (lambda: Wrench("trunk", force=5.0), ValueError, r"Wrench: force=5.0: it must be \(low, high\)"),
        (lambda: Wrench("trunk", force=(1, 2, 3)), ValueError, r"Wrench: force=\(1, 2, 3\): it must be \(low, high\)"),
        (lambda: Wrench("trunk", force=(0, np.inf)), ValueError, "low must be at most high, and both finite"),
        (lambda: Wrench("head"), ValueError, "Wrench: bodies='head': the model has none"),
        (lambda: "mass", TypeError, "is no term"),
    ],
)  # fmt: skip
def test_impossible_terms_say_what_to_do(term, error, message):
    with pytest.raises(error, match=message):
        Randomization(bound(), term())


@pytest.mark.parametrize(
    "terms",
    [
        [Randomize("jnt_range", -1.2, 1.2, operation="add")],
        [Randomize("jnt_range", -1.2, 1.2, operation="add", axes=k) for k in (0, 1)],
    ],
    ids=["one", "two"],
)
def test_ends_of_a_range_that_may_cross_are_refused_when_the_task_is_made(terms):
    """All lowest and all highest numbers are in order; 0.2 and -0.2 are not."""
    with pytest.raises(ValueError, match=r"to this: jnt_range.*a lower bound must not be above its upper"):
        Randomization(bound(), *terms)
    Randomization(bound(), Randomize("jnt_range", -0.9, 0.9, operation="add"))


def test_two_terms_do_not_keep_their_numbers_by_one_name():
    with pytest.raises(ValueError, match=r"Randomize\('mass'\): name='drawn': another term keeps its numbers"):
        Randomization(bound(), dr.mass(1, 2, name="drawn"), dr.damping(1, 2, name="drawn"))


def test_numbers_that_the_task_gives_itself():
    randomization = Randomization(bound(), dr.mass(0.9, 1.1))
    start = Start(None, None, {}, {"body_mass": np.ones((2, 5))})
    with pytest.raises(ValueError, match=r"\['body_mass'\] are in the parameters of the start too"):
        randomization.begin(start, ends(2), noise_of(2))


def test_mujoco_moves_the_same_robot():
    """With everything at once: MuJoCo's C is given the same numbers, pushes and wrenches, and goes the same way."""
    batches = [
        tumble.make_vec(Randomized, 2, max_episode_steps=15, autoreset_mode="SAME_STEP", output="numpy", **options)
        for options in ({}, {"simulator": "mujoco"})
    ]
    for envs in batches:
        envs.reset(seed=8)
    for step in range(14):
        ours, theirs = (envs.step(np.full((2, 3), 0.1, np.float32))[0] for envs in batches)
        np.testing.assert_allclose(ours, theirs, atol=2e-3 * (1 + step), err_msg=str(step))
    for name in ("body_mass", "body_inertia", "actuator_gainprm"):
        ours, theirs = (np.asarray(envs.solver.get_parameters(name)) for envs in batches)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, err_msg=name)
    for envs in batches:
        envs.close()
