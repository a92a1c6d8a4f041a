"""Ground of four kinds, and balls that fall on it, one in each environment."""

import torch

import tumble.scene as gs

gs.init(backend=gs.cpu)
scene = gs.Scene(rigid_options=gs.options.RigidOptions(dt=0.01), show_viewer=False)
ground = scene.add_entity(
    gs.morphs.Terrain(
        n_subterrains=(2, 2),
        subterrain_size=(6.0, 6.0),
        horizontal_scale=0.25,
        vertical_scale=0.005,
        subterrain_types=[
            ["flat_terrain", "random_uniform_terrain"],
            ["pyramid_sloped_terrain", "discrete_obstacles_terrain"],
        ],
    )
)
ball = scene.add_entity(gs.morphs.Sphere(pos=(1.0, 1.0, 1.0), radius=0.1), gs.materials.Rigid(friction=1.0))
scene.build(n_envs=9)

places = torch.cartesian_prod(*(torch.tensor([1.2, 5.2, 9.4]),) * 2)
below = ground.get_terrain_height(places[:, None])[:, 0]
ball.set_pos(torch.cat([places, below[:, None] + 0.4], 1))
(geom,) = ground.geoms
heights = 0.005 * torch.as_tensor(geom.metadata["height_field"])
print("the field is", tuple(heights.shape), "from", float(heights.min()), "to", float(heights.max()), "m")
for _ in range(60):
    scene.step()

now = ball.get_pos()
under = ground.get_terrain_height(now[:, None, :2])[:, 0]
print("balls above the ground:", now[:, 2] - under)
assert (now[:, 2] - under > 0.09).all() and (now[:, 2] - under < 0.3).all()
