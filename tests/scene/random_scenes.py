"""Scenes of entities that are drawn by a seed: two to six of random kinds, sizes and places, which fall on a plane."""

import numpy as np

import tumble.scene as gs

FILES = ("ant.xml", "hopper.xml", "inverted_double_pendulum.xml", "suite_finger.xml", "drone.xml")
KINDS = ("Box", "Sphere", "Capsule", "Cylinder", "Ellipsoid", "MJCF")
EXACT = {"tolerance": 1e-15, "iterations": 200}
"""The solver stops at rounding: where it stops earlier, two implementations may differ by its tolerance."""


def random_scene(seed: int) -> gs.Scene:
    """Return a scene that is not built."""
    rng = np.random.default_rng(seed)
    cone = str(rng.choice(["pyramidal", "elliptic"]))
    scene = gs.Scene(
        sim_options=gs.options.SimOptions(dt=0.01, substeps=2),
        rigid_options=gs.options.RigidOptions(friction_cone=cone, **EXACT),
    )
    scene.add_entity(gs.morphs.Plane())
    for number in range(rng.integers(1, 6)):
        morph = _morph(rng, str(rng.choice(KINDS)), number)
        friction = float(rng.uniform(0.3, 1.2)) if rng.random() < 0.5 else None
        scene.add_entity(morph, gs.materials.Rigid(friction=friction))
    return scene


def _morph(rng: np.random.Generator, kind: str, number: int) -> gs.morphs.Morph:
    if kind == "MJCF":
        file, place = str(rng.choice(FILES)), (*rng.uniform(-3, 3, 2), 0.0)
        euler = (0, 0, rng.uniform(-180, 180))
        return gs.morphs.MJCF(file=file, pos=place, euler=euler, exclude_ground_plane=bool(rng.integers(2)))
    at = {"pos": (*rng.uniform(-0.1, 0.1, 2), 0.3 + 0.4 * number), "euler": rng.uniform(-180, 180, 3)}
    if kind == "Sphere":
        return gs.morphs.Sphere(radius=rng.uniform(0.05, 0.2), **at)
    if kind in ("Capsule", "Cylinder"):
        size = {"radius": rng.uniform(0.05, 0.2), "height": rng.uniform(0.1, 0.4)}
        return getattr(gs.morphs, kind)(**size, **at)
    return getattr(gs.morphs, kind)(size=rng.uniform(0.1, 0.4, 3), **at)
