"""On a flat field of any cell size a solid rests, slides and rolls as on a plane, and on a slope it holds as long."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver

from ...widths import WIDTH
from ..starts import run_with
from .fields import SQRT_HALF, add_solid, with_field

UPRIGHT, ON_ITS_SIDE, TURNED = (1, 0, 0, 0), (SQRT_HALF, SQRT_HALF, 0, 0), (0.96, 0, 0, 0.28)
PLACED = {
    "sphere": (0.08, UPRIGHT),
    "capsule": (0.04, ON_ITS_SIDE),
    "ellipsoid": (0.05, UPRIGHT),
    "cylinder": (0.05, UPRIGHT),
    "box": (0.05, TURNED),
    "mesh": (0.05, TURNED),
}
"""Height of the centre over the ground (m), and orientation, of each kind at rest."""
DRIFT, TILT = 1e-4, 0.05  # m, degrees: the bar of issue 37
SPEED = 0.01  # the part of the speed that the grid may cost
SETTLED = 500  # steps


def row_of_solids(spec: mujoco.MjSpec, slope: float = 0.0) -> mujoco.MjModel:
    """Place one solid of each kind in a row along y, where the ground, tilted along x, is at z = 0."""
    for k, (kind, (height, turn)) in enumerate(PLACED.items()):
        quat = np.zeros(4)
        mujoco.mju_mulQuat(quat, np.array([np.cos(slope / 2), 0, -np.sin(slope / 2), 0]), np.array(turn, float))
        up = height * np.array([-np.sin(slope), 0, np.cos(slope)])
        add_solid(spec, kind, pos=[0.0137 + up[0], 0.3 * k - 0.7, up[2] + 0.0137 * np.tan(slope)], quat=quat)
    return spec.compile()


def flat(cell: float, wide: float = 2.4, slope: float = 0.0) -> mujoco.MjSpec:
    """Return a field of this width (m) that rises along x by the tangent of `slope` (rad)."""
    count = max(2, round(wide / cell) + 1)
    x = cell * (np.arange(count) - 0.5 * (count - 1))
    return with_field(np.tile(np.tan(slope) * x, (count, 1)), cell)


def poses(solver: RigidSolver) -> np.ndarray:
    return solver.get("qpos")[0].reshape(-1, 7).double().numpy().copy()


def turned(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the angles (degrees) between two arrays of quaternions."""
    return np.degrees(2 * np.arccos(np.minimum(1.0, np.abs((before * after).sum(1)))))


def rests(cell: float, seconds: float) -> None:
    run_with("64")
    solver = RigidSolver(Model.from_mjmodel(row_of_solids(flat(cell))), 1, lanes=WIDTH)
    solver.step(SETTLED)
    start = poses(solver)
    solver.step(round(seconds / solver.model.mj.opt.timestep) - SETTLED)
    end = poses(solver)
    np.testing.assert_array_less(np.linalg.norm(end[:, :3] - start[:, :3], axis=1), DRIFT)
    np.testing.assert_array_less(turned(start[:, 3:], end[:, 3:]), TILT)
    assert len(solver.inspect(0)["contact_dist"]) >= len(PLACED)


@pytest.mark.parametrize("cell", [0.02, 0.3])
def test_every_kind_rests(cell):
    rests(cell, seconds=4.0)


@pytest.mark.slow
@pytest.mark.parametrize("cell", [0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1.0])
def test_every_kind_rests_for_a_minute(cell):
    rests(cell, seconds=60.0)


def launched(mjm: mujoco.MjModel, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ways (m) and the final speeds of solids that begin at 1 m/s along x, after they have settled."""
    solver = RigidSolver(Model.from_mjmodel(mjm), 1)
    solver.step(SETTLED)
    start = poses(solver)
    qvel = torch.zeros_like(solver.get("qvel"))
    qvel.view(-1, 6)[:, 0] = 1.0
    solver.set_state(qvel=qvel)
    solver.step(steps)
    return poses(solver)[:, 0] - start[:, 0], solver.get("qvel")[0].view(-1, 6)[:, 0].double().numpy()


@pytest.mark.parametrize("cell", [0.002, 0.05])
def test_the_grid_costs_no_speed(cell):
    """A sphere and a capsule roll, and all others slide until they stop; 200 cells of 2 mm in 0.4 s."""
    run_with("64")
    plane = mujoco.MjSpec()
    plane.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1])
    field = launched(row_of_solids(flat(cell, wide=1.9)), 200)
    ground = launched(row_of_solids(plane), 200)
    kinds = list(PLACED)
    for mine, theirs, what in zip(field, ground, ("way", "speed"), strict=True):
        scale = np.maximum(np.abs(theirs), 0.05)
        np.testing.assert_array_less(np.abs(mine - theirs) / scale, SPEED, err_msg=f"{what} of {kinds}")
    assert field[0][kinds.index("sphere")] > 200 * 0.002 * 0.7


@pytest.mark.parametrize("degrees", [5, 30])
def test_a_box_holds_up_to_the_friction_angle_of_a_plane(degrees):
    """One percent below the tangent of the slope a box slides, one percent above it stays."""
    run_with("64")
    slope = np.radians(degrees)
    creep = []
    for factor in (0.99, 1.01):
        spec = flat(0.05, slope=slope)
        body = add_solid(spec, "box", pos=[-0.05 * np.sin(slope), 0, 0.05 * np.cos(slope)])
        body.quat = [np.cos(slope / 2), 0, -np.sin(slope / 2), 0]
        spec.option.cone, spec.option.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 1e4
        for geom in spec.geoms:
            geom.friction[0], geom.condim = factor * np.tan(slope), 3
        solver = RigidSolver(Model.from_mjmodel(spec.compile()), 1, lanes=WIDTH)
        solver.step(1000)
        before = poses(solver)
        solver.step(500)
        creep.append(float(np.linalg.norm(poses(solver)[0, :3] - before[0, :3])))
    # Below the angle's coefficient the box accelerates with 0.01 g sin(slope); above it, soft contacts creep.
    seconds = 500 * 0.002
    pulled = 0.01 * 9.81 * np.sin(slope) * (2.0 * seconds + 0.5 * seconds**2)
    assert creep[0] > 0.8 * pulled and creep[1] < 0.02 * pulled, creep
