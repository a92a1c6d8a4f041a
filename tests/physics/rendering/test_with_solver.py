"""The renderer on RigidSolver: the same pictures as on MuJoCo's poses of the same coordinates."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from tumble.physics.rendering import BatchRenderer, Camera

CAMERAS = (
    "track",
    Camera(trackbodyid="torso", distance=3.0, elevation=-20.0),
    Camera(lookat=(0, 0, 0.5), distance=4.0),
)
DIFFERENT = 5e-3  # share of pixels whose geom may differ: float32 kinematics moves edges by about 1e-6 m


@pytest.mark.parametrize("name", ["ant", "humanoid", "half_cheetah"])
def test_same_pictures_as_from_mujocos_poses(name, poses):
    from tumble.physics import Model, RigidSolver

    source = poses(name, 6).scatter(seed=11, amount=0.2)
    solver = RigidSolver(Model.from_mjmodel(source.model.mj), num_envs=6)
    qpos = torch.as_tensor(np.stack([data.qpos for data in source.data]), dtype=solver.dtype)
    solver.set_state(qpos=qpos)
    solver.forward()
    for camera in CAMERAS:
        renderer = BatchRenderer(source.model, 96, 72, camera=camera)
        ours, theirs = renderer.images(solver, [4, 1]), renderer.images(source, [4, 1])
        same = ours.segmentation == theirs.segmentation
        assert same.float().mean() > 1 - DIFFERENT
        seen = same & (theirs.segmentation >= 0)
        torch.testing.assert_close(ours.depth[seen], theirs.depth[seen], rtol=1e-3, atol=0)
        assert (ours.rgb.float() - theirs.rgb.float()).abs().mean() < 1.0
        for mine, reference in zip(renderer.camera_poses(solver), renderer.camera_poses(source), strict=True):
            torch.testing.assert_close(mine, reference, rtol=0, atol=1e-5)


@pytest.mark.slow
def test_sizes_of_environments_are_asked_of_the_solver(poses):
    from tumble.physics import Model, RigidSolver

    source = poses("half_cheetah", 2)
    mj = source.model.mj
    solver = RigidSolver(Model.from_mjmodel(mj), num_envs=2)
    sizes = np.tile(mj.geom_size, (2, 1, 1))
    sizes[1, mj.geom("torso").id, 0] *= 3
    solver.update_parameters({"geom_size": sizes})
    renderer = BatchRenderer(solver.model, 48, 36, camera=Camera(lookat=(0, 0, 0.5), distance=4.0))
    torso = (renderer.segmentation(solver) == mj.geom("torso").id).sum(dim=(1, 2))
    assert torso[1] > 2 * torso[0] > 0


def test_the_process_that_compiles_pictures_needs_no_torch():
    """It takes a second to import, each time that pictures are compiled."""
    kernels = (
        "tumble.physics.rendering.cast.raycast, tumble.physics.rendering.path.kernel"
        ", tumble.physics.rendering.path.wavelets"
    )
    program = f"import sys, {kernels}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
