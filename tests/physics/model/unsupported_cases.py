"""One small model for every feature that Tumble refuses, with the element that the refusal must name.

Each case is MJCF with a mark ``@@`` in front of the element at fault; the mark gives the line that the message must
name and is taken out before the model is compiled.
"""

from collections.abc import Callable
from dataclasses import dataclass

import mujoco


@dataclass(frozen=True)
class Case:
    """A model, and the feature, kind, name and line that the refusal must name."""

    feature: str
    kind: str
    name: str
    xml: str

    @property
    def line(self) -> int:
        """Line of the marked element, from 1."""
        return self.xml[: self.xml.index("@@")].count("\n") + 1

    @property
    def mjcf(self) -> str:
        """The model without its mark."""
        return self.xml.replace("@@", "")


def _arm(joint: str = "", body: str = "", tail: str = "", option: str = "", geom: str = "") -> str:
    return f"""<mujoco>
  {option}
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="arm" pos="0 0 1" {body}>
      <joint name="hinge" axis="0 1 0" {joint}/>
      <geom name="link" type="capsule" size=".1 .3" {geom}/>
      <site name="tip" pos="0 0 .3"/>
      <body name="hand" pos="0 0 .6">
        <joint name="wrist" axis="1 0 0"/>
        <geom name="palm" type="sphere" size=".1"/>
        <site name="nail"/>
      </body>
    </body>
    <body name="ball" pos="1 0 1">
      <joint name="socket" type="ball"/>
      <geom name="bob" type="sphere" size=".1" pos="0 0 -.3"/>
    </body>
  </worldbody>
  {tail}
</mujoco>"""


def _geom(feature: str, attributes: str) -> Case:
    return Case(feature, "geom", "link", _arm(geom=attributes).replace('<geom name="link"', '@@<geom name="link"'))


def _tail(feature: str, kind: str, name: str, tail: str, **more: str) -> Case:
    return Case(feature, kind, name, _arm(tail=tail, **more))


def _actuator(feature: str, element: str, **more: str) -> Case:
    return _tail(feature, "actuator", "drive", f"<actuator>\n@@{element}</actuator>", **more)


def _general(feature: str, attributes: str) -> Case:
    return _actuator(feature, f'<general name="drive" joint="hinge" {attributes}/>')


def _equality(feature: str, element: str, **more: str) -> Case:
    return _tail(feature, "equality", "tie", f"<equality>\n@@{element}</equality>", **more)


def _option(feature: str, attribute: str, element: str) -> Case:
    return Case(feature, "option", attribute, _arm(option=f"@@{element}"))


_WELD = '<weld name="tie" body1="hand" body2="ball"/>'

CASES = [
    _option("integrator 'discrete'", "integrator", '<option integrator="discrete"/>'),
    _option("flag override='enable'", "override", '<option><flag override="enable"/></option>'),
    Case(
        "sleep of trees that tendons tie",
        "option",
        "sleep",
        _arm(
            option='@@<option><flag sleep="enable"/></option>',
            tail='<tendon><fixed><joint joint="hinge" coef="1"/><joint joint="wrist" coef="1"/></fixed>'
            '<spatial><site site="tip"/><site site="far"/></spatial></tendon>',
        ).replace('<geom name="bob"', '<site name="far"/><geom name="bob"'),
    ),
    Case(
        "sleep of trees that actuators tie",
        "option",
        "sleep",
        _arm(
            option='@@<option><flag sleep="enable"/></option>',
            tail='<actuator><motor site="tip" refsite="far" gear="1 0 0 0 0 0"/></actuator>',
        ).replace('<geom name="bob"', '<site name="far"/><geom name="bob"'),
    ),
    _option("sleep without islands", "island", '<option><flag sleep="enable" island="disable"/></option>'),
    _option("flag diagexact='enable'", "diagexact", '<option><flag diagexact="enable"/></option>'),
    _option("flag ipc='enable'", "ipc", '<option integrator="discrete"><flag ipc="enable"/></option>'),
    _option("flag speculative='enable'", "speculative", '<option><flag speculative="enable"/></option>'),
    Case(
        "plugin",
        "geom",
        "ring",
        """<mujoco><extension><plugin plugin="mujoco.sdf.torus"><instance name="torus"/></plugin></extension>
  <asset><mesh name="torus"><plugin instance="torus"/></mesh></asset>
  <worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1"><freejoint/>
    @@<geom name="ring" type="sdf" mesh="torus"><plugin instance="torus"/></geom>
  </body></worldbody></mujoco>""",
    ),
    Case(
        "plugin",
        "actuator",
        "drive",
        _arm(
            option='<extension><plugin plugin="mujoco.pid"><instance name="pid"/></plugin></extension>',
            tail='<actuator>\n@@<plugin name="drive" joint="hinge" plugin="mujoco.pid" instance="pid"/></actuator>',
        ),
    ),
    _general("activation dynamics 'user'", 'dyntype="user"'),
    _general("gain 'user'", 'gaintype="user"'),
    _general("bias 'user'", 'biastype="user"'),
    _general("DC motor in part", 'gaintype="dcmotor" gainprm="1 1" dynprm="0"'),
    _general("DC motor in part", 'biastype="dcmotor" dynprm="0"'),
    _general("DC motor in part", 'dyntype="dcmotor" dynprm="0" actearly="true"'),
    _actuator(
        "PID controller, DC motor or orientation in a disabled group",
        '<pid name="drive" joint="hinge" group="3" kp="1" ki="1"/>',
        option='<option actuatorgroupdisable="3"/>',
    ),
    Case(
        "second pair of the same geoms with another reach",
        "pair",
        "touch",
        """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body pos="0 0 1"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body></worldbody>
  <contact><pair geom1="floor" geom2="box"/>
  @@<pair name="touch" geom1="box" geom2="floor" margin="0.1"/></contact></mujoco>""",
    ),
    Case(
        "deformable body",
        "flex",
        "cloth",
        """<mujoco><worldbody>
  @@<flexcomp name="cloth" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" radius=".01" mass="1">
  <edge damping="1"/></flexcomp></worldbody></mujoco>""",
    ),
]


def _write(field: str, value: object) -> Callable[[mujoco.MjModel], None]:
    def patch(mjm: mujoco.MjModel) -> None:
        getattr(mjm, field)[:] = value

    return patch


# What no MJCF without further plugins or flexes can ask for: a compiled model in which one field is overwritten.
PATCHED = [
    ("plugin with passive forces", "body", _arm(), _write("body_plugin", 0)),
    *(
        (f"equality constraint '{name}'", "equality", _equality("", _WELD).mjcf, _write("eq_type", int(kind)))
        for name, kind in (
            ("flex", mujoco.mjtEq.mjEQ_FLEX),
            ("flexvert", mujoco.mjtEq.mjEQ_FLEXVERT),
            ("flexstrain", mujoco.mjtEq.mjEQ_FLEXSTRAIN),
            ("distance", mujoco.mjtEq.mjEQ_DISTANCE),
        )
    ),
]
