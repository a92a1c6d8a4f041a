"""Everything impossible is one sentence that names the argument and says what to do."""

import numpy as np
import pytest
import trimesh

from tumble import terrain
from tumble.terrain import FlatPatches, Ramp, SubTerrain, Terrain, TerrainGenerator

from ..cases import cases

FLAT = {"flat": SubTerrain("flat")}

CASES = {
    "nan": (lambda: Terrain.from_heights([[0.0, np.nan], [0.0, 0.0]], size=(1, 1)), r"heights\[0, 1\] is nan: every"),
    "inf": (lambda: Terrain.from_heights([[0.0, 0.0], [np.inf, 0.0]], size=(1, 1)), r"heights\[1, 0\] is inf: every"),
    "row": (lambda: Terrain.from_heights(np.zeros((1, 9)), size=(1, 1)), "1 x 9 points has no cell; it needs two"),
    "flat array": (lambda: Terrain.from_heights(np.zeros(9), size=(1, 1)), r"shape \(nrow, ncol\), not \(9,\)"),
    "words": (lambda: Terrain.from_heights([["a", "b"], ["c", "d"]], size=(1, 1)), "must be an array of numbers"),
    "no size": (lambda: Terrain.from_heights(np.zeros((2, 2))), "either size=.* or horizontal_scale"),
    "negative size": (lambda: terrain.flat((-8.0, 8.0), 0.1), "size=-8.0: it must be above zero"),
    "one size": (lambda: terrain.flat(8.0, 0.1), r"size=8.0: it must be two numbers, as in"),
    "no multiple": (lambda: terrain.flat((8.05, 8.0), 0.1), "size=8.05 is no whole number of cells .*take 8 or 8.1"),
    "scale 0": (lambda: terrain.flat((8.0, 8.0), 0.0), "horizontal_scale=0.0: it must be above zero"),
    "2^31 cells": (
        lambda: terrain.flat((46341.0, 46341.0), 1.0),
        "46,342 x 46,342 points is more than .*or horizontal",
    ),
    "2^31 in all": (
        lambda: TerrainGenerator(sub_terrains=FLAT, num_rows=1000, num_cols=1000),
        "num_rows and num_cols: a field of 80,001 x 80,001 points is more",
    ),
    "proportion 0": (lambda: SubTerrain("flat", proportion=0), "proportion=0: it must be above zero; leave flat out"),
    "unknown kind": (
        lambda: SubTerrain("piramid_stairs"),
        "no kind of ground 'piramid_stairs': did you mean 'pyramid_st",
    ),
    "unknown parameter": (
        lambda: SubTerrain("gap", width=1.0),
        "gap has no parameter 'width': did you mean 'gap_width'",
    ),
    "a range turned": (
        lambda: terrain.random_uniform((8, 8), 0.1, noise_range=(0.1, 0.02)),
        r"noise_range=\(0.1, 0.02\): the lower .*as in",
    ),
    "a step of 0": (lambda: terrain.random_uniform((8, 8), 0.1, noise_step=0.0), "noise_step=0.0: it must be above"),
    "too close": (
        lambda: terrain.random_uniform((8, 8), 0.1, downsampled_scale=0.05),
        "downsampled_scale=0.05: it must be at least h",
    ),
    "a wide platform": (
        lambda: terrain.pyramid_stairs((2, 2), 0.1, platform_width=3.0),
        "platform_width=3: it must fit on the ground, .* 2 m",
    ),
    "a wide gap": (lambda: terrain.gap((2, 2), 0.1, gap_width=1.0), "gap_width=1: with platform_width it needs 3 m"),
    "a tread of 0": (lambda: terrain.stairs((2, 2), 0.1, step_width=-0.3), "step_width=-0.3: it must be above zero"),
    "a nan": (lambda: terrain.slope((2, 2), 0.1, slope=float("nan")), "slope=nan: it must be a finite number"),
    "a steep tile": (lambda: terrain.tilted_grid((2, 2), 0.1, tilt=95), "tilt=95: it must be an angle"),
    "a wide slot": (lambda: terrain.open_stairs((4, 4), 0.1, slot_width=0.5), "slot_width=0.5: it must be less than"),
    "a mode": (
        lambda: terrain.discrete_obstacles((4, 4), 0.1, obstacle_height_mode="any"),
        "mode='any': it must be 'choice' or",
    ),
    "half a wave": (lambda: terrain.wave((4, 4), 0.1, num_waves=0.5), "num_waves=0.5: it must be a whole number"),
    "short waves": (
        lambda: terrain.perlin_noise((4, 4), 0.1, octaves=9),
        "octaves=9: the last has waves of .*take fewer",
    ),
    "fine fractals": (lambda: terrain.fractal((4, 4), 0.1, levels=30), "levels=30: at most 13"),
    "no sub-terrains": (lambda: TerrainGenerator(sub_terrains={}), "sub_terrains is empty: it needs at least one"),
    "few columns": (
        lambda: TerrainGenerator(sub_terrains={**FLAT, "b": SubTerrain("gap")}, num_cols=1),
        "num_cols=1: .*2 sub_terrains",
    ),
    "no rows": (lambda: TerrainGenerator(sub_terrains=FLAT, num_rows=0), "num_rows=0: it must be at least 1"),
    "difficulty": (
        lambda: TerrainGenerator(sub_terrains=FLAT, difficulty_range=(0, 2)),
        "difficulties are from 0 to 1",
    ),
    "a scheme": (
        lambda: TerrainGenerator(sub_terrains=FLAT, color_scheme="red"),
        "color_scheme='red': it must be one of",
    ),
    "a border": (
        lambda: TerrainGenerator(sub_terrains=FLAT, border_width=0.25),
        "border_width=0.25 is no whole number",
    ),
    "a seed": (lambda: TerrainGenerator(sub_terrains=FLAT, seed=-1), "seed=-1: it must be at least 0"),
    "all rim": (lambda: SubTerrain("flat", border_width=2.0).heights((4, 4), 0.1, 0), "border_width=2: it leaves no"),
    "hard ramps": (
        lambda: TerrainGenerator(
            sub_terrains={"g": SubTerrain("gap", gap_width=Ramp(0.1, 9.0))}, num_cols=1
        ).generate(),
        r"sub_terrains\['g'\]: gap_width=.*with platform_width it needs",
    ),
    "own shape": (
        lambda: SubTerrain(lambda size, scale, rng: np.zeros((3, 3))).heights((4, 4), 0.1, 0),
        r"returned heights of shape \(3, 3\); this ground has \(41, 41\)",
    ),
    "own nan": (
        lambda: SubTerrain(lambda size, scale, rng: np.full((41, 41), np.nan)).heights((4, 4), 0.1, 0),
        "every height must be a finite number",
    ),
    "patch radius": (lambda: FlatPatches(patch_radius=0.0), "patch_radius=0.0: it must be above zero"),
    "patch range": (lambda: FlatPatches(x_range=(1.0, -1.0)), "x_range=.*the lower number must come first"),
    "base": (lambda: Terrain.from_heights(np.zeros((2, 2)), size=(1, 1)).add_to(_spec(), base=0), "base=0: it must be"),
    "an empty mesh": (lambda: Terrain.from_mesh(trimesh.Trimesh()), "the mesh has no faces"),
    "a wrong axis": (lambda: Terrain.from_mesh(trimesh.creation.box(), up="w"), "up='w': it must be 'x', 'y' or 'z'"),
    "a coarse mesh": (
        lambda: Terrain.from_mesh(trimesh.creation.box(), horizontal_scale=2.0),
        "path: a field of 1 x 1",
    ),
    "too few to share": (lambda: terrain.share_out([1, 1, 1], 2), "2 cannot be shared among 3 kinds"),
}


def _spec():
    import mujoco

    return mujoco.MjSpec()


@cases("case", CASES)
def test_each_is_one_sentence(case):
    call, message = CASES[case]
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_kind_that_is_no_kind_is_named():
    with pytest.raises(TypeError, match="3: a kind of ground is a name or a function"):
        SubTerrain(3)
    with pytest.raises(TypeError, match=r"sub_terrains\['a'\] is 3: it must be a SubTerrain"):
        TerrainGenerator(sub_terrains={"a": 3})


def test_files_that_are_none(tmp_path):
    (tmp_path / "broken.png").write_bytes(b"no picture")
    (tmp_path / "broken.stl").write_bytes(b"no mesh")
    with pytest.raises(ValueError, match=r"broken\.png is no picture that Pillow reads"):
        Terrain.from_image(tmp_path / "broken.png", size=(1, 1))
    with pytest.raises(ValueError, match=r"no mesh|no faces"):
        Terrain.from_mesh(tmp_path / "broken.stl")
    for make in (lambda p: Terrain.from_image(p, size=(1, 1)), Terrain.from_mesh):
        with pytest.raises(FileNotFoundError, match=r"gone\.xyz: no such file"):
            make(tmp_path / "gone.xyz")
