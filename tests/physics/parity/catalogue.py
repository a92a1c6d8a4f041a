"""All models that parity is proven on, by group and name, compiled as Tumble compiles them."""

import warnings
from collections.abc import Iterator

import mujoco

from tumble.physics.model.loading.loading import check_supported, load_mjcf

from ...models.packaged import packaged_models
from ...models.purpose import MODELS
from ...models.random_models import FURTHER, random_model
from .run import INTEGRATORS, OWN_KERNEL

GROUPS = ("packaged", "purpose", "random")
_ONE_KERNEL = (
    *("hinge_tree", "ball_chain", "free_bodies", "several_joints", "fixed_and_frames", "slides", "armature"),
    *("actuators", "servo_on_ball", "springs_and_dampers", "everything"),
)
"""Models that share a kernel with the integrator implicit: every kind of joint, damping, actuators, contacts."""
_ALIKE_IN_BOTH = (
    *("polynomials", "plastic", "activations", "pid", "delays", "dc_motor", "orientation", "actuator_inertia"),
    *("lifted", "adhesive_bodies", "adhesion", "surface_velocity", "repeated_pairs", "noslip"),
)
"""Models of mechanisms whose code is the same in both precisions: it asks for no further digits of a field."""


_OPTIONS_OF = ("everything", "equalities", "frictionloss", "delays", "dc_motor", "actuator_inertia", "lifted", "fluid")
"""Models whose other options are compared in the short proof: the first has most mechanisms, others the rest."""
_REPEATED = (
    *("plane_sphere", "plane_capsule", "plane_cylinder", "plane_box", "plane_mesh", "condim_3", "condim_4"),
    *("ball_chain", "slides", "several_joints", "armature", "fluid_ellipsoids", "lifted, gravity off"),
    *("actuator_inertia, damper off", "lifted, spring and damper off", "random 1"),
)
"""Models of joints, contacts and options that others have too: "plane_shapes", "everything", "springs_and_dampers"."""


def names(group: str, random_count: int = 200) -> list[str]:
    """Return the names of the models of a group; packaged models that are not installed are left out."""
    if group == "packaged":
        return [name for name, path in packaged_models().items() if path is not None]
    if group == "purpose":
        return [purpose.name for purpose in MODELS]
    return [f"random {seed}" for seed in (*range(random_count), *range(FURTHER, FURTHER + random_count // 100 * 30))]


def load(name: str, **options: object) -> mujoco.MjModel:
    """Return the compiled model of that name; fails if Tumble refuses it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MuJoCo's deprecations in third-party files
        if name.startswith("random "):
            source: object = random_model(int(name.split()[1]))
        elif name in packaged_models():
            source = packaged_models()[name]
        else:
            purpose = next(p for p in MODELS if p.name == name)
            source, options = purpose.path, {**purpose.options, **options}
        return check_supported(load_mjcf(source, **options))[0].mjm  # type: ignore[arg-type]


def is_among_few(name: str, precision: str) -> bool:
    """Tell if a model is compared where time is short (`report --few`); all others only repeat code of these.

    Of models with elliptic cones "everything" is, and so are its options of all models; the control suite's own models
    are those of `tests/envs/test_suite_parity.py`, Gymnasium's, but for the ant, those of `tests/envs/test_parity.py`.
    In single precision neither other options nor `_ALIKE_IN_BOTH` are.
    """
    if name.endswith("elliptic"):
        return name == "everything, elliptic"
    if name.startswith(("dm_control", "gymnasium")):
        return name == "gymnasium ant"
    if name in _REPEATED:
        return False
    if ", " in name:
        return precision == "64" and name.partition(", ")[0] in _OPTIONS_OF
    return precision == "64" or name not in _ALIKE_IN_BOTH


def integrators_of(name: str, all_models: bool) -> tuple[str, ...]:
    """Return the integrators that a model is proven with: those of `OWN_KERNEL` on a few models, or on all."""
    return (*INTEGRATORS, *OWN_KERNEL) if all_models or name in _ONE_KERNEL else INTEGRATORS


def shows(name: str) -> tuple[str, ...]:
    """Return what must occur in the states of a purpose-made model."""
    return next((p.shows for p in MODELS if p.name == name), ())


def everything(random_count: int = 200) -> Iterator[tuple[str, str]]:
    """Yield (group, name) of all models."""
    for group in GROUPS:
        for name in names(group, random_count):
            yield group, name
