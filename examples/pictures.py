"""Pictures of a scene: colours, depth, parts and normals, a camera that moves around, a film, lights, debug drawing."""

import numpy as np

import tumble.scene as gs

gs.init(backend=gs.cpu)
scene = gs.Scene(
    sim_options=gs.options.SimOptions(dt=0.01, substeps=2),
    viewer_options=gs.options.ViewerOptions(camera_pos=(2.5, 0, 1.5), camera_lookat=(0, 0, 0.4)),
    vis_options=gs.options.VisOptions(
        show_world_frame=True, segmentation_level="entity", ambient_light=(0.2, 0.2, 0.2)
    ),
    renderer=gs.renderers.Rasterizer(),
    show_viewer=False,  # True opens a page for browsers
)
scene.add_entity(gs.morphs.Plane(pos=(0, 0, -0.75)), surface=gs.surfaces.Rough(color=(0.6, 0.65, 0.7)))
arm = scene.add_entity(gs.morphs.MJCF(file="arm_robot.xml"), name="arm")
camera = scene.add_camera(res=(96, 64), pos=(2, -1.5, 1), lookat=(0.2, 0, 0.3), fov=40)
scene.build()

rgb, depth, parts, normal = camera.render(rgb=True, depth=True, segmentation=True, normal=True)
print(rgb.shape, rgb.dtype, depth.shape, np.unique(parts), scene.segmentation_idx_dict)
assert normal.shape == (64, 96, 3) and 0.5 < depth.min() < 3.0

scene.draw_debug_sphere(pos=(0.5, 0, 0.4), radius=0.05, color=(1, 0, 0, 0.5))
scene.draw_debug_arrow(pos=(0.5, 0, 0.4), vec=(0, 0, 0.3), radius=0.02, color=(0, 0.6, 0, 1))
marked, *_ = camera.render()
assert (marked != rgb).any()
scene.clear_debug_objects()

camera.start_recording()
for k in range(6):
    scene.step()
    camera.set_pose(pos=(2.5 * np.sin(0.2 * k), 2.5 * np.cos(0.2 * k), 1.2), lookat=(0, 0, 0.3))
    camera.render()
camera.stop_recording(save_to_filename="around.mp4", fps=60)
