"""Fixtures that an episode places: bodies of the world as mocap bodies, whose collisions stay the same."""

import mujoco
import numpy as np


def make_mocap(spec: mujoco.MjSpec, name: str) -> None:
    """Turn a child of the world into a mocap body.

    Geoms of a body do not collide with those of its parent, unless the parent is fixed to the world. A door's wing
    would no longer meet its frame as soon as the frame is a mocap body; so that rule is switched off, and the pairs of
    bodies that it concerned are named one by one.
    """
    for number, body in enumerate(spec.bodies):
        body.name = body.name or f"unnamed_{number}"
    model = spec.compile()
    spec.body(name).mocap = True
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    for one, other in _silent_pairs(model):
        spec.add_exclude(bodyname1=model.body(one).name, bodyname2=model.body(other).name)


def _silent_pairs(model: mujoco.MjModel) -> np.ndarray:
    """Return the pairs of bodies that do not collide because one is the other's parent, (pairs, 2)."""
    weld = model.body_weldid
    parent = weld[model.body_parentid[weld]]
    silent = ((weld[:, None] == parent[None, :]) | (parent[:, None] == weld[None, :])) & (
        weld[:, None] != weld[None, :]
    )
    collides = np.zeros(model.nbody, bool)
    collides[model.geom_bodyid[(model.geom_contype | model.geom_conaffinity) != 0]] = True
    asks = collides & (weld != 0)
    return np.argwhere(np.triu(silent & asks[:, None] & asks[None, :]))
