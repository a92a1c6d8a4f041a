"""The grounds that walking tasks are on: ten levels of difficulty each. They are made when they are first asked for."""

from functools import cache

from ...terrain import Ramp, SubTerrain, Terrain, TerrainGenerator


@cache
def rough() -> Terrain:
    """Return waves, rough ground, slopes, boxes and stairs of up to 0.18 m, up and down."""
    parts = {
        "rough": SubTerrain("random_uniform", noise_range=Ramp((0.0, 0.01), (0.0, 0.12)), downsampled_scale=0.2),
        "wave": SubTerrain("wave", amplitude=Ramp(0.0, 0.3), num_waves=2),
        "slope_up": SubTerrain("pyramid_slope", slope=Ramp(0.0, 0.5), inverted=True),
        "slope_down": SubTerrain("pyramid_slope", slope=Ramp(0.0, 0.5)),
        "boxes": SubTerrain("random_grid", grid_height=Ramp(0.01, 0.12)),
        "stairs_up": _stairs(0.18, inverted=True),
        "stairs_down": _stairs(0.18),
    }
    return _field(parts, num_cols=14)


@cache
def stairs() -> Terrain:
    """Return stairs up and down, whose steps are 0.02 m high on the first level and 0.22 m on the last."""
    parts = {"up": _stairs(0.22, inverted=True), "down": _stairs(0.22)}
    return _field(parts, num_cols=8)


@cache
def gentle() -> Terrain:
    """Return rough ground, waves, slopes and low stairs, for a robot with flat feet."""
    parts = {
        "rough": SubTerrain("random_uniform", noise_range=Ramp((0.0, 0.005), (0.0, 0.06)), downsampled_scale=0.3),
        "wave": SubTerrain("wave", amplitude=Ramp(0.0, 0.2), num_waves=2),
        "slope_up": SubTerrain("pyramid_slope", slope=Ramp(0.0, 0.3), inverted=True),
        "slope_down": SubTerrain("pyramid_slope", slope=Ramp(0.0, 0.3)),
        "stairs_up": _stairs(0.1, inverted=True),
        "stairs_down": _stairs(0.1),
    }
    return _field(parts, num_cols=12)


def _stairs(highest: float, inverted: bool = False) -> SubTerrain:
    """Return stairs around a platform, up from it if inverted, of steps of 0.02 m to `highest` m."""
    return SubTerrain(
        "pyramid_stairs", step_height=Ramp(0.02, highest), step_width=0.4, platform_width=1.6, inverted=inverted
    )


def _field(parts: dict[str, SubTerrain], num_cols: int) -> Terrain:
    """Return ten levels of pieces of 6 x 6 m with level ground around them."""
    return TerrainGenerator(
        sub_terrains=parts,
        size=(6.0, 6.0),
        num_rows=10,
        num_cols=num_cols,
        border_width=5.0,
        color_scheme="height",
    ).generate()
