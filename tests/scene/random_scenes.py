"""Scenes of entities that are drawn by a seed: two to six of random kinds, sizes and places, which fall on a plane.

Boxes, spheres and capsules fall on one another, too: their contacts have closed forms. All others stand apart: where a
contact is found by iterations, two implementations differ by the tolerance at which these stop.
"""

import numpy as np

import tumble.scene as gs

FILES = ("ant.xml", "hopper.xml", "inverted_double_pendulum.xml", "suite_finger.xml", "quadruped.xml")
STACKED, APART = ("Box", "Sphere", "Capsule"), ("Cylinder", "Ellipsoid", "MJCF")
EXACT = {"tolerance": 1e-30, "iterations": 100, "ls_tolerance": 1e-6}
"""The solver stops at rounding: where it stops earlier, two implementations may differ by its tolerance."""


def random_scene(seed: int) -> gs.Scene:
    """Return a scene that is not built."""
    rng = np.random.default_rng(seed)
    cone = str(rng.choice(["pyramidal", "elliptic"]))
    scene = gs.Scene(
        sim_options=gs.options.SimOptions(dt=0.004, substeps=2),
        rigid_options=gs.options.RigidOptions(friction_cone=cone, **EXACT),
    )
    scene.add_entity(gs.morphs.Plane())
    for number in range(rng.integers(1, 6)):
        morph = _morph(rng, str(rng.choice(STACKED + APART)), number)
        friction = float(rng.uniform(0.3, 1.2)) if rng.random() < 0.5 else None
        scene.add_entity(morph, gs.materials.Rigid(friction=friction))
    return scene


def random_velocity(seed: int, count: int) -> np.ndarray:
    """Return velocities (count,) of dofs, m/s or rad/s."""
    return np.random.default_rng(seed).uniform(-1, 1, count)


def _morph(rng: np.random.Generator, kind: str, number: int) -> gs.morphs.Morph:
    aside = 0.0 if kind in STACKED else 2.0 + 2.0 * number
    if kind == "MJCF":
        file, euler = str(rng.choice(FILES)), (0, 0, rng.uniform(-180, 180))
        ground = bool(rng.integers(2))
        return gs.morphs.MJCF(file=file, pos=(0, aside, 0), euler=euler, exclude_ground_plane=ground)
    height = 0.2 + (0.3 * number if kind in STACKED else 0.0)
    x, y = rng.uniform(-0.05, 0.05, 2)
    at = {"pos": (x + aside, y, height), "euler": rng.uniform(-180, 180, 3)}
    if kind == "Sphere":
        return gs.morphs.Sphere(radius=rng.uniform(0.1, 0.2), **at)
    if kind in ("Capsule", "Cylinder"):
        size = {"radius": rng.uniform(0.05, 0.1), "height": rng.uniform(0.1, 0.2)}
        return getattr(gs.morphs, kind)(**size, **at)
    return getattr(gs.morphs, kind)(size=rng.uniform(0.2, 0.3, 3), **at)
