"""Models that MuJoCo compiles, or chokes on, and nobody can simulate: one typed error that names the place."""

import os
import time

import mujoco
import numpy as np
import pytest

from tumble.physics import Model
from tumble.physics.files.mjmodel.pairs import possible_pairs
from tumble.physics.model.element_locations import Places
from tumble.physics.model.loading.loading import ModelLoadError, check_supported, load_mjcf
from tumble.physics.model.loading.sanity import least_pairs, reject_impossible

BODY = """<mujoco>
  <worldbody>
    <body name="b">
      <joint name="j"/>
      <geom name="g" size=".1"/>
    </body>
  </worldbody>
</mujoco>"""
IMPOSSIBLE = {
    'size="inf"': ('size=".1"', "line 5: geom 'g': size inf is not finite"),
    'size=".1" mass="1" pos="nan 0 0"': ('size=".1"', "line 5: geom 'g': pos nan is not finite"),
    'name="j" armature="-5"': ('name="j"', "line 4: joint 'j': armature -5 is negative"),
    'name="j" armature="inf"': ('name="j"', "line 4: joint 'j': armature inf is not finite"),
    'name="b" pos="inf 0 0"': ('name="b"', "line 3: body 'b': pos inf is not finite"),
}


@pytest.mark.parametrize("change", IMPOSSIBLE)
def test_numbers_that_no_mechanism_has(change, tmp_path):
    old, expected = IMPOSSIBLE[change]
    file = tmp_path / "odd.xml"
    file.write_text(BODY.replace(old, change))
    with pytest.raises(ModelLoadError, match=f"{file}, {expected}"):
        Model.from_mjcf(file)


def test_a_compiled_model_with_a_negative_mass():
    mjm = mujoco.MjModel.from_xml_string(BODY)
    mjm.body_mass[1] = -1.0
    with pytest.raises(ModelLoadError, match="body 'b': mass -1 is negative"):
        Model.from_mjmodel(mjm)


@pytest.mark.parametrize("tag", ['<include file="/dev/zero"/>', '<asset><mesh name="m" file="/dev/zero"/></asset>'])
def test_a_device_is_no_file(tag, tmp_path):
    """It was read until memory was full."""
    file = tmp_path / "device.xml"
    file.write_text(f"<mujoco>\n{tag}<worldbody/></mujoco>")
    with pytest.raises(ModelLoadError, match=f"{file}, line 2: /dev/zero is a device or a pipe"):
        Model.from_mjcf(file)
    with pytest.raises(ModelLoadError, match="/dev/zero: this is a device or a pipe"):
        Model.from_mjcf("/dev/zero")


def test_a_pipe_is_no_file(tmp_path):
    """Nobody may ever write to it."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelLoadError, match="pipe: this is a device or a pipe"):
        Model.from_mjcf(tmp_path / "pipe")


@pytest.mark.parametrize("error", [mujoco.FatalError, mujoco.UnexpectedError, MemoryError, RuntimeError])
def test_whatever_mujoco_raises_is_typed(error, monkeypatch, tmp_path):
    file = tmp_path / "model.xml"
    file.write_text(BODY)

    def fail(*_):
        raise error("engine error:\n no memory")

    for place in ("from_file", "compile"):
        with monkeypatch.context() as patched:
            patched.setattr(mujoco.MjSpec, place, fail)
            with pytest.raises(ModelLoadError, match=f"{file}: engine error:, no memory"):
                Model.from_mjcf(file)
    monkeypatch.setattr(mujoco, "MjData", fail)
    with pytest.raises(ModelLoadError, match=f"{file}: engine error:, no memory"):
        Model.from_mjcf(file)


def test_what_was_dropped_is_noted():
    xml = BODY.replace("<worldbody>", '<option><flag override="enable"/></option><worldbody>').replace(
        "</worldbody>", '</worldbody><actuator>\n<general name="u" joint="j" gaintype="user"/></actuator>'
    )
    with pytest.warns(UserWarning, match="dropped"):
        model = Model.from_mjcf(xml, strict=False)
    noted = [note for note in model.notes if note.startswith("dropped: ")]
    assert [n.split("'")[1] for n in noted] == ["override", "u"] and "gain 'user'" in noted[1]
    assert f"line {1 + xml[: xml.index('<general')].count(chr(10))}" in noted[1]


def crowd(count, geom="", outer=""):
    """Geoms of one tree of bodies each."""
    bodies = "".join(f'<body pos="{i} 0 0"><joint/><geom size=".1" {geom}/></body>' for i in range(count))
    return f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{bodies}</worldbody>{outer}</mujoco>'


@pytest.mark.parametrize("moving", [pytest.param("world", marks=pytest.mark.slow), "body"])
def test_too_many_geoms_are_refused_within_a_second(moving, tmp_path):
    """A table of their pairs would have 5e8 entries."""
    geoms = '<geom size=".1"/>' * 22_000
    many = geoms if moving == "world" else f"<body><freejoint/>{geoms}</body>"
    others = '<body><freejoint/><geom size="1"/></body>' * 10
    mjm = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{many}{others}</worldbody></mujoco>")
    start = time.monotonic()
    with pytest.raises(
        ModelLoadError, match=r"too large a model: 22,010 of its geoms can collide, and 22,000 are the most"
    ):
        Model.from_mjmodel(mjm)
    assert time.monotonic() - start < 5  # on a busy machine


def test_more_pairs_than_a_step_can_look_at():
    """Three thousand bodies of which each may touch each."""
    with pytest.raises(
        ModelLoadError, match=r"among its 3,001 geoms 4,(49|50)[0-9],[0-9]{3} pairs or more can touch, and 4,194,303"
    ):
        Model.from_mjcf(crowd(3000))


def test_geoms_that_only_look_are_not_counted():
    """Three thousand of them, and no table of all pairs."""
    mjm = mujoco.MjModel.from_xml_string(crowd(3000, 'contype="0" conaffinity="0"'))
    assert len(possible_pairs(mjm)) == 0
    reject_impossible(mjm, None, Places("crowd"))


@pytest.mark.parametrize("geom", ["", 'contype="2" conaffinity="1"', 'contype="2" conaffinity="0"'])
def test_pairs_are_counted_without_a_list(geom, monkeypatch):
    """Never more than there are; exactly as many where no geom lies still on the world's side of a joint."""
    monkeypatch.setattr("tumble.physics.model.loading.sanity.MOST_PAIRS", -1)
    outer = '<contact><exclude body1="x" body2="y"/></contact>'
    for xml in (
        crowd(20, geom),
        crowd(6, geom).replace("</worldbody>", '<body name="x"><joint/><geom size="1"/><body name="y"><joint/>'
        '<geom size="1"/><geom size="1"/></body></body></worldbody>' + outer),
    ):  # fmt: skip
        mjm = mujoco.MjModel.from_xml_string(xml)
        count, there_are = least_pairs(mjm), len(possible_pairs(mjm))
        assert there_are - 4 <= count <= there_are


def test_models_of_usual_size_are_not_refused():
    loaded, _ = check_supported(load_mjcf(crowd(100)))
    assert least_pairs(loaded.mjm) == len(possible_pairs(loaded.mjm)) == 100 + 99 * 50
    assert np.isfinite(Model.from_mjcf(BODY).values["condition"]).all()
