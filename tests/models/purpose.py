"""The purpose-made models: one for each bullet of the engine's feature list, and what each must make happen.

`shows` names what must occur in at least a tenth of the states that are compared (`occurs` in parity.run says what
can be named); otherwise the model does not prove what it is for.
"""

from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent


SENSORS = (
    *("touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer", "rangefinder", "jointpos"),
    *("jointvel", "actuatorpos", "actuatorvel", "actuatorfrc", "jointactfrc", "ballquat", "ballangvel"),
    *("jointlimitpos", "jointlimitvel", "jointlimitfrc", "framepos", "framequat", "framexaxis", "frameyaxis"),
    *("framezaxis", "framelinvel", "frameangvel", "framelinacc", "frameangacc", "subtreecom", "subtreelinvel"),
    *("subtreeangmom", "insidesite", "geomdist", "geomnormal", "geomfromto", "contact", "e_potential", "e_kinetic"),
)
"""All types of sensors but the clock, which is at 0 in an evaluation without a step."""


@dataclass(frozen=True)
class Purpose:
    """One model: its file, what it must show, and option overrides."""

    name: str
    shows: tuple[str, ...]
    file: str = ""
    options: dict[str, object] = field(default_factory=dict)
    changes: tuple[str, ...] = ()
    """Quantities that must differ from those of the model without `options`: the flag must matter."""

    @property
    def path(self) -> Path:
        """The model's file."""
        return FOLDER / f"{self.file or self.name}.xml"


def _flag(flag: str, *changes: str, shows: tuple[str, ...] = ()) -> Purpose:
    return Purpose(f"everything, {flag} off", shows, "everything", {"disableflags": [flag]}, changes)


MODELS: tuple[Purpose, ...] = (
    Purpose("free_bodies", ("qfrc_bias", "damper")),
    Purpose("ball_chain", ("qfrc_bias", "spring", "damper")),
    Purpose("hinge_tree", ("qfrc_bias",)),
    Purpose("slides", ("spring", "damper")),
    Purpose("several_joints", ("qfrc_bias", "spring", "damper")),
    Purpose("fixed_and_frames", ("qfrc_bias",)),
    Purpose("springs_and_dampers", ("spring", "damper")),
    Purpose("polynomials", ("spring", "damper", "qfrc_actuator")),
    Purpose("polynomials, damper off", ("spring",), "polynomials", {"disableflags": ["damper"]}, ("qfrc_passive",)),
    Purpose("polynomials, spring off", ("damper",), "polynomials", {"disableflags": ["spring"]}, ("qfrc_passive",)),
    Purpose(
        "polynomials, eulerdamp off",
        ("damper",),
        "polynomials",
        {"disableflags": ["eulerdamp"]},
        ("step Euler:qvel",),
    ),
    Purpose("plastic", ("spring", "damper", "yielding spring")),
    Purpose("plastic, spring off", ("damper",), "plastic", {"disableflags": ["spring"]}, ("qfrc_passive",)),
    Purpose("armature", ("qfrc_bias",)),
    Purpose("actuators", ("qfrc_actuator", "actuator_force")),
    Purpose("activations", ("act_dot", "qfrc_actuator", "actuator_force")),
    Purpose(
        "activations, a group off",
        ("act_dot", "actuator_force"),
        "activations",
        {"disableactuator": 16},
        ("qfrc_actuator",),
    ),
    Purpose("activations, actuation off", (), "activations", {"disableflags": ["actuation"]}, ("qfrc_actuator",)),
    Purpose("servo_on_ball", ("qfrc_actuator",)),
    Purpose("pid", ("act_dot", "qfrc_actuator", "actuator_force", "sensor actuatorpos", "sensor tendonactfrc")),
    Purpose("delays", ("act_dot", "qfrc_actuator", "actuator_force", "delayed control", "sensor actuatorfrc")),
    Purpose("delays, actuation off", (), "delays", {"disableflags": ["actuation"]}, ("qfrc_actuator",)),
    Purpose("dc_motor", ("act_dot", "qfrc_actuator", "actuator_force", "sensor actuatorvel", "sensor actuatorfrc")),
    Purpose("dc_motor, actuation off", (), "dc_motor", {"disableflags": ["actuation"]}, ("qfrc_actuator",)),
    Purpose("orientation", ("act_dot", "qfrc_actuator", "actuator_force", "sensor actuatorpos", "sensor actuatorfrc")),
    Purpose("orientation, actuation off", (), "orientation", {"disableflags": ["actuation"]}, ("qfrc_actuator",)),
    Purpose(
        "transmissions",
        ("moment site", "moment slidercrank", "actuator_force", "sensor actuatorpos", "sensor actuatorvel"),
    ),
    Purpose("adhesive_bodies", ("moment body", "contact within the gap", *(f"condim {n}" for n in (1, 3, 4, 6)))),
    Purpose(
        "adhesive_bodies, elliptic", ("moment body", "contact within the gap"), "adhesive_bodies", {"cone": "elliptic"}
    ),
    Purpose("actuator_inertia", ("qfrc_actuator", "actuator_force", "damper", "qfrc_constraint")),
    Purpose(
        "actuator_inertia, on",
        ("actuator_force",),
        "actuator_inertia",
        {"disableactuator": 0},
        ("qfrc_actuator",),
    ),
    Purpose("actuator_inertia, damper off", (), "actuator_inertia", {"disableflags": ["damper"]}, ("qfrc_passive",)),
    Purpose(
        "actuator_inertia, actuation off", (), "actuator_inertia", {"disableflags": ["actuation"]}, ("qfrc_actuator",)
    ),
    Purpose("lifted", ("qfrc_actuator", "actuator_force")),
    Purpose("lifted, gravity off", ("qfrc_actuator",), "lifted", {"disableflags": ["gravity"]}, ("qfrc_passive",)),
    Purpose("lifted, actuation off", (), "lifted", {"disableflags": ["actuation"]}, ("qfrc_actuator",)),
    Purpose("lifted, spring and damper off", (), "lifted", {"disableflags": ["spring", "damper"]}, ("qfrc_passive",)),
    Purpose("fluid", ("fluid", "spring", "damper")),
    Purpose("fluid_ellipsoids", ("fluid",)),
    Purpose("fluid_boxes", ("fluid", "spring", "damper")),
    Purpose("fluid, spring and damper off", (), "fluid", {"disableflags": ["spring", "damper"]}, ("qfrc_passive",)),
    Purpose("plane_sphere", ("contact plane-sphere",)),
    Purpose("plane_capsule", ("contact plane-capsule",)),
    Purpose("plane_cylinder", ("contact plane-cylinder",)),
    Purpose("plane_box", ("contact plane-box",)),
    Purpose("plane_mesh", ("contact plane-mesh",)),
    Purpose(
        "plane_shapes",
        tuple(f"contact plane-{shape}" for shape in ("sphere", "capsule", "cylinder", "box", "mesh")),
    ),
    Purpose(
        "spheres_and_capsules",
        ("contact sphere-sphere", "contact sphere-capsule", "contact capsule-capsule"),
    ),
    Purpose(
        "boxes",
        (
            *(f"contact {pair}" for pair in ("box-box", "sphere-box", "capsule-box", "sphere-cylinder")),
            "contact plane-ellipsoid",
        ),
    ),
    Purpose("condim_1", ("condim 1",)),
    Purpose("condim_3", ("condim 3",)),
    Purpose("condim_4", ("condim 4",)),
    Purpose("condim_6", ("condim 6",)),
    *(
        Purpose(f"condim_{n}, elliptic", (f"condim {n}", "sliding in a cone"), f"condim_{n}", {"cone": "elliptic"})
        for n in (3, 4, 6)
    ),
    Purpose("mixing, elliptic", ("condim 6", "condim 4", "condim 3"), "mixing", {"cone": "elliptic", "impratio": 5.0}),
    Purpose("pairs_by_hand, elliptic", ("condim 6", "condim 1"), "pairs_by_hand", {"cone": "elliptic"}),
    Purpose("filters", ("contact plane-sphere", "contact plane-capsule", "contact sphere-sphere")),
    Purpose("margin_and_gap", ("contact within the gap", "contact plane-sphere", "contact plane-box")),
    Purpose("mixing", ("condim 6", "condim 4", "condim 3")),
    Purpose(
        "pairs_by_hand",
        (*(f"condim {n}" for n in (1, 3, 4, 6)), "contact sphere-capsule", "contact capsule-capsule"),
    ),
    Purpose("repeated_pairs", ("several contacts at one place", "condim 4", "condim 3", "condim 1")),
    Purpose(
        "repeated_pairs, elliptic",
        ("several contacts at one place", "friction with a reference of its own", "sliding in a cone"),
        "repeated_pairs",
        {"cone": "elliptic", "impratio": 2.0},
    ),
    Purpose("surface_velocity", ("moving surface", "condim 4", "condim 6", "condim 3", "contact sphere-cylinder")),
    Purpose("surface_velocity, elliptic", ("moving surface",), "surface_velocity", {"cone": "elliptic"}),
    Purpose("adhesion", ("adhesive contact", "tether", "contact sphere-sphere", "contact plane-box")),
    Purpose("adhesion, elliptic", ("adhesive contact", "tether"), "adhesion", {"cone": "elliptic"}),
    Purpose(
        "adhesion, spring and damper off",
        ("adhesive contact",),
        "adhesion",
        {"disableflags": ["spring", "damper"]},
        ("qfrc_passive",),
    ),
    Purpose("impedance", ("contact plane-sphere", "limit hinge")),
    Purpose("limits_hinge_slide", ("limit hinge", "limit slide")),
    Purpose("limits_ball", ("limit ball",)),
    Purpose("sensors", tuple(f"sensor {kind}" for kind in SENSORS)),
    Purpose("equalities", ("equality connect", "equality weld", "equality joint")),
    Purpose(
        "tendons",
        (
            *("friction loss tendon", "limit tendon", "equality tendon", "spring", "damper", "qfrc_actuator"),
            *(f"sensor tendon{kind}" for kind in ("pos", "vel", "actfrc", "limitpos", "limitvel", "limitfrc")),
            "sensor e_potential",
        ),
    ),
    Purpose(
        "tendon_paths",
        (
            *("friction loss tendon", "limit tendon", "equality tendon", "spring", "damper", "qfrc_actuator"),
            "tendon around a geom",
        ),
    ),
    Purpose("equalities, equality off", (), "equalities", {"disableflags": ["equality"]}, ("qacc",)),
    Purpose(
        "frictionloss", ("friction loss, holding", "friction loss, overcome", "limit hinge", "contact plane-sphere")
    ),
    Purpose(
        "frictionloss, frictionloss off",
        ("limit hinge",),
        "frictionloss",
        {"disableflags": ["frictionloss"]},
        ("qacc",),
    ),
    *(
        Purpose(
            f"noslip{', elliptic' if cone == 'elliptic' else ''}",
            (*(f"condim {n}" for n in (1, 3, 4, 6)), "friction loss, holding", "equality connect", "limit slide"),
            "noslip",
            {"noslip_iterations": 4, "cone": cone},
            ("qacc", "qfrc_constraint"),
        )
        for cone in ("pyramidal", "elliptic")
    ),
    Purpose(
        "everything",
        ("contact plane-sphere", "contact plane-capsule", "limit hinge", "limit ball", "spring", "damper"),
    ),
    Purpose("everything, elliptic", ("sliding in a cone",), "everything", {"cone": "elliptic", "impratio": 3.0}),
    _flag("constraint", "qacc"),
    _flag("contact", "qacc", shows=("limit hinge",)),
    _flag("limit", "qacc", shows=("contact plane-sphere",)),
    _flag("spring", "qfrc_passive", shows=("damper",)),
    _flag("damper", "qfrc_passive", shows=("spring",)),
    _flag("gravity", "qfrc_bias"),
    _flag("clampctrl", "qfrc_actuator"),
    _flag("actuation", "qfrc_actuator"),
    Purpose("parent_child", ("contact sphere-capsule",), options={"disableflags": ["filterparent"]}, changes=("qacc",)),
    _flag("refsafe", "qacc"),
    _flag("eulerdamp", "step Euler:qvel"),
    Purpose(
        "everything, idle flags off",
        ("contact plane-sphere",),
        "everything",
        {
            "disableflags": [
                "warmstart",
                "equality",
                "frictionloss",
                "sensor",
                "midphase",
                "autoreset",
                "nativeccd",
                "island",
                "multiccd",
            ]
        },
    ),
)
