"""Environments with model numbers of their own: every number, what follows from it, sensors, and the motion."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.model.parameters import PARAMETERS
from tumble.physics.model.parts import NUMBERS
from tumble.physics.model.tables.kernel_numbers import is_option, mujoco_numbers
from tumble.physics.model.tables.mujoco_fields import MODEL as FIELDS
from tumble.physics.model.tables.mujoco_fields import READ, role

from .parity.run import SETTINGS
from .parity.states import sample
from .test_sensors import LANES, errors

pytestmark = pytest.mark.usefixtures("double")

SENSORS = Path(__file__).parent.parent / "models" / "sensors.xml"
COUNT = 4
PARTS = ([3, 0], [1])
ADDED = {
    "<option ": '<option density="20" viscosity="0.01" wind="0.5 0.1 0" ',
    '<body name="trunk" ': '<body name="trunk" gravcomp="0.1" ',
    '<joint name="knee" ': '<joint name="knee" frictionloss="0.3" actuatorfrcrange="-9 9" ',
    '<camera name="rides" ': '<light mode="trackcom" pos="0 -1 0.4" dir="0 1 -1"/><camera name="rides" ',
    '<geom name="crate" ': '<geom name="crate" adhesion="0.4" surfacevel="0.2 0 0.1" ',
    '<motor name="second" ': '<motor name="second" nsample="4" delay="0.008" forcerange="-3 3" ',
    '<geom name="post" type="cylinder" size="0.05 0.3"/>': '<geom name="post" type="box" size="0.05 0.05 0.3"/>',
    "<sensor>": """<contact><pair geom1="foot" geom2="lid" condim="4" adhesion="0.2" margin="0.01"/></contact>
  <tendon><fixed name="sum" range="-0.3 0.4" limited="true" stiffness="4" damping="0.3" frictionloss="0.2"
   springlength="-0.1 0.2" margin="0.01"><joint joint="hip" coef="0.7"/><joint joint="knee" coef="-1.2"/></fixed>
  </tendon>
  <equality><joint joint1="extend" joint2="knee" polycoef="0 0.02"/>
   <connect body1="arm" body2="crate" anchor="-0.1 0 -0.2" solref="0.5 1"/>
   <weld body1="shin" body2="trunk" anchor="0 0.1 0" solref="0.6 1"/>
   <weld body1="crate" body2="trunk" relpose="0.1 0.05 0.3 0.9 0.1 0 0.2" solref="0.7 1"/></equality>
  <sensor><tendonpos tendon="sum"/><tendonlimitfrc tendon="sum"/>""",
}
"""Old and new text of the model of all sensors: it gets an item of every parameter, and loses its cylinder, whose
contacts only a search finds, in which MuJoCo ends up to 1e-5 off."""
UNORDERED = {"contact first"}
"""It takes the contact that is found first, where several match: Tumble finds those of spheres first."""
_MOVED = ("qpos0", "qpos_spring", "body_ipos", "geom_pos", "eq_data")


@pytest.fixture(scope="module")
def model(double):
    xml = SENSORS.read_text()
    for old, new in ADDED.items():
        assert xml.count(old) == 1, old
        xml = xml.replace(old, new)
    return Model.from_mjcf(xml, **SETTINGS)


def own_numbers(mjm, name):
    """Numbers (COUNT, *shape) of environments that all differ, the first one's being the model's."""
    own = mujoco_numbers(mjm, name)
    env = np.arange(COUNT, dtype=float).reshape(-1, *[1] * own.ndim)
    if PARAMETERS[name].turns:
        turned = own + 0.1 * env * np.array([0.0, 1.0, 0.5, -0.3])
        turned[:, : int(name == "body_quat")] = own[: int(name == "body_quat")]
        return turned / np.linalg.norm(turned, axis=-1, keepdims=True)
    numbers = own * (1 - 0.06 * env)
    return numbers + 0.01 * env * (name in _MOVED)


def own_model(model, name, numbers):
    """MuJoCo's model with these numbers, and what follows from them by mj_setConst."""
    mjm = model.editable()
    for frames in (mjm.body_sameframe, mjm.geom_sameframe, mjm.site_sameframe):
        frames[:] = 0  # or MuJoCo takes what lies at a centre of mass there, wherever it is moved
    mjm.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)  # its boxes are those of the compiled model
    mjm.opt.jacobian = int(mujoco.mjtJacobian.mjJAC_DENSE)
    setattr(mjm.opt if is_option(name) else mjm, name, numbers)
    mujoco.mj_setConst(mjm, mujoco.MjData(mjm))
    return mjm


def begun(model, mjm, states, env):
    """MuJoCo's data of a model of `own_model` in one of the states."""
    data = mujoco.MjData(mjm)
    data.mocap_pos[:] = model.mj.body_pos[model.mj.body_mocapid >= 0]  # a state, which parameters do not change
    data.mocap_quat[:] = model.mj.body_quat[model.mj.body_mocapid >= 0]
    data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[env], states.qvel[env], states.ctrl[env]
    return data


def mujocos(model, name, numbers, states):
    """MuJoCo's sensordata (COUNT, nsensordata), of a model for each environment."""
    found = []
    for env in range(COUNT):
        mjm = own_model(model, name, numbers[env])
        data = begun(model, mjm, states, env)
        mujoco.mj_forward(mjm, data)
        found.append(np.array(data.sensordata))
    return np.array(found)


def arrays(mjm):
    """Every array of mjModel by name."""
    return {name: np.array(found) for name in dir(mjm) if isinstance(found := getattr(mjm, name), np.ndarray)}


UNUSED = {"geom_aabb": "only of meshes, whose size cannot change", "dof_length": "only of models that sleep"}
"""Constants that follow from parameters, and that the solver reads, but not of such items or models."""
MOVED_APART = 1e-7
"""m and rad that both sides may be apart after ten steps: contacts magnify what their solvers leave, about 1e-10."""


def test_what_follows_from_every_parameter_is_mj_setconsts(model):
    """Give each to one environment: every field that mj_setConst changes, and ten steps, half of them in contact."""
    names = sorted(PARAMETERS.keys() - NUMBERS.keys())
    solver, states = RigidSolver(model, len(names), lanes=LANES), sample(model.mj, len(names), 1)
    own, followed = {}, set()
    for env, name in enumerate(names):
        numbers = own_numbers(model.mj, name)[-1]
        solver.set_parameters(name, numbers, [env])
        own[name] = own_model(model, name, numbers)
    plain = arrays(own_model(model, "gravity", model.mj.opt.gravity))
    for env, name in enumerate(names):
        for field, theirs in arrays(own[name]).items():
            changed = not np.allclose(theirs, plain[field], rtol=1e-12, atol=1e-12)
            picture = field in ("light_pos0", "light_poscom0", "light_dir0")
            if changed and (role(FIELDS, field) == READ or picture) and field not in UNUSED:
                ours = solver.get_parameters(field, [env])[0]
                np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12, err_msg=f"{field}, of own {name}")
                followed.add(field)
    assert {"eq_data", "light_poscom0", "cam_poscom0", "tendon_length0", "actuator_acc0"} <= followed
    solver.set_state(states.qpos, states.qvel)
    solver.ctrl = states.ctrl
    solver.step(10)
    for env, name in enumerate(names):
        data = begun(model, own[name], states, env)
        mujoco.mj_step(own[name], data, 10)
        assert np.abs(solver.qpos[env].numpy() - data.qpos).max() < MOVED_APART, name


@pytest.mark.parametrize("first", [pytest.param("all", marks=pytest.mark.slow), "some"])
def test_every_parameter_is_felt_by_every_sensor_and_any_read_comes_first(model, first):
    """Constants that readings are made of had the size of the first read: the next one of another size failed."""
    states = sample(model.mj, COUNT, 0)
    for name in PARAMETERS.keys() - NUMBERS.keys():  # those that MuJoCo knows
        numbers = own_numbers(model.mj, name)
        assert numbers.size, name
        solver = RigidSolver(model, COUNT, lanes=LANES)
        solver.set_parameters(name, numbers)
        solver.set_state(states.qpos, states.qvel)
        solver.ctrl = states.ctrl
        solver.forward()
        reads = [None, *PARTS] if first == "all" else [*PARTS, None]
        found = [solver.get("sensordata", part) for part in reads]
        whole = found[reads.index(None)]
        for part, rows in zip(reads, found, strict=True):
            assert torch.equal(rows, whole if part is None else whole[part]), (name, part)
        assert errors(model.mj, whole, mujocos(model, name, numbers, states)).keys() <= UNORDERED, name


OFF = """<mujoco><option timestep="0.002" gravity="0 0 -4"/>
<default><default class="arm"><geom contype="0" conaffinity="0"/></default></default>
<worldbody>
  <geom name="floor" type="plane" size="5 5 1"/>
  <body name="box" pos="0 0 0.098"><freejoint/><geom name="box" type="box" size="0.1 0.12 0.1"/></body>
  <body name="ball" pos="1 0 0.148"><freejoint/><geom name="ball" type="sphere" size="0.15" condim="6"/></body>
  <body name="arm" pos="-1 0 1" childclass="arm"><joint name="hinge" axis="0 1 0"/>
    <geom type="capsule" size="0.04" fromto="0 0 0 0.4 0.1 0"/><site name="arm" pos="0.4 0 0"/>
    <body pos="0.4 0.1 0"><joint name="socket" type="ball"/><geom type="capsule" size="0.03" fromto="0 0 0 0.2 0 -0.2"/>
      <body pos="0.2 0 -0.2"><joint name="slide" type="slide" axis="1 0 0.2"/>
        <geom type="ellipsoid" size="0.05 0.04 0.06"/>
        <site name="tip"/></body></body></body>
</worldbody>
<contact><pair geom1="ball" geom2="floor" condim="4"/></contact>
<tendon><fixed name="sum"><joint joint="hinge" coef="0.7"/><joint joint="slide" coef="-1.2"/></fixed>
  <spatial name="cord"><site site="arm"/><site site="tip"/></spatial></tendon>
<equality><joint joint1="hinge" joint2="slide" solref="0.3 1"/></equality>
<actuator><motor joint="hinge"/><motor joint="socket" gear="0 1 0"/><general joint="slide" gainprm="0"/>
  <general joint="slide" dyntype="filter" dynprm="0.1" biastype="affine"/></actuator>
</mujoco>"""
"""A model in which what parameters are for is off: no springs, dampers, losses, limits, fluid, compensation."""


def put_on(mjm, name, rng):
    """Numbers of a parameter, none of them 0 where it may be anything; numbers of a file that are not 0 are scaled."""
    own = mujoco_numbers(mjm, name)
    numbers = np.where(own == 0, rng.uniform(0.1, 0.4, own.shape), own * rng.uniform(1.05, 1.2, own.shape))
    if PARAMETERS[name].turns:
        numbers = own + 0.1 * (np.arange(len(own)) > 0)[:, None] * np.array([0.0, 1.0, 0.5, -0.3])
        return numbers / np.linalg.norm(numbers, axis=-1, keepdims=True)
    if PARAMETERS[name].ordered or name == "tendon_lengthspring":
        numbers = np.sort(rng.uniform(-0.1, 0.4, own.shape), -1)
    if name.startswith("body_"):
        numbers[0] = own[0]
    if name == "qpos0":
        free = np.isin(np.arange(mjm.nq), [mjm.joint(j).qposadr[0] for j in ("hinge", "slide")])
        numbers = np.where(free, numbers, own)
    return own if name == "qpos_spring" else numbers


def test_a_parameter_that_the_file_leaves_off_acts_or_is_refused_by_name():
    """An environment for each: the motion is MuJoCo's with these numbers, or the error says what the file needs."""
    model, rng = Model.from_mjcf(OFF, **SETTINGS), np.random.default_rng(0)
    names = sorted(PARAMETERS)
    solver, own, refused = RigidSolver(model, len(names), lanes=LANES), {}, set()
    qvel = rng.normal(0, 0.5, (len(names), model.mj.nv))
    ctrl = rng.uniform(-1, 1, (len(names), model.mj.nu))
    for env, name in enumerate(names):
        numbers = put_on(model.mj, name, rng) if mujoco_numbers(model.mj, name).size else np.float64(0.3)
        try:
            solver.set_parameters(name, numbers, [env])
        except ValueError as refusal:
            assert re.match(f"{name}.*in the file", str(refusal)), refusal
            refused.add(name)
        else:
            assert name not in NUMBERS, "those of mechanisms that the model does not have"
            own[env] = own_model(model, name, numbers)
    solver.set_state(qvel=qvel)
    solver.ctrl = ctrl
    solver.step(20)
    felt = set()
    for env, mjm in own.items():
        ends = []
        for each in (mjm, model.mj):
            data = mujoco.MjData(each)
            data.qpos[:], data.qvel[:], data.ctrl[:] = model.mj.qpos0, qvel[env], ctrl[env]
            mujoco.mj_step(each, data, 20)
            ends.append(np.array(data.qpos))
        assert np.abs(solver.qpos[env].numpy() - ends[0]).max() < MOVED_APART, names[env]
        felt |= {names[env]} if np.abs(ends[1] - ends[0]).max() > 10 * MOVED_APART else set()
    assert {"body_gravcomp", "jnt_stiffness", "dof_damping", "geom_surfacevel", "actuator_biasprm"} <= felt
    assert {"dof_frictionloss", "density", "geom_adhesion", "drag_area", "tendon_stiffness"} <= refused


def test_readings_at_sites_of_environments_with_other_bodies():
    """The frames of sites stay the model's; those of centres of mass, which no sensor reads, differ."""
    xml = """<mujoco><worldbody><body pos="0 0 1"><joint/><geom size="0.1"/><site name="tip" pos="0.3 0 0"/></body>
    </worldbody><sensor><framepos objtype="site" objname="tip"/><force site="tip"/></sensor></mujoco>"""
    model = Model.from_mjcf(xml, **SETTINGS)
    solver = RigidSolver(model, 3, lanes=LANES)
    moved = np.array([[[0.0, 0, 0], [x, 0, 0]] for x in (0.0, 0.1, 0.2)])
    solver.set_parameters("body_ipos", moved)
    solver.set_state(qpos=np.full((3, 1), 0.4))
    solver.forward()
    for env, numbers in enumerate(moved):
        mjm = own_model(model, "body_ipos", numbers)
        data = mujoco.MjData(mjm)
        data.qpos[:] = 0.4
        mujoco.mj_forward(mjm, data)
        np.testing.assert_allclose(solver.get("sensordata")[env].numpy(), data.sensordata, rtol=0, atol=1e-12)
