"""Ten programs as people write them for Genesis, with the import changed: what else they need is said in each.

Each is small: cells of 1/16 to 1/32 m, a few hundred particles.
"""

import warnings

import numpy as np
import pytest
import torch
import trimesh

import tumble.scene as gs
from tumble.physics.machine.runtime import init
from tumble.soft import ThinGeomWarning


@pytest.fixture(autouse=True)
def single_precision():
    init(precision="32")


def steps(scene, count):
    for _ in range(count):
        scene.step()


def test_three_materials_fall_on_a_plane():
    """No change. Each lies on the plane afterwards: the jelly a block, the liquid flat, the dough between."""
    gs.init()
    scene = gs.Scene(
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=8),
        mpm_options=gs.options.MPMOptions(lower_bound=(-0.3, -0.6, -0.1), upper_bound=(0.3, 0.6, 0.8), grid_density=24),
        vis_options=gs.options.VisOptions(visualize_mpm_boundary=True),
        viewer_options=gs.options.ViewerOptions(camera_fov=30, res=(960, 640)),
        show_viewer=False,
    )
    scene.add_entity(morph=gs.morphs.Plane())
    jelly = scene.add_entity(
        material=gs.materials.MPM.Elastic(),
        morph=gs.morphs.Box(pos=(0.0, -0.4, 0.15), size=(0.2, 0.2, 0.2)),
        surface=gs.surfaces.Default(color=(1.0, 0.4, 0.4), vis_mode="visual"),
    )
    liquid = scene.add_entity(
        material=gs.materials.MPM.Liquid(),
        morph=gs.morphs.Box(pos=(0.0, 0.0, 0.15), size=(0.2, 0.2, 0.2)),
        surface=gs.surfaces.Default(color=(0.3, 0.3, 1.0), vis_mode="particle"),
    )
    dough = scene.add_entity(
        material=gs.materials.MPM.ElastoPlastic(),
        morph=gs.morphs.Sphere(pos=(0.0, 0.4, 0.15), radius=0.1),
        surface=gs.surfaces.Default(color=(0.4, 1.0, 0.4), vis_mode="particle"),
    )
    scene.build()
    steps(scene, 120)
    heights = [entity.get_particles_pos()[:, 2] for entity in (jelly, liquid, dough)]
    assert all(0.0 < height.min() < 0.08 for height in heights)  # solids hover by about a cell, 0.042 m
    tops = [float(height.max()) for height in heights]
    assert tops[0] > 0.17 and tops[1] < 0.1 and tops[1] < tops[2]
    assert len(scene.debug_objects) == 1


def test_water_comes_over_cubes():
    """No change. Two emitters of different colours, three soft bodies on a plane; the capacity is kept."""
    scene = gs.Scene(
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=8),
        mpm_options=gs.options.MPMOptions(
            lower_bound=(-0.45, -0.65, -0.05), upper_bound=(0.45, 0.65, 1.0), grid_density=20
        ),
        vis_options=gs.options.VisOptions(visualize_mpm_boundary=True, rendered_envs_idx=[0]),
    )
    scene.add_entity(morph=gs.morphs.Plane())
    for morph in (
        gs.morphs.Box(pos=(0.0, 0.25, 0.2), size=(0.12, 0.12, 0.12)),
        gs.morphs.Sphere(pos=(0.2, 0.45, 0.3), radius=0.06),
        gs.morphs.Cylinder(pos=(-0.2, 0.45, 0.3), radius=0.05, height=0.14),
    ):
        scene.add_entity(
            material=gs.materials.MPM.Elastic(rho=400),
            morph=morph,
            surface=gs.surfaces.Rough(color=(1.0, 0.5, 0.5, 1.0), vis_mode="particle"),
        )
    emitters = [
        scene.add_emitter(
            material=gs.materials.MPM.Liquid(sampler="random"),
            max_particles=300,
            surface=gs.surfaces.Rough(color=(0.0, 0.9, 0.4, 1.0)),
        )
        for _ in range(2)
    ]
    scene.build(n_envs=0)
    for _ in range(40):
        for emitter, x in zip(emitters, (0.2, -0.2), strict=True):
            emitter.emit(
                pos=np.array([x, -0.4, 0.4]),
                direction=np.array([0.0, 0.0, -1.0]),
                speed=1.5,
                droplet_shape="circle",
                droplet_size=0.16,
            )
        scene.step()
    there = [int(emitter.entity.get_particles_active().sum()) for emitter in emitters]
    assert all(100 < count <= 300 for count in there) and abs(there[0] - there[1]) < 10  # places are at random
    assert not scene.mpm_solver.faults.any()


def test_sand_is_poured_on_a_wheel():
    """No change but the wheel's file, which is ours. It turns, and stands without sand."""
    scene = gs.Scene(
        sim_options=gs.options.SimOptions(dt=3e-3, substeps=6),
        mpm_options=gs.options.MPMOptions(
            lower_bound=(-0.15, -0.5, -0.1), upper_bound=(0.15, 0.5, 1.0), grid_density=24
        ),
    )
    scene.add_entity(material=gs.materials.Rigid(needs_coup=True, coup_friction=0.2), morph=gs.morphs.Plane())
    wheel = scene.add_entity(
        material=gs.materials.Rigid(needs_coup=True, coup_softness=0.0), morph=gs.morphs.MJCF(file=wheel_file())
    )
    emitter = scene.add_emitter(
        material=gs.materials.MPM.Sand(), max_particles=400, surface=gs.surfaces.Rough(color=(1.0, 0.9, 0.6, 1.0))
    )
    scene.build(n_envs=2)
    for _ in range(60):
        emitter.emit(
            pos=np.array([0.0, 0.15, 0.8]),
            direction=np.array([0.0, 0.0, -1.0]),
            speed=3.0,
            droplet_shape="rectangle",
            droplet_size=[0.1, 0.06],
            envs_idx=[0],
        )
        scene.step()
    turned, still = wheel.get_dofs_velocity()[:, 0].abs().tolist()
    assert turned > 0.5 and still < 1e-6


def wheel_file():
    """A wheel of four thick paddles on a hinge along x, 0.5 m above the ground."""
    paddles = "".join(f'<geom type="box" size="0.1 0.2 0.04" euler="{angle} 0 0" density="200"/>' for angle in (0, 90))
    return _file(
        "wheel.xml",
        f'<mujoco><worldbody><body name="wheel" pos="0 0 0.5"><joint name="axle" axis="1 0 0" damping="0.01"/>{paddles}'
        "</body></worldbody></mujoco>",
    )


_folder = {}


@pytest.fixture(autouse=True)
def folder(tmp_path):
    """Where programs of this file write theirs."""
    _folder["path"] = tmp_path


def _file(name, text):
    path = _folder["path"] / name
    path.write_text(text)
    return str(path)


def test_a_gripper_lifts_a_soft_cube():
    """No change but the gripper, which is ours. Fingers that press lift the cube; it stays without friction."""
    lifted = []
    for friction in (1.0, 0.0):
        scene = gs.Scene(
            sim_options=gs.options.SimOptions(dt=4e-3, substeps=8),
            mpm_options=gs.options.MPMOptions(
                lower_bound=(-0.25, -0.25, -0.1), upper_bound=(0.25, 0.25, 0.5), grid_density=32
            ),
        )
        scene.add_entity(gs.morphs.Plane())
        cube = scene.add_entity(
            material=gs.materials.MPM.Elastic(E=1e5, rho=300),
            morph=gs.morphs.Box(size=(0.12, 0.12, 0.12), pos=(0, 0, 0.075), euler=(0, 0, 0)),
            surface=gs.surfaces.Default(vis_mode="particle"),
        )
        gripper = scene.add_entity(
            gs.morphs.MJCF(file=_file("gripper.xml", GRIPPER)), material=gs.materials.Rigid(coup_friction=friction)
        )
        scene.build()
        lift, fingers = 0, [1, 2]
        gripper.set_dofs_kp([2000.0], [lift])
        gripper.set_dofs_kv([100.0], [lift])
        gripper.control_dofs_position([0.0], [lift])
        gripper.control_dofs_force([6.0, 6.0], fingers)
        steps(scene, 40)
        for i in range(60):
            gripper.control_dofs_position([0.002 * i], [lift])
            scene.step()
        lifted.append(float(cube.get_particles_pos()[:, 2].mean()))
        scene.close()
    assert lifted[0] > 0.14 and lifted[1] < 0.1


GRIPPER = """
<mujoco><worldbody><body name="hand" pos="0 0 0.1"><joint name="lift" type="slide" axis="0 0 1"/>
  <geom type="sphere" size="0.01" pos="0 0 0.2" mass="0.5" contype="0" conaffinity="0"/>
  <body name="left" pos="0.11 0 0"><joint name="left" type="slide" axis="-1 0 0" damping="20"/>
    <geom type="box" size="0.03 0.08 0.05" mass="0.2" contype="2" conaffinity="2"/></body>
  <body name="right" pos="-0.11 0 0"><joint name="right" type="slide" axis="1 0 0" damping="20"/>
    <geom type="box" size="0.03 0.08 0.05" mass="0.2" contype="4" conaffinity="4"/></body>
</body></worldbody></mujoco>
"""


def test_a_box_floats_and_another_sinks():
    """No change. Many environments, of which each has a box of its own density by `set_mass`."""
    scene = gs.Scene(
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=4),
        mpm_options=gs.options.MPMOptions(lower_bound=(-0.2, -0.2, 0.0), upper_bound=(0.2, 0.2, 0.6), grid_density=24),
    )
    scene.add_entity(
        material=gs.materials.MPM.Liquid(E=2e5), morph=gs.morphs.Box(pos=(0, 0, 0.1), size=(0.4, 0.4, 0.2))
    )
    box = scene.add_entity(morph=gs.morphs.Box(pos=(0, 0, 0.3), size=(0.16, 0.16, 0.16)))
    scene.build(n_envs=2)
    box.set_mass([0.3 * 1000 * 0.16**3, 3.0 * 1000 * 0.16**3])
    steps(scene, 150)
    light, heavy = box.get_pos()[:, 2].tolist()
    assert light > 0.18 and heavy < 0.12  # it stands 0.08 m above the wall that is its floor, or falls on


def test_snow_is_scooped_by_a_mesh(tmp_path):
    """No change. A mesh of a file touches as it is, and matter fills another mesh."""
    scoop = trimesh.creation.box((0.2, 0.2, 0.12))
    scoop.export(tmp_path / "scoop.obj")
    trimesh.creation.icosphere(subdivisions=3, radius=0.12).export(tmp_path / "ball.obj")
    scene = gs.Scene(
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=8),
        mpm_options=gs.options.MPMOptions(lower_bound=(-0.3, -0.3, -0.1), upper_bound=(0.3, 0.3, 0.8), grid_density=24),
    )
    scene.add_entity(gs.morphs.Mesh(file=str(tmp_path / "scoop.obj"), pos=(0, 0, 0.06), fixed=True))
    snow = scene.add_entity(
        gs.morphs.Mesh(file=str(tmp_path / "ball.obj"), pos=(0, 0, 0.3)),
        material=gs.materials.MPM.Snow(rho=400),
    )
    scene.build()
    steps(scene, 100)
    places = snow.get_particles_pos()
    on_it = (places[:, :2].abs() < 0.1).all(dim=1)
    assert on_it.sum() > 0.5 * snow.n_particles and places[on_it][:, 2].min() > 0.1


def test_honey_is_slower_than_water():
    """`viscosity` is ours. Two liquids in one scene, each in its half."""
    scene = gs.Scene(
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=8),
        mpm_options=gs.options.MPMOptions(
            lower_bound=(-0.6, -0.12, 0.0), upper_bound=(0.6, 0.12, 0.5), grid_density=20
        ),
    )
    found = [
        scene.add_entity(
            material=gs.materials.MPM.Liquid(E=1e5, viscosity=viscosity),
            morph=gs.morphs.Box(pos=(side * 0.45, 0, 0.1), size=(0.2, 0.2, 0.2)),
        )
        for side, viscosity in ((-1, 0.0), (1, 20.0))
    ]
    scene.build()
    steps(scene, 60)
    water, honey = (float((0.55 - entity.get_particles_pos()[:, 0].abs()).max()) for entity in found)
    assert water > 1.15 * honey > 0.2


def test_matter_without_contact_falls_through():
    """No change: `needs_coup=False`, or `LegacyCouplerOptions(rigid_mpm=False)`."""
    lows = []
    for coupler, needs in ((True, True), (True, False), (False, True)):
        scene = gs.Scene(
            sim_options=gs.options.SimOptions(dt=4e-3, substeps=4),
            coupler_options=gs.options.LegacyCouplerOptions(rigid_mpm=coupler),
            mpm_options=gs.options.MPMOptions(
                lower_bound=(-0.3, -0.3, 0.0), upper_bound=(0.3, 0.3, 0.8), grid_density=16
            ),
        )
        scene.add_entity(
            gs.morphs.Box(pos=(0, 0, 0.2), size=(0.4, 0.4, 0.2), fixed=True),
            material=gs.materials.Rigid(needs_coup=needs),
        )
        matter = scene.add_entity(
            gs.morphs.Box(pos=(0, 0, 0.4), size=(0.1, 0.1, 0.1)), material=gs.materials.MPM.Elastic()
        )
        scene.build()
        steps(scene, 60)
        lows.append(float(matter.get_particles_pos()[:, 2].min()))
        scene.close()
    assert lows[0] > 0.29 and lows[1] == lows[2] < 0.1


def test_a_thin_plate_is_warned_of():
    """`enable_CPIC` is refused; a plate thinner than 1.5 cells warns."""
    scene = gs.Scene(mpm_options=gs.options.MPMOptions(grid_density=16, dt=1e-3))
    scene.add_entity(gs.morphs.Box(pos=(0, 0, 0.2), size=(0.4, 0.4, 0.02), fixed=True), name="plate")
    scene.add_entity(gs.morphs.Box(pos=(0, 0, 0.4), size=(0.1, 0.1, 0.1)), material=gs.materials.MPM.Elastic())
    with pytest.warns(ThinGeomWarning, match="geom 'plate/box' is 0.02 m thick, less than 1.5 cells .* at least 75"):
        scene.build()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.step()


def test_a_push_by_gradient_is_refused():
    """Genesis' `differentiable_push`: steps of matter have no gradients, and say so."""
    scene = gs.Scene(
        sim_options=gs.options.SimOptions(dt=2e-3, requires_grad=True),
        mpm_options=gs.options.MPMOptions(grid_density=16, dt=1e-3),
    )
    scene.add_entity(gs.morphs.Plane())
    scene.add_entity(gs.morphs.Box(pos=(0, 0, 0.4), size=(0.1, 0.1, 0.1)), material=gs.materials.MPM.Elastic())
    with pytest.raises(NotImplementedError, match="requires_grad=True: steps of matter have no gradients"):
        scene.build()
    scene.close()


def test_a_particle_is_followed_by_a_camera():
    """Matter is in pictures, in depth and in segmentation; a recorder keeps its particles."""
    scene = gs.Scene(
        sim_options=gs.options.SimOptions(dt=4e-3, substeps=4),
        mpm_options=gs.options.MPMOptions(lower_bound=(-0.3, -0.3, -0.1), upper_bound=(0.3, 0.3, 0.8), grid_density=16),
    )
    scene.add_entity(gs.morphs.Plane())
    red = scene.add_entity(
        gs.morphs.Box(pos=(0, 0, 0.3), size=(0.3, 0.3, 0.3)),
        material=gs.materials.MPM.Elastic(),
        surface=gs.surfaces.Default(color=(1.0, 0.1, 0.1)),
    )
    camera = scene.add_camera(res=(48, 48), pos=(1.2, 0, 0.3), lookat=(0, 0, 0.3), fov=30)
    scene.build()
    rgb, depth, segmentation, _ = camera.render(depth=True, segmentation=True)
    middle = rgb[24, 24].astype(int)
    assert middle[0] > 2 * middle[1] and depth[24, 24] == pytest.approx(1.05, abs=0.03)
    assert scene.segmentation_idx_dict[segmentation[24, 24]] == red.idx
    recorder = scene.add_recorder(lambda: red.get_particles_pos(), gs.recorders.NPZFile(filename=_file("p.npz", "")))
    steps(scene, 3)
    assert recorder is not None and torch.isfinite(red.get_particles_pos()).all()
    scene.close()
