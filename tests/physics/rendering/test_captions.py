"""Text in pictures, and where points are seen."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.rendering import BatchRenderer, Camera, MountedCamera, caption, label

from .conftest import PRIMITIVES

GREY = np.full((120, 200, 3), 128, np.uint8)


@pytest.mark.parametrize("corner", ["upper left", "upper right", "lower left", "lower right"])
def test_a_caption_is_in_its_corner(corner):
    shown = caption(GREY, ["1.25 s", "reward +0.5"], corner, size=12)
    down, right = np.nonzero((shown != GREY).any(axis=-1))
    assert (down.max() < 60) == corner.startswith("upper") and (down.min() >= 60) == corner.startswith("lower")
    assert (right.max() < 120) == corner.endswith("left") and (right.min() >= 80) == corner.endswith("right")
    assert (shown > 180).all(axis=-1).sum() > 20 and (shown < 64).all(axis=-1).sum() > 500  # letters, their ground
    assert (GREY == 128).all()  # the picture that was given is as it was
    one, two = (caption(GREY, ["x"] * lines, corner, size=12) for lines in (1, 2))
    assert ((two != GREY).any(-1).sum()) > 1.3 * ((one != GREY).any(-1).sum())
    assert np.array_equal(caption(GREY, []), GREY)


def test_labels_stand_at_their_points():
    shown = label(GREY, np.array([[50.0, 60.0], [-3.0, 5.0], [np.nan, np.nan]]), ["arm", "outside", "behind"], size=10)
    down, right = np.nonzero((shown != GREY).any(axis=-1))
    assert right.min() >= 45 and right.max() < 90 and down.min() >= 45 and down.max() <= 65
    assert (shown[60, 50] == 255).all()


def test_text_of_wrong_form_is_refused():
    with pytest.raises(ValueError, match="corner='middle'"):
        caption(GREY, ["x"], "middle")
    for wrong in (GREY.astype(float), GREY[..., 0], torch.zeros(4, 4, 3, dtype=torch.uint8)):
        with pytest.raises(ValueError, match="height, width, 3"):
            caption(wrong, ["x"])
    with pytest.raises(ValueError, match=r"expected \(2, 2\)"):
        label(GREY, np.zeros((1, 2)), ["a", "b"])


def test_points_are_seen_at_the_pixels_that_see_them(poses):
    """Also of cameras with fields of view of their own, and of those without perspective."""
    source = poses(mujoco.MjModel.from_xml_string(PRIMITIVES), 2).scatter(seed=4)
    for camera in (
        Camera(distance=3, azimuth=30, elevation=-30, lookat=(0, 0, 0.4)),
        Camera(distance=3, azimuth=30, elevation=-30, lookat=(0, 0, 0.4), orthographic=True, fovy=3),
        MountedCamera(pos=(2, -2, 2), lookat=(0, 0, 0.4), fovy=(30.0, 60.0)),
    ):
        renderer = BatchRenderer(source.model, 40, 30, camera=camera)
        points = renderer.draw(source, ("points",))["points"].reshape(2, -1, 3)
        found = renderer.pixels(source, points)
        down, right = torch.meshgrid(torch.arange(30), torch.arange(40), indexing="ij")
        there = points.isfinite().all(dim=-1)
        expected = (torch.stack([right, down], dim=-1).reshape(-1, 2) + 0.5).expand(2, -1, 2)
        assert there.float().mean() > 0.3
        torch.testing.assert_close(found[there], expected[there].to(found), rtol=0, atol=1e-3)
        eye, view = renderer.camera_poses(source)
        behind = eye[:, None] + view[:, None, :, 2]
        assert renderer.pixels(source, behind).isnan().all()
        assert torch.equal(renderer.pixels(source, points[[1]], [1]), found[[1]])
