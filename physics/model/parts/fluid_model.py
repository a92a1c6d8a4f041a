"""The items that a fluid pushes, bodies as boxes of their inertia and geoms as ellipsoids, and their constants.

MuJoCo's documentation, Computation: Fluid forces. A body that has a geom with fluidshape="ellipsoid" is no box.
"""

import mujoco
import numpy as np

from ...base.shapes import HALF_SIDES
from ...files.mjmodel.flags import has_passive_forces

MINVAL = 1e-15
"""MuJoCo's mjMINVAL: lighter bodies feel no fluid, and a box's inertia is not less."""
WIDTH = 19
"""Numbers of `fluid_shape`: a box has the first eight."""


def fluid_items(mjm: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return the body and the geom (-1: the body as a box) of every item; without a fluid there is none."""
    rows: list[tuple[int, int]] = []
    if (mjm.opt.density > 0 or mjm.opt.viscosity > 0) and has_passive_forces(mjm):
        for b in np.flatnonzero((mjm.body_treeid >= 0) & (mjm.body_mass >= MINVAL)).tolist():
            geoms = range(mjm.body_geomadr[b], mjm.body_geomadr[b] + mjm.body_geomnum[b])
            rows += [(b, g) for g in geoms if mjm.geom_fluid[g, 0] > 0] or [(b, -1)]
    body, geom = np.array(rows, int).reshape(-1, 2).T
    return body, geom


def fluid_shapes(mjm: mujoco.MjModel, mass: np.ndarray, inertia: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Return the constants of all items, (environments, items, WIDTH), in the order of `_box` and `_ellipsoid`.

    The virtual masses of ellipsoids are MuJoCo's own of the compiled model, whatever sizes environments have.
    """
    body, geom = fluid_items(mjm)
    count = max(len(mass), len(inertia), len(size))  # any of them may be the model's, for all environments
    out = np.zeros((count, len(body), WIDTH))
    for k, (b, g) in enumerate(zip(body.tolist(), geom.tolist(), strict=True)):
        if g < 0:
            out[:, k, :8] = _box(mass[:, b], inertia[:, b])
        else:
            half_sides = HALF_SIDES.get(int(mjm.geom_type[g]), lambda size: size)
            out[:, k] = _ellipsoid(half_sides(size[:, g]), mjm.geom_fluid[g])
    return out


def _box(mass: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Return the viscous torque and force at unit velocity, and quadratic torque (3) and force (3), for unit fluids."""
    x, y, z = np.sqrt(np.maximum(MINVAL, inertia.sum(1, keepdims=True) - 2.0 * inertia) / mass[:, None] * 6.0).T
    mean = (x + y + z) / 3.0
    turns = x * (y**4 + z**4) / 64.0, y * (x**4 + z**4) / 64.0, z * (x**4 + y**4) / 64.0
    return np.stack((np.pi * mean**3, 3.0 * np.pi * mean, *turns, 0.5 * y * z, 0.5 * x * z, 0.5 * x * y), -1)


def _ellipsoid(axes: np.ndarray, fluid: np.ndarray) -> np.ndarray:
    """Return the viscous torque and force (2), moments of drag (3), the rest of the list of `fluid_ellipsoids`.

    Squares of products of two semiaxes stand relative to the largest, `scale`, so that single precision can hold their
    powers.
    """
    _, blunt, slender, angular, kutta, magnus, *virtual = fluid
    x, y, z = axes.T
    diameter = 2.0 / 3.0 * (x + y + z)
    _, middle, high = np.sort(axes, axis=1).T
    most = 8.0 / 15.0 * np.pi * middle * high**4
    own = [8.0 / 15.0 * np.pi * a * np.maximum(b, c) ** 4 for a, b, c in ((x, y, z), (y, z, x), (z, x, y))]
    squares = np.stack(((y * z) ** 2, (z * x) ** 2, (x * y) ** 2), -1)
    scale = squares.max(1)
    ones = np.ones(len(axes))
    columns = (
        *(np.pi * diameter**3, 3.0 * np.pi * diameter),
        *(angular * moment + slender * (most - moment) for moment in own),
        *(squares / scale[:, None]).T,
        np.pi * np.sqrt(scale),
        *(blunt * ones, slender * ones, kutta * ones, magnus * 4.0 / 3.0 * np.pi * x * y * z),
        *(number * ones for number in virtual),
    )
    return np.stack(columns, -1)
