"""Numbers that mean nothing are refused when a model is loaded: every floating-point field of MuJoCo's is tried."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.model.element_locations import Places
from tumble.physics.model.loading.sanity import ModelLoadError, reject_impossible
from tumble.physics.model.number_rules import LEFT, LIMITED, RULES, page, row
from tumble.physics.model.parameters import PARAMETERS, checked
from tumble.physics.model.parts import NUMBERS

from ...cases import cases

FULL = """<mujoco>
<compiler angle="radian"/>
<option magnetic="0 1 0"/>
<size nuser_body="1" nuser_jnt="1" nuser_geom="1" nuser_site="1" nuser_cam="1" nuser_tendon="1" nuser_actuator="1"
 nuser_sensor="1"/>
<asset>
  <mesh name="tetra" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/>
  <texture name="t" type="2d" builtin="flat" width="4" height="4"/><material name="m" texture="t"/>
  <hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/>
</asset>
<worldbody>
  <light name="lamp"/>
  <camera name="eye" focal="0.1 0.1" sensorsize="0.02 0.02" resolution="4 4"/>
  <body name="trunk" pos="0 0 1"><freejoint name="root"/><geom name="g" size="0.1" material="m"/><site name="s"/>
    <body name="leg"><joint name="hip" range="-1 1" limited="true"/><geom type="mesh" mesh="tetra" name="foot"/>
      <site name="s2" pos="0 0 1"/></body></body>
  <body name="hand" mocap="true"><geom size="0.1"/></body>
</worldbody>
<contact><pair name="p" geom1="g" geom2="foot"/></contact>
<equality><joint name="e" joint1="hip"/></equality>
<tendon><fixed name="t"><joint joint="hip" coef="1"/></fixed>
  <spatial name="path"><site site="s"/><site site="s2"/></spatial></tendon>
<actuator>
  <general name="u" joint="hip" dyntype="filter" ctrlrange="-1 1" ctrllimited="true" actrange="-1 1" actlimited="true"
   forcerange="-1 1" forcelimited="true"/>
</actuator>
<sensor><jointpos name="angle" joint="hip"/></sensor>
<custom><numeric name="n" data="1"/><tuple name="x"><element objtype="body" objname="leg" prm="1"/></tuple></custom>
<keyframe><key name="k"/></keyframe>
</mujoco>"""
TRIED = (np.nan, np.inf, -np.inf, -1.0, 0.0, 1.0)


@pytest.fixture(scope="module")
def full():
    return mujoco.MjModel.from_xml_string(FULL)


def fields_of(struct, prefix: str) -> dict[str, np.ndarray]:
    """Names of all fields of a structure of MuJoCo's that are floating-point numbers, and their numbers."""
    found = {}
    for name in dir(struct):
        value = None if name.startswith("_") else getattr(struct, name)
        if isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
            found[prefix + name] = np.array(value)
        elif type(value).__module__.startswith("mujoco") and not callable(value) and not hasattr(value, "__members__"):
            found |= fields_of(value, f"{prefix}{name}.")
    return found


def every_field(mjm: mujoco.MjModel) -> dict[str, np.ndarray]:
    return fields_of(mjm, "")


def put(mjm: mujoco.MjModel, field: str, number: float, place: int) -> None:
    """Write a number into a field of the model, or of what it consists of."""
    *parents, name = field.split(".")
    owner = mjm
    for parent in parents:
        owner = getattr(owner, parent)
    value = getattr(owner, name)
    if isinstance(value, np.ndarray):
        value.flat[place] = number
    else:
        setattr(owner, name, type(value)(number))


def refusal(mjm: mujoco.MjModel) -> str:
    """What is said about a model; nothing if it is taken."""
    try:
        reject_impossible(mjm, None, Places("a model"))
    except ModelLoadError as error:
        return str(error)
    return ""


def test_every_floating_point_field_has_one_row(full):
    """Of MuJoCo's model, its options, statistics and visual settings; each row is of a field, and has a reason."""
    fields = every_field(full)
    assert len(fields) > 200
    for field in fields:
        row(field)
    counted = {"opt.iterations", "opt.ls_iterations", "opt.noslip_iterations", "opt.ccd_iterations"}
    assert RULES.keys() - fields.keys() == counted | {"opt.sdf_iterations", "opt.sdf_initpoints"}
    assert all(found.reason for found in RULES.values()) and all(LEFT.values())


def test_every_field_with_every_kind_of_number(full):
    """What a row does not allow is refused with its field, value and what is allowed; what it allows is taken."""
    fields = every_field(full) | {name: np.zeros(()) for name in RULES if name.endswith(("iterations", "initpoints"))}
    refused = set()
    for field, before in fields.items():
        rule = row(field)
        if isinstance(rule, str):
            continue
        assert before.size or field in ("key_plastic",), field
        whole = field.endswith(("iterations", "initpoints"))
        for number in (-1.0, 0.0, 1.0) if whole else TRIED:
            for place in {0, before.size - 1} if before.size else ():
                mjm = mujoco.MjModel.from_xml_string(FULL) if whole else full
                put(mjm, field, number, place)
                said = refusal(mjm)
                if not whole:
                    put(mjm, field, float(before.flat[place]), place)
                if rule.allowed.fits(np.float64(number)):
                    assert not said or "begins where no number is" in said, (field, number, said)
                    continue
                name = field.rpartition(".")[2]
                assert name in said or name.partition("_")[2] in said, (field, said)
                assert f"{number:g}" in said and rule.allowed.words in said and said.startswith("a model: "), said
                refused.add(field)
    assert refused == {field for field in fields if field in RULES and fields[field].size}
    assert refusal(full) == ""


def test_ranges_in_the_wrong_order(full):
    for field, limited in LIMITED.items():
        ranges, holds = getattr(full, field), getattr(full, limited)
        before, held = ranges.copy(), holds.copy()
        holds[:] = 1
        for wrong in ((1.0, -1.0), (np.inf, np.inf), (-np.inf, -np.inf)):
            ranges.reshape(-1, 2)[-1] = wrong
            assert "begins where no number is, or above its end" in refusal(full), (field, wrong)
        ranges.reshape(-1, 2)[-1] = (-np.inf, np.inf)
        assert refusal(full) == "", field
        ranges[...], holds[...] = before, held


XML = """<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <body name="b">
      <joint name="j"/>
      <geom name="g" size=".1"/>
    </body>
  </worldbody>
  <actuator>
    <position name="servo" joint="j" kp="5"/>
  </actuator>
  <tendon>
    <fixed name="cord"><joint joint="j" coef="1"/></fixed>
  </tendon>
  <equality>
    <joint name="eq" joint1="j"/>
  </equality>
  <keyframe>
    <key name="home" qpos="0"/>
  </keyframe>
</mujoco>"""
JOINT, GEOM, SERVO, CORD = 'name="j"', 'name="g"', 'kp="5"', '<fixed name="cord"'
MISTAKES = {
    **{f'timestep="{x}"': ('timestep="0.002"', f"line 2: option timestep {x} is not") for x in ("0", "-1", "nan")},
    **{f'gravity="0 0 {x}"': ('timestep="0.002"', f"line 2: option gravity {x} is not finite") for x in ("nan", "inf")},
    'viscosity="-1"': ('timestep="0.002"', "line 2: option viscosity -1 is negative; it must be a finite number of"),
    'density="nan"': ('timestep="0.002"', "line 2: option density nan is not finite"),
    'impratio="0"': (
        'timestep="0.002"',
        "line 2: option impratio 0 is not above 0; it must be a finite number above 0",
    ),
    'tolerance="-1"': ('timestep="0.002"', "line 2: option tolerance -1 is negative"),
    'iterations="-3"': ('timestep="0.002"', "line 2: option iterations -3 is negative"),
    'name="j" frictionloss="-1"': (JOINT, "line 5: joint 'j': frictionloss -1 is negative; it must be a finite number"),
    'name="j" damping="-5"': (JOINT, "line 5: joint 'j': damping -5 is negative"),
    'name="j" stiffness="nan"': (JOINT, "line 5: joint 'j': stiffness nan is not finite"),
    'name="j" solreflimit="nan 1"': (JOINT, "line 5: joint 'j': solref nan is not finite"),
    'name="j" margin="inf"': (JOINT, "line 5: joint 'j': margin inf is not finite"),
    'name="j" ref="nan"': (JOINT, "line 5: joint 'j': qpos0 nan is not finite"),
    'name="g" friction="-1"': (GEOM, "line 6: geom 'g': friction -1 is negative"),
    'name="g" friction="nan"': (GEOM, "line 6: geom 'g': friction nan is not finite"),
    'name="g" solref="nan 1"': (GEOM, "line 6: geom 'g': solref nan is not finite"),
    'name="g" solimp="nan"': (GEOM, "line 6: geom 'g': solimp nan is not finite"),
    'name="g" margin="nan"': (GEOM, "line 6: geom 'g': margin nan is not finite"),
    'kp="5" gear="nan"': (SERVO, "line 10: actuator 'servo': actuator_gear nan is not finite"),
    'kp="nan"': (SERVO, "line 10: actuator 'servo': gainprm nan is not finite"),
    'kp="5" ctrllimited="true" ctrlrange="nan 1"': (SERVO, "line 10"),
    '<fixed name="cord" stiffness="nan"': (CORD, "line 13: tendon 'cord': stiffness nan is not finite"),
    '<fixed name="cord" frictionloss="-2"': (CORD, "line 13: tendon 'cord': frictionloss -2 is negative"),
    'joint1="j" polycoef="nan 1 0 0 0"': ('joint1="j"', "line 16: equality 'eq': data nan is not finite"),
    'name="home" qpos="nan"': ('name="home" qpos="0"', "line 19: key 'home': qpos nan is not finite"),
    'name="home" time="inf"': ('name="home" qpos="0"', "line 19: key 'home': time inf is not finite"),
}


@cases("change", MISTAKES)
def test_a_mistake_in_a_file_is_named_with_its_line(change, tmp_path):
    old, expected = MISTAKES[change]
    file = tmp_path / "odd.xml"
    assert XML.count(old) == 1
    file.write_text(XML.replace(old, change))
    with pytest.raises(ModelLoadError) as caught:
        Model.from_mjcf(file)
    assert str(caught.value).startswith(str(file)) and expected in str(caught.value), caught.value
    assert "\n" not in str(caught.value)


@cases(
    "name, value, message",
    [
        ("timestep", -1, "option timestep: -1 is not above 0; it must be a finite number above 0"),
        ("timestep", float("nan"), "option timestep: nan is not a finite number"),
        ("timestep", True, "option timestep: True is not a number"),
        ("timestep", 1 + 0j, "is not a number"),
        ("ccd_tolerance", -1e-6, "option ccd_tolerance: -1e-06 is negative"),
        ("sleep_tolerance", -1, "option sleep_tolerance: -1 is negative"),
        ("noslip_tolerance", -1, "option noslip_tolerance: -1 is negative"),
        ("ccd_iterations", -1, "option ccd_iterations: -1 is negative"),
        ("iterations", 1e300, "is more than 2,147,483,647"),
        ("iterations", 1.5, "option iterations: 1.5 is not an integer"),
        ("gravity", [0, 0, 1j], "option gravity: .* is not 3 numbers"),
        ("gravity", [0, 0, None], "option gravity: .* is not 3 numbers"),
        ("gravity", [0, 0, np.inf], "option gravity: .* is not 3 finite numbers"),
        ("cone", 1.5, "option cone=1.5: expected a whole number"),
        ("solver", None, "option solver=None: expected a whole number"),
        ("disableflags", 1.5, "option disableflags=1.5: expected a whole number"),
        ("disableflags", -1, "option disableflags: -1 has bits that are no flags"),
    ],
)
def test_options_by_keyword(name, value, message):
    with pytest.raises(ValueError, match=message):
        Model.from_mjcf(XML, **{name: value})


def test_numbers_of_environments_own_follow_the_same_rows(full):
    """A row that refuses a number in a file refuses it there too."""
    index, tried = np.arange(2), 0
    for name in PARAMETERS.keys() - NUMBERS.keys():  # the mechanisms' own have tests of their own
        rule = RULES.get(name) or RULES[f"opt.{name}"]
        size = np.size(getattr(full.opt if f"opt.{name}" in RULES else full, name))
        for number in (np.nan, np.inf, -1.0) if size else ():
            if rule.allowed.fits(np.float64(number)):
                continue
            tried += 1
            with pytest.raises(ValueError, match=f"{name}.* of environment 0 is {number:g}: it must"):
                checked(full, name, np.float64(number), index)
    assert tried > 80
    unbounded = checked(full, "jnt_range", np.array([-np.inf, np.inf]), index)
    assert np.isinf(unbounded).all()


PENDULUM = """<mujoco><worldbody><body><joint axis="0 1 0" {range} damping=".1"/>
  <geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/></body></worldbody>
  <actuator><motor joint="{joint}" {ctrl}/></actuator></mujoco>"""


@pytest.mark.parametrize("bounds", ["-inf inf", "-1e300 1e300", "-0.3 inf"])
def test_infinite_bounds_are_no_limit(bounds):
    """As in MuJoCo: a joint that is limited on one side, or on none, and a control that is limited to all numbers."""
    tumble.init(precision="64")
    xml = PENDULUM.replace("{joint}", "j").replace("<joint ", '<joint name="j" ')
    xml = xml.format(range=f'range="{bounds}" limited="true"', ctrl=f'ctrlrange="{bounds}" ctrllimited="true"')
    model = Model.from_mjcf(xml.replace("<mujoco>", '<mujoco><compiler angle="radian"/>'))
    solver, data = RigidSolver(model, 2), mujoco.MjData(model.mj)
    solver.ctrl = [[0.2], [0.2]]
    data.ctrl[:] = 0.2
    solver.step(100)
    mujoco.mj_step(model.mj, data, 100)
    np.testing.assert_allclose(solver.qpos[0], data.qpos, rtol=1e-9)
    tumble.init(precision="32")


def test_the_page_is_the_table():
    path = Path(__file__).parents[3] / "docs" / "reference" / "numbers.md"
    assert path.read_text() == page()
