"""Everything that Tumble cannot simulate is refused at load, by name and place; nothing is ignored by oversight."""

import mujoco
import numpy as np
import pytest
from mujoco.introspect import enums, structs

from tumble.physics.model.loading.loading import ModelLoadError, check_supported, load_mjcf, load_mjmodel, load_mjspec
from tumble.physics.model.rules import RULES
from tumble.physics.model.support import UnsupportedModelError, check_support
from tumble.physics.model.tables.mujoco_fields import DISABLE_FLAGS, ENABLE_FLAGS, MODEL, OPTION, role

from ...cases import cases
from .unsupported_cases import CASES, PATCHED


def _id(case) -> str:
    return f"{case.kind}-{case.feature}".replace(" ", "_").replace("'", "")


@cases("case", CASES, label=_id)
def test_each_unsupported_feature_is_refused_by_name_and_place(case, tmp_path):
    file = tmp_path / "robot.xml"
    file.write_text(case.mjcf)
    with pytest.raises(UnsupportedModelError) as caught:
        check_supported(load_mjcf(file))
    found = [f for f in caught.value.findings if (f.feature, f.kind, f.name) == (case.feature, case.kind, case.name)]
    assert len(found) == 1, [str(f) for f in caught.value.findings]
    assert f"{file}, line {case.line}" in found[0].place
    message = str(caught.value)
    assert all(part in message for part in (str(file), f"'{case.name}'", case.feature, f"line {case.line}"))


@cases("case", CASES, label=_id)
def test_strict_false_drops_what_is_refused_and_warns(case):
    with pytest.warns(UserWarning) as caught:
        loaded, support = check_supported(load_mjcf(case.mjcf), strict=False)
    assert any(case.feature in str(w.message) and f"'{case.name}'" in str(w.message) for w in caught)
    again = check_support(loaded.mjm, loaded.spec)
    assert [f for f in again.unsupported if f.kind != "contact"] == []
    # what is left are pairs without a narrow phase, which make no contact in Tumble
    assert {f.feature for f in again.unsupported} <= {f.feature for f in support.unsupported}


@pytest.mark.parametrize("feature, kind, xml, patch", PATCHED, ids=[p[0].replace(" ", "_") for p in PATCHED])
def test_features_that_only_a_compiled_model_can_have_are_refused(feature, kind, xml, patch):
    mjm = mujoco.MjModel.from_xml_string(xml)
    patch(mjm)
    with pytest.raises(UnsupportedModelError) as caught:
        check_supported(load_mjmodel(mjm))
    assert (feature, kind) in {(f.feature, f.kind) for f in caught.value.findings}


def test_every_rule_has_a_case():
    covered = {(c.kind, c.feature) for c in CASES} | {(kind, feature) for feature, kind, *_ in PATCHED}
    assert {(r.kind, r.feature) for r in RULES} - covered == set()


def test_every_field_of_mujoco_is_classified():
    model = {f.name for f in structs.STRUCTS["mjModel"].fields}
    assert [f for f in sorted(model) if role(MODEL, f) is None] == []
    assert {f for f in MODEL if "*" not in f} - model == set()
    option = {f.name for f in structs.STRUCTS["mjOption"].fields}
    assert [f for f in sorted(option) if role(OPTION, f) is None] == []
    assert {f for f in OPTION if "*" not in f} - option == set()


@pytest.mark.parametrize("table, enum, prefix", [(DISABLE_FLAGS, "mjtDisableBit", "mjDSBL_"),
                                                 (ENABLE_FLAGS, "mjtEnableBit", "mjENBL_")])  # fmt: skip
def test_every_flag_of_mujoco_is_classified(table, enum, prefix):
    members = enums.ENUMS[enum].values
    assert set(table) == {m.removeprefix(prefix).lower() for m in members if m.startswith(prefix)}


def test_everything_is_listed_at_once():
    xml = """<mujoco>
  <option density="2" integrator="discrete"/><asset><mesh name="m" builtin="supertorus" params="12 .3 1 1"/></asset>
  <worldbody>
    <geom name="floor" type="sdf" mesh="m"/>
    <body name="a">
      <joint name="j"/>
      <geom name="one" size=".1"/>
      <geom type="box" size=".1 .1 .1" pos="0 0 .5"/>
    </body>
    <body name="b" pos="2 0 0"><freejoint/><geom name="egg" type="ellipsoid" size=".1 .2 .3"/></body>
  </worldbody>
  <actuator>
    <general name="u" joint="j" gaintype="user" biastype="user"/>
  </actuator>
</mujoco>"""
    with pytest.raises(UnsupportedModelError) as caught:
        check_supported(load_mjcf(xml))
    lines = str(caught.value).splitlines()
    assert [line.strip() for line in lines[1:-1]] == [
        "option:",
        "'integrator' (XML string, line 2): integrator 'discrete'",
        "actuator:",
        "'u' (XML string, line 13): gain 'user'; bias 'user'",
    ]
    assert "strict=False" in lines[-1]


def test_an_element_of_an_included_file_is_placed_there(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(
        '<mujoco>\n<option>\n<flag override="enable"/></option>\n<worldbody><body><joint name="j"/><geom size=".1"/>'
        '</body></worldbody><actuator>\n<general name="u" joint="j" gaintype="user"/></actuator></mujoco>'
    )
    main = tmp_path / "main.xml"
    main.write_text('<mujoco>\n<include file="parts/arm.xml"/>\n</mujoco>')
    with pytest.raises(UnsupportedModelError) as caught:
        check_supported(load_mjcf(main))
    places = {f.name: f.place for f in caught.value.findings}
    assert places == {"override": "arm.xml, line 3", "u": "arm.xml, line 5"}


QUIET = """<mujoco>
  <option><flag energy="enable"/></option>
  <asset><texture name="sky" type="skybox" builtin="flat" width="8" height="8"/></asset>
  <worldbody>
    <light name="lamp"/>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="a"><joint name="j"/><geom name="one" size=".1"/>
      <body name="b"><joint name="k"/><geom name="two" type="box" size=".1 .1 .1" contype="0" conaffinity="0"/></body>
    </body>
    <geom name="lonely" type="ellipsoid" size="1 1 1" contype="4" conaffinity="4"/>
  </worldbody>
  <tendon><fixed name="string"><joint joint="j" coef="1"/></fixed></tendon>
  <equality><tendon name="asleep" tendon1="string" active="false"/></equality>
  <sensor><jointpos name="angle" joint="j"/><user name="mine" dim="1"/></sensor>
  <keyframe><key name="home" qpos="0 0"/></keyframe>
  <custom><numeric name="n" data="1"/><text name="t" data="x"/></custom>
</mujoco>"""


def test_what_cannot_change_the_motion_is_unused_instead_of_refused():
    _, support = check_supported(load_mjcf(QUIET))
    assert support.unsupported == []
    named = {(f.kind, f.name) for f in support.unused}
    assert named == {
        ("sensor", "mine"), ("texture", "sky"), ("numeric", "n"), ("text", "t"),
        ("light", "lamp"), ("geom", "lonely"), ("option", "energy"),
    }  # fmt: skip


def test_pairs_that_can_never_collide_do_not_refuse_a_model():
    # parent and child, one body welded to another, masks, exclude
    xml = """<mujoco><worldbody>
      <body name="a"><freejoint/><geom type="box" size=".1 .1 .1"/>
        <body name="b"><joint/><geom type="cylinder" size=".1 .1"/></body>
        <body name="c"><geom type="ellipsoid" size=".1 .1 .1"/></body>
      </body>
      <body name="d" pos="1 0 0"><freejoint/><geom type="box" size=".1 .1 .1" contype="2" conaffinity="2"/></body>
      <body name="e" pos="2 0 0"><freejoint/><geom type="box" size=".1 .1 .1" contype="2" conaffinity="2"/></body>
    </worldbody><contact><exclude body1="d" body2="e"/></contact></mujoco>"""
    assert check_supported(load_mjcf(xml))[1].unsupported == []


def test_a_disabled_feature_is_unused():
    feature = "second pair of the same geoms with another reach"
    plain = next(c for c in CASES if c.feature == feature).mjcf
    assert feature in {f.feature for f in check_support(load_mjcf(plain).mjm).unsupported}
    disabled = plain.replace("<mujoco>", '<mujoco><option><flag contact="disable"/></option>')
    _, support = check_supported(load_mjcf(disabled))
    assert feature in {f.feature for f in support.unused}


def test_dropping_leaves_the_rest_of_the_model_as_it_was():
    xml = """<mujoco><option integrator="discrete" gravity="0 0 -3"/><worldbody><body>
      <joint name="j" stiffness="3 2" damping="2 1"/><geom size=".1"/></body>
      </worldbody><actuator><motor name="m" joint="j" gear="7"/><general name="x" joint="j" gaintype="user"/>
      </actuator></mujoco>"""
    with pytest.warns(UserWarning, match="gain 'user'"):
        loaded, _ = check_supported(load_mjcf(xml), strict=False)
    assert loaded.mjm.nu == 1 and loaded.mjm.actuator_gear[0, 0] == 7
    assert loaded.mjm.opt.integrator == int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    assert loaded.mjm.opt.gravity[2] == -3
    assert loaded.mjm.jnt_stiffness[0] == 3 and loaded.mjm.jnt_stiffnesspoly.any()


def test_a_compiled_model_cannot_be_stripped():
    mjm = mujoco.MjModel.from_xml_string(next(c for c in CASES if c.feature == "gain 'user'").mjcf)
    with pytest.raises(ValueError, match="strict=False needs"):
        check_supported(load_mjmodel(mjm), strict=False)


def test_loading_errors_name_the_file(tmp_path):
    with pytest.raises(ModelLoadError, match=r"nowhere\.xml: no such file"):
        load_mjcf(tmp_path / "nowhere.xml")
    with pytest.raises(ModelLoadError, match="folder"):
        load_mjcf(tmp_path)
    bad = tmp_path / "bad.xml"
    bad.write_text("<mujoco>\n<worldbody>\n<geom size='a'/></worldbody></mujoco>")
    with pytest.raises(ModelLoadError, match=r"bad\.xml.*size.*line 3"):
        load_mjcf(bad)
    bad.write_text("<mujoco><asset><mesh file='none.stl'/></asset><worldbody><geom size='1'/></worldbody></mujoco>")
    with pytest.raises(ModelLoadError, match=r"bad\.xml.*none\.stl"):
        load_mjcf(bad)
    bad.write_text("<robot name='r'><link name='l'/></robot>")
    with pytest.raises(ModelLoadError, match=r"bad\.xml.*URDF"):
        load_mjcf(bad)
    with pytest.raises(TypeError, match="path"):
        load_mjcf(3)


def test_options_override_the_file():
    xml = "<mujoco><option timestep='0.1'/><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    opt = load_mjcf(
        xml, timestep=0.01, integrator="rk4", gravity=(0, 0, -1), disableflags=["contact", "Gravity"], iterations=7
    ).mjm.opt
    assert (opt.timestep, opt.integrator, opt.iterations) == (0.01, int(mujoco.mjtIntegrator.mjINT_RK4), 7)
    assert opt.disableflags == int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    assert np.array_equal(opt.gravity, (0, 0, -1))
    assert load_mjcf(xml).mjm.opt.timestep == 0.1


def test_options_do_not_change_what_the_caller_owns():
    xml = "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    spec, mjm = mujoco.MjSpec.from_string(xml), mujoco.MjModel.from_xml_string(xml)
    assert load_mjspec(spec, timestep=0.5).mjm.opt.timestep == 0.5 and spec.option.timestep == 0.002
    assert load_mjmodel(mjm, timestep=0.5).mjm.opt.timestep == 0.5 and mjm.opt.timestep == 0.002


@cases(
    "options, message",
    [
        ({"timstep": 0.1}, "unknown option 'timstep'.*timestep"),
        ({"integrator": "eulr"}, "option integrator.*'eulr'.*euler"),
        ({"integrator": 77}, "option integrator"),
        ({"timestep": -1}, "option timestep"),
        ({"timestep": "fast"}, "option timestep"),
        ({"iterations": 1.5}, "option iterations"),
        ({"gravity": (0, 1)}, "option gravity"),
        ({"gravity": (0, 1, float("nan"))}, "option gravity"),
        ({"disableflags": ["contacts"]}, "no flag 'contacts'.*contact"),
    ],
)
def test_bad_options_are_refused_with_the_nearest_names(options, message):
    with pytest.raises(ValueError, match=message):
        load_mjcf("<mujoco/>", **options)
