"""Outputs of pictures: depth and normals of mj_ray, ids, points, motion; one call gives what single calls give."""

import re

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics.rendering import OUTPUTS, BatchRenderer, Camera, MountedCamera, Show

from ...models.meshes import attributes, icosphere, torus
from ...test_architecture import ROOT
from .test_against_mj_ray import VISIBLE_GROUPS

SIZE = {"width": 96, "height": 72}
CAMERA = Camera(distance=3.0, azimuth=100, elevation=-30, lookat=(0, 0, 0.4))
DEPTH = 1e-5
"""m: single precision, three metres from the camera, but where a surface is seen at a grazing angle (see GRAZING)."""
GRAZING = 0.1  # cosine to the eye; below it rounding of 1e-7 m moves a front along the ray by more than 1e-6 m
ANGLE = 0.1  # degrees, between normals
EDGE_BUDGET = 20  # of 6,912 pixels whose geom is another one: on edges
SCENE = f"""
<mujoco>
  <asset><mesh name="ball" {attributes(icosphere(2))} scale="0.3 0.3 0.3"/>
    <mesh name="ring" {attributes(torus(0.35, 0.12))}/>
    <hfield name="h" nrow="4" ncol="4" size="0.4 0.4 0.2 0.1"
      elevation="0 0 0 0 0 1 0.3 0 0 0.4 0.8 0 0 0 0 0"/></asset>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <geom type="hfield" hfield="h" pos="0.8 0.7 0.01"/>
    <body name="a" pos="0 0 0.6"><freejoint/><geom type="mesh" mesh="ball"/>
      <body pos="0.4 0 0.3"><joint type="hinge" axis="0 1 0"/><geom type="capsule" size="0.08 0.2"/></body></body>
    <body pos="-0.8 0.2 0.6"><freejoint/><geom type="mesh" mesh="ring"/></body>
    <body pos="-0.3 -0.8 0.5"><freejoint/><geom type="cylinder" size="0.2 0.15"/></body>
    <body pos="0.5 -0.7 0.4"><freejoint/><geom type="ellipsoid" size="0.25 0.15 0.1"/></body>
    <body pos="0.3 0.9 0.5"><freejoint/><geom type="box" size="0.1 0.2 0.15"/></body>
    <body pos="-0.7 0.9 0.5"><freejoint/><geom type="sphere" size="0.2"/></body>
  </worldbody>
</mujoco>"""


@pytest.fixture(scope="module")
def model():
    return mujoco.MjModel.from_xml_string(SCENE)


@pytest.fixture(params=[torch.float32, torch.float64])
def source(model, poses, request):
    return poses(model, 3, request.param).scatter(seed=4)


def test_depth_normals_and_segmentation_are_mj_rays(source):
    """At every pixel of three environments: depth to 1e-5 m in double, normals to 0.1 degree."""
    renderer = BatchRenderer(source.model, **SIZE, camera=CAMERA)
    found = renderer.draw(source, ("depth", "distance", "normals", "segmentation"))
    position, rotation = (x.double().numpy() for x in renderer.camera_poses(source))
    rays = renderer.rays().double().numpy()
    mj, geom, normal = source.model.mj, np.zeros(1, np.int32), np.zeros(3)
    other, worst, turned, seen = 0, 0.0, 0.0, set()
    for env, data in enumerate(source.data):
        for y, x in np.ndindex(SIZE["height"], SIZE["width"]):
            ray = rotation[env] @ rays[y, x]
            expected = mujoco.mj_ray(mj, data, position[env], ray, VISIBLE_GROUPS, 1, -1, geom, normal)
            if geom[0] != int(found["segmentation"][env, y, x]):
                other += 1
                continue
            seen.add(int(geom[0]))
            mine = found["normals"][env, y, x].double().numpy()
            if geom[0] < 0:
                assert not mine.any() and torch.isinf(found["distance"][env, y, x])
                continue
            length = np.linalg.norm(ray)
            assert float(found["distance"][env, y, x]) == pytest.approx(
                float(found["depth"][env, y, x]) * length, rel=1e-6
            )
            if -normal @ ray / length > GRAZING:
                worst = max(worst, abs(float(found["depth"][env, y, x]) - expected))
                turned = max(turned, np.degrees(np.linalg.norm(np.cross(mine, normal))))
    print(f"{other} other geoms, {worst:.1e} m, {turned:.3f} degrees")
    assert other < EDGE_BUDGET and len(seen) >= mj.ngeom
    assert worst < (DEPTH if source.dtype == torch.float64 else 3 * DEPTH) and turned < ANGLE


def test_ids_are_those_of_the_geoms(source):
    """Bodies and entities follow from the geom; by default an entity is a tree of bodies, by the number of its root."""
    mj = source.model.mj
    found = BatchRenderer(source.model, **SIZE, camera=CAMERA).draw(source, ("segmentation", "body", "entity"))
    geom, sky = found["segmentation"], found["segmentation"] < 0
    body = torch.as_tensor(mj.geom_bodyid)[geom.long()]
    assert torch.equal(found["body"][~sky], body[~sky]) and (found["body"][sky] == -1).all() and sky.any()
    root = torch.as_tensor(mj.body_rootid)[body.long()]
    assert torch.equal(found["entity"][~sky], root[~sky]) and len(found["entity"].unique()) == 8
    own = BatchRenderer(source.model, **SIZE, camera=CAMERA, entities=np.arange(mj.ngeom)[::-1])
    entity = own.draw(source, ("entity",))["entity"]
    assert torch.equal(entity[~sky], mj.ngeom - 1 - geom[~sky])


@pytest.mark.parametrize("orthographic", [False, True])
def test_points_lie_on_surfaces(source, orthographic):
    """Each is what mj_ray meets from the eye; a sphere's are its radius from its centre."""
    camera = Camera(distance=3.0, azimuth=100, elevation=-30, lookat=(0, 0, 0.4), orthographic=orthographic, fovy=3.0)
    camera = camera if orthographic else CAMERA
    found = BatchRenderer(source.model, **SIZE, camera=camera).draw(
        source, ("points", "segmentation", "camera_normals")
    )
    ball = source.model.mj.ngeom - 1
    for env, data in enumerate(source.data):
        on_ball = found["segmentation"][env] == ball
        away = found["points"][env][on_ball].double().numpy() - data.geom_xpos[ball]
        assert len(away) > 10 and np.abs(np.linalg.norm(away, axis=1) - 0.2).max() < 1e-4
        floor = found["points"][env][found["segmentation"][env] == 0]
        assert floor[:, 2].abs().max() < 1e-4
    assert torch.isinf(found["points"][found["segmentation"] < 0]).all()
    seen = found["segmentation"] >= 0
    towards = found["camera_normals"][seen][:, 2]
    assert (towards > (-1e-3 if orthographic else -0.6)).all()  # a perspective camera sees past the horizon of a ball


def test_motion_is_where_a_point_was(model, poses):
    """Points of one environment are projected by hand at an earlier moment; a camera follows a body meanwhile."""
    source = poses(model, 2, torch.float64).scatter(seed=4)
    renderer = BatchRenderer(source.model, **SIZE, camera=Camera(trackbodyid="a", distance=2.5, elevation=-30))
    before, (eye, view) = renderer.moment(source), renderer.camera_poses(source)
    then = [(data.geom_xpos.copy(), data.geom_xmat.copy()) for data in source.data]
    source.scatter(seed=5, amount=0.32)
    found = renderer.draw(source, ("motion", "points", "segmentation"), before=before)
    frustum_top = np.tan(np.radians(source.model.mj.vis.global_.fovy) / 2)
    for env, y, x in [(e, y, x) for e in range(2) for y in range(4, 72, 9) for x in range(4, 96, 9)]:
        geom, motion = int(found["segmentation"][env, y, x]), found["motion"][env, y, x].numpy()
        if geom < 0:
            assert not motion.any()
            continue
        data = source.data[env]
        local = data.geom_xmat[geom].reshape(3, 3).T @ (
            found["points"][env, y, x].double().numpy() - data.geom_xpos[geom]
        )
        world = then[env][0][geom] + then[env][1][geom].reshape(3, 3) @ local
        seen = view[env].double().numpy().T @ (world - eye[env].double().numpy())
        if seen[2] > -0.1:
            continue
        scale = SIZE["height"] / (2 * frustum_top)
        was = 48 + scale * seen[0] / -seen[2], 36 - scale * seen[1] / -seen[2]
        assert motion == pytest.approx([x + 0.5 - was[0], y + 0.5 - was[1]], abs=0.02)
    still = renderer.draw(source, ("motion",), before=renderer.moment(source))["motion"]
    assert still.abs().max() < 1e-3


def test_one_call_gives_what_single_ones_do(model, poses):
    """Every output of the table, for any environments; colours are the same beside others and alone."""
    source = poses(model, 3).scatter(seed=4)
    renderer = BatchRenderer(source.model, **SIZE, camera=CAMERA)
    before = renderer.moment(source)
    every = renderer.draw(source, tuple(OUTPUTS), before=before)
    assert list(every) == list(OUTPUTS)
    some = renderer.draw(source, tuple(OUTPUTS), [2, 0], before=renderer.moment(source, [2, 0]))
    for name in OUTPUTS:
        assert every[name].shape[:3] == (3, 72, 96)
        assert torch.equal(renderer.draw(source, (name,), before=before)[name], every[name]), name
        assert torch.equal(some[name], every[name][[2, 0]]), name


@pytest.mark.parametrize("fovy", [45.0, [45.0, 60.0]])
def test_the_default_dtype_of_torch_changes_no_output(fovy, model, poses):
    """Programs in double precision set it to float64."""
    camera = MountedCamera(pos=(0, -3, 1.5), lookat=(0, 0, 0.4), fovy=np.array(fovy))
    found = []
    for dtype in (torch.float32, torch.float64):
        torch.set_default_dtype(dtype)
        try:
            source = poses(model, 2)
            renderer = BatchRenderer(source.model, **SIZE, camera=camera)
            found.append(
                renderer.draw(source, tuple(OUTPUTS), before=renderer.moment(source)) | {"rays": renderer.rays()}
            )
        finally:
            torch.set_default_dtype(torch.float32)
    for name, ours in found[1].items():
        assert ours.dtype == found[0][name].dtype and torch.equal(ours, found[0][name]), name


def test_the_page_lists_every_output():
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "docs" / "pictures.md").read_text("utf-8"), re.MULTILINE)
    assert {name: what for name, what in rows if name in OUTPUTS} == {name: o.what for name, o in OUTPUTS.items()}


def test_wrong_outputs_are_refused(model, poses):
    source = poses(model)
    renderer = BatchRenderer(source.model, 8, 8)
    with pytest.raises(ValueError, match="no output 'normal'; nearest: normals"):
        renderer.draw(source, ("normal",))
    with pytest.raises(ValueError, match=r"needs an earlier moment: before=renderer\.moment"):
        renderer.draw(source, ("motion",))
    with pytest.raises(TypeError, match=r"such as \['rgb'\]"):
        renderer.draw(source, "rgb")
    with pytest.raises(ValueError, match="name at least one"):
        renderer.draw(source, ())
    with pytest.raises(ValueError, match="needed are 9 whole numbers"):
        BatchRenderer(source.model, 8, 8, entities=[1, 2])
    with pytest.raises(ValueError, match="there are frames of world, body, geom, site"):
        BatchRenderer(source.model, 8, 8, show=Show(frames="bodies"))
