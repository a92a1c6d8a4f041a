"""Overlays beside geoms: sites, tendons, contacts, forces and frames, where MuJoCo has them."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.rendering import BatchRenderer, Camera, Look, MountedCamera, Show, caption, label
from tumble.physics.rendering.outputs import OUTPUTS
from tumble.physics.rendering.shown.overlays import links_of, path_points

from .conftest import PRIMITIVES

# -- Overlays beside geoms: sites, tendons, contacts, forces and frames, where MuJoCo has them


TENDONS = """
<mujoco><worldbody>
  <site name="s0" pos="-1 0.02 0.1"/>
  <geom name="ball" size="0.3" rgba="1 1 1 0.5"/>
  <geom name="tube" type="cylinder" size="0.2 0.8" pos="1 0 0" euler="70 20 0"/>
  <body pos="0.5 0.2 0"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><geom size="0.02"/>
    <site name="s1"/></body>
  <body pos="1.6 -0.1 0.3"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 1"/><geom size="0.02"/>
    <site name="s2"/></body>
  <site name="s3" pos="2.5 1 0"/></worldbody>
<tendon><spatial width="0.03" rgba="1 0 0 1">
  <site site="s0"/><geom geom="ball"/><site site="s1"/><geom geom="tube"/><site site="s2"/><site site="s3"/></spatial>
</tendon></mujoco>"""


def test_tendons_go_mujocos_way(poses):
    """Around a ball and a tube, or straight, in 64 random configurations: the points of its own path."""
    model = mujoco.MjModel.from_xml_string(TENDONS)
    source = poses(model, 64, torch.float64).scatter(seed=1, amount=0.4)
    links, kinds = links_of(model)
    site = [model.site(f"s{k}").id for k in range(4)]
    assert links.tolist() == [[0, site[0], 0, site[1]], [0, site[1], 1, site[2]], [0, site[2], -1, site[3]]]
    points, bent = path_points(model, links, kinds, source.get_many(("site_xpos", "geom_xpos", "geom_xmat")))
    assert 5 < bent[:, 0].sum() < 64 and 5 < bent[:, 1].sum() < 64 and not bent[:, 2].any()
    for env, data in enumerate(source.data):
        path = []
        for link in range(3):
            path += list(points[env, link, :3] if bent[env, link] else points[env, link, :1])
        path.append(points[env, 2, 3])
        first, count = data.ten_wrapadr[0], data.ten_wrapnum[0]
        expected = data.wrap_xpos.reshape(-1, 3)[first : first + count]
        assert torch.stack(path).numpy() == pytest.approx(expected, abs=1e-9)


ABOVE = Camera(distance=5, azimuth=90, elevation=-89.99, lookat=(0, 0, 0), fovy=4.0, orthographic=True)
MARKS = """
<mujoco><statistic meansize="0.5"/><worldbody>
  <geom type="plane" size="3 3 1" rgba="0.1 0.1 0.1 1"/>
  <body name="a" pos="0 0 0.5" euler="0 0 90"><freejoint/><geom size="0.1" rgba="1 1 1 1"/>
    <site pos="1 0 0" type="box" size="0.2 0.1 0.1" rgba="0 1 0 1"/>
    <site pos="-1 0 0" size="0.2" group="3" rgba="1 0 0 1"/></body>
</worldbody></mujoco>"""


def share_of(rgb, channel):
    """Share of the pixels that have one colour channel above all others."""
    others = [c for c in range(3) if c != channel]
    return (rgb[..., channel].float() > 60 + rgb[..., others].float().amax(dim=-1)).float()


def test_sites_and_frames_are_drawn_by_option(poses):
    """A site's box is there with its size, where the body has turned it; a hidden group's is not. Axes have colours."""
    source = poses(mujoco.MjModel.from_xml_string(MARKS))

    def draw(**show):
        renderer = BatchRenderer(source.model, 80, 80, camera=ABOVE, show=Show(**show))
        return renderer.draw(source, ("rgb", "segmentation", "depth", "body"))

    plain, sites, frames = draw(), draw(sites=True), draw(frames="body")
    assert share_of(plain["rgb"], 1).sum() == 0
    green = share_of(sites["rgb"][0], 1) > 0
    down, right = torch.nonzero(green).float().mean(dim=0) * 0.05 - 2.0 + 0.025
    assert (float(right), float(-down)) == pytest.approx((0.0, 1.0), abs=0.06)
    assert int(green.sum()) == pytest.approx(0.4 * 0.2 / 0.05**2, abs=6) and share_of(sites["rgb"], 0).sum() == 0
    for name in ("segmentation", "body", "depth"):  # overlays are in colours alone
        assert torch.equal(sites[name], plain[name]) and torch.equal(frames[name], plain[name])
    red = torch.nonzero(share_of(frames["rgb"][0], 0)).float()
    assert len(red) > 10 and red[:, 0].mean() < 39 and abs(red[:, 1].mean() - 39.5) < 2  # x, turned by 90 degrees
    assert torch.equal(draw(frames="world")["segmentation"] >= -1, plain["segmentation"] >= -1)


def test_overlays_leave_geoms_as_they_are(poses):
    """Colours are the same beside overlays, which throw no shadows and darken nothing; no other output has them."""
    source = poses(mujoco.MjModel.from_xml_string(MARKS), 2)
    camera = Camera(distance=4, azimuth=50, elevation=-30, lookat=(0, 0, 0))
    others = [name for name, output in OUTPUTS.items() if not output.colour]
    renderers = [
        BatchRenderer(source.model, 64, 64, camera=camera, samples=1, show=show)
        for show in (None, Show(sites=True, frames="geom"))
    ]
    before = [renderer.moment(source) for renderer in renderers]
    found = [r.draw(source, tuple(OUTPUTS), before=b) for r, b in zip(renderers, before, strict=True)]
    for name in others:
        assert torch.equal(found[0][name], found[1][name]), name
        alone = renderers[1].draw(source, (name,), before=before[1])[name]
        assert torch.equal(alone, found[0][name]), name
    overlaid = renderers[1]._find(source, None, {"colour": True, "guided": False, "measured": False}, None)
    same = overlaid.ids["geom"][overlaid.row.long()] == found[0]["segmentation"]
    assert 50 < (~same).sum() < 2000
    assert torch.equal(found[0]["rgb"][same], found[1]["rgb"][same])
    together = [r.together(source, ("rgb", "segmentation", "depth"), spacing=(2, 2)) for r in renderers]
    assert all(torch.equal(together[0][name], together[1][name]) for name in ("segmentation", "depth"))
    assert not torch.equal(together[0]["rgb"], together[1]["rgb"])


FALLEN = """
<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="3 3 1" rgba="0.1 0.1 0.1 1"/>
  <body pos="0.5 0.3 0.2"><freejoint/><geom type="box" size="0.3 0.2 0.2" rgba="1 1 1 0.2" mass="3"/></body>
</worldbody></mujoco>"""


def test_contacts_and_their_forces_are_drawn():
    """Four discs under the corners of a box, and arrows that hold it up, by its weight; none where it falls."""
    solver = RigidSolver(Model.from_mjcf(FALLEN), num_envs=2)
    solver.set_state(qpos=torch.tensor([[0.5, 0.3, 5.0, 1, 0, 0, 0]]), envs_idx=[1])
    solver.step(100)
    mj = solver.model.mj
    mj.vis.scale.contactwidth, mj.vis.scale.forcewidth = 0.2, 0.1
    mj.vis.map.force = 0.1
    plain, discs = (
        BatchRenderer(solver.model, 120, 120, camera=ABOVE, show=show).render(solver).float()
        for show in (None, Show(contacts=True))
    )
    changed = ((plain - discs).abs().amax(dim=-1) > 10).sum(dim=(1, 2))
    assert changed[0] > 20 and changed[1] == 0
    part = Show(contact_forces=True).overlays(mj).parts[0]
    _, turn, size = part.place({"contacts": solver.contacts})
    there = size[..., 0] > 0
    assert there[0].sum() == 8 and there[1].sum() == 0  # rods and tips
    rods = there[0][:64]
    length = (2 * size[0, :64, 1] * turn[0, :64, 2, 2])[rods].sum()
    assert float(length) == pytest.approx(0.1 * 3 * 9.81 / mj.stat.meanmass, rel=1e-3)
    assert (turn[0, :64, 2, 2][rods] > 0.9).all()


def test_pictures_depend_on_their_environment_alone(poses):
    """Lights and overlays, too: any selection has the same bits."""
    source = poses(mujoco.MjModel.from_xml_string(MARKS), 3).scatter(seed=3)
    look, show = Look(lights="file", soft_shadows=4), Show(sites=True, frames="body")
    renderer = BatchRenderer(source.model, 32, 32, camera=ABOVE, look=look, show=show)
    whole = renderer.render(source)
    assert torch.equal(renderer.render(source, [2, 1]), whole[[2, 1]]) and not torch.equal(whole[1], whole[2])


def test_contacts_need_a_solver(poses):
    source = poses(mujoco.MjModel.from_xml_string(MARKS))
    renderer = BatchRenderer(source.model, 16, 16, show=Show(contacts=True))
    with pytest.raises(TypeError, match="contacts need a RigidSolver, not a MujocoPoses"):
        renderer.render(source)


def test_groups_of_geoms_are_shown_by_option(poses):
    """Collision shapes alone, for example."""
    model = mujoco.MjModel.from_xml_string("""<mujoco><worldbody>
      <geom size="0.2" group="3"/><geom size="0.2" pos="1 0 0"/></worldbody></mujoco>""")
    source = poses(model)
    for groups, seen in (((0, 1, 2), {-1, 1}), ((3,), {-1, 0}), ((0, 3), {-1, 0, 1})):
        renderer = BatchRenderer(source.model, 40, 40, camera=ABOVE, show=Show(geom_groups=groups))
        assert set(renderer.segmentation(source).unique().tolist()) == seen
    assert np.array_equal(renderer.segmentation(source), renderer.segmentation(source))


THIN = """<mujoco><worldbody><geom type="plane" size="5 5 1" rgba="0 0 0 1"/>
  <geom type="{kind}" size="0.0008" fromto="-1.9 -0.7 0.3 1.9 0.9 0.3" rgba="1 0 0 1"/></worldbody></mujoco>"""


@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
def test_thin_rods_are_lines_and_not_dashes(kind, poses):
    """A rod of a thirtieth of a pixel is in each column that it passes; other outputs have its true size."""
    source = poses(mujoco.MjModel.from_xml_string(THIN.format(kind=kind)))
    found = BatchRenderer(source.model, 80, 80, camera=ABOVE).draw(source, ("rgb", "depth", "segmentation"))
    seen = (found["rgb"][0, ..., 0].float() > 1.5 * found["rgb"][0, ..., 2].float()).sum(dim=0)[4:-4]
    assert seen.min() >= 1 and seen.float().mean() < 4, seen
    exact = BatchRenderer(source.model, 80, 80, camera=ABOVE).draw(source, ("depth", "segmentation"))
    assert (found["segmentation"] == 1).sum() < 30
    assert all(torch.equal(found[name], exact[name]) for name in exact)


def test_axes_of_a_given_length_are_slender(poses):
    """The world's axes are 200 times as long as their radius, others 40 times, whatever the size of the model."""
    for of, share in (("world", 0.005), ("body", 0.025)):
        part = Show(frames={of: 2.0}).overlays(poses("ant").model.mj).parts[0]
        fields = {"like": torch.zeros(1, 3), "xpos": torch.zeros(1, 14, 3), "xquat": torch.ones(1, 14, 4)}
        size = part.place(fields)[2]
        assert float(size[0, 0, 1]) == 1.0 and float(size[0, 0, 0]) == pytest.approx(2.0 * share)


# -- Text in pictures, and where points are seen


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
