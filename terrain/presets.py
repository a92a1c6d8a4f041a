"""Fields that others publish, as their numbers are."""

from .generator import TerrainGenerator
from .kinds import Ramp, SubTerrain

ROUGH_TERRAINS = TerrainGenerator(
    size=(8.0, 8.0),
    border_width=20.0,
    num_rows=10,
    num_cols=20,
    sub_terrains={
        "pyramid_stairs": SubTerrain(
            "pyramid_stairs", proportion=0.2, step_height=Ramp(0.05, 0.23), step_width=0.3, platform_width=3.0,
            border_width=1.0,
        ),
        "pyramid_stairs_inv": SubTerrain(
            "pyramid_stairs", proportion=0.2, step_height=Ramp(0.05, 0.23), step_width=0.3, platform_width=3.0,
            border_width=1.0, inverted=True,
        ),
        "boxes": SubTerrain(
            "random_grid", proportion=0.2, grid_width=0.45, grid_height=Ramp(0.05, 0.2), platform_width=2.0
        ),
        "random_rough": SubTerrain(
            "random_uniform", proportion=0.2, noise_range=(0.02, 0.10), noise_step=0.02, border_width=0.2
        ),
        "hf_pyramid_slope": SubTerrain(
            "pyramid_slope", proportion=0.1, slope=Ramp(0.0, 0.4), platform_width=2.0, border_width=0.2
        ),
        "hf_pyramid_slope_inv": SubTerrain(
            "pyramid_slope", proportion=0.1, slope=Ramp(0.0, 0.4), platform_width=2.0, border_width=0.2, inverted=True
        ),
    },
)  # fmt: skip
"""IsaacLab's ground for walking robots."""

MJLAB_TERRAINS = TerrainGenerator(
    size=(8.0, 8.0),
    border_width=20.0,
    num_rows=10,
    num_cols=20,
    sub_terrains={
        "flat": SubTerrain("flat", proportion=0.2),
        "pyramid_stairs": SubTerrain(
            "pyramid_stairs", proportion=0.2, step_height=Ramp(0.0, 0.1), step_width=0.3, platform_width=3.0,
            border_width=1.0,
        ),
        "pyramid_stairs_inv": SubTerrain(
            "pyramid_stairs", proportion=0.2, step_height=Ramp(0.0, 0.1), step_width=0.3, platform_width=3.0,
            border_width=1.0, inverted=True,
        ),
        "hf_pyramid_slope": SubTerrain("pyramid_slope", proportion=0.1, slope=Ramp(0.0, 1.0), platform_width=2.0),
        "hf_pyramid_slope_inv": SubTerrain(
            "pyramid_slope", proportion=0.1, slope=Ramp(0.0, 1.0), platform_width=2.0, inverted=True
        ),
        "random_rough": SubTerrain("random_uniform", proportion=0.1, noise_range=(0.02, 0.10), noise_step=0.02),
        "wave_terrain": SubTerrain("wave", proportion=0.1, amplitude=Ramp(0.0, 0.2), num_waves=4),
    },
)  # fmt: skip
"""mjlab's ground for walking robots."""

ALL_TERRAINS = TerrainGenerator(
    size=(8.0, 8.0),
    border_width=5.0,
    num_rows=10,
    num_cols=26,
    sub_terrains={
        "flat": SubTerrain("flat"),
        "slope": SubTerrain("slope", slope=Ramp(0.0, 0.4), border_width=0.5),
        "pyramid_slope": SubTerrain("pyramid_slope", slope=Ramp(0.0, 0.7)),
        "tilted_grid": SubTerrain("tilted_grid", tilt=Ramp(0.0, 20.0)),
        "stairs": SubTerrain("stairs", step_height=Ramp(0.02, 0.2), border_width=0.5),
        "pyramid_stairs": SubTerrain("pyramid_stairs", step_height=Ramp(0.02, 0.2)),
        "random_stairs": SubTerrain("random_stairs", step_height_range=Ramp((0.0, 0.05), (0.05, 0.2))),
        "open_stairs": SubTerrain("open_stairs", step_height=Ramp(0.02, 0.2)),
        "random_uniform": SubTerrain(
            "random_uniform", noise_range=Ramp((0.0, 0.02), (0.0, 0.12)), downsampled_scale=0.2
        ),
        "wave": SubTerrain("wave", amplitude=Ramp(0.0, 0.3), num_waves=3),
        "fractal": SubTerrain("fractal", amplitude=Ramp(0.05, 0.6)),
        "perlin_noise": SubTerrain("perlin_noise", amplitude=Ramp(0.0, 0.6)),
        "discrete_obstacles": SubTerrain("discrete_obstacles", obstacle_height=Ramp(0.02, 0.2)),
        "random_grid": SubTerrain("random_grid", grid_height=Ramp(0.02, 0.2)),
        "repeated_boxes": SubTerrain("repeated_boxes", height_range=Ramp((0.0, 0.05), (0.05, 0.3))),
        "repeated_cylinders": SubTerrain("repeated_cylinders", height_range=Ramp((0.0, 0.05), (0.05, 0.3))),
        "repeated_pyramids": SubTerrain("repeated_pyramids", height_range=Ramp((0.0, 0.05), (0.05, 0.3))),
        "gap": SubTerrain("gap", gap_width=Ramp(0.1, 0.8)),
        "pit": SubTerrain("pit", pit_depth=Ramp(0.0, 0.5), double=True),
        "box": SubTerrain("box", box_height=Ramp(0.0, 0.5), double=True),
        "rails": SubTerrain("rails", rail_height=Ramp(0.02, 0.25)),
        "ring": SubTerrain("ring", ring_height=Ramp(0.02, 0.3)),
        "nested_rings": SubTerrain("nested_rings", ring_height=Ramp(0.0, 0.2), gap_width=Ramp(0.1, 0.3)),
        "stepping_stones": SubTerrain("stepping_stones", stone_width=Ramp(1.2, 0.3), stone_distance=Ramp(0.1, 0.3)),
        "beams": SubTerrain("beams", beam_width=Ramp(0.6, 0.2)),
        "star": SubTerrain("star", bar_height=Ramp(0.02, 0.2)),
    },
)
"""One column of every kind that is made only from numbers."""

PRESETS = {"rough": ROUGH_TERRAINS, "mjlab": MJLAB_TERRAINS, "all": ALL_TERRAINS}
