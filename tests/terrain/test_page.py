"""The page of terrain shows every kind with the parameters that it has."""

from pathlib import Path

import imageio.v3 as iio
import numpy as np

from tumble.terrain import ALL_TERRAINS, KINDS
from tumble.terrain.kinds_table import FROM_FILES, parameters_of, written
from tumble.terrain.relief import relief, sample_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "terrain_kinds.md"


def test_the_table_is_made_of_the_kinds():
    text = PAGE.read_text("utf-8")
    assert written(text) == text, "python -m tumble.terrain.kinds_table docs/reference/terrain_kinds.md"


def test_every_parameter_is_explained():
    assert all(words for kind in KINDS.values() for _, words in parameters_of(kind).values())


def test_every_kind_has_its_picture_and_its_column():
    drawn = {*KINDS} - {*FROM_FILES}
    assert {path.stem for path in PAGE.with_suffix("").glob("*.png")} == drawn
    assert {*ALL_TERRAINS.sub_terrains} == drawn and ALL_TERRAINS.num_cols == len(drawn)
    for name in ("pyramid_stairs", "perlin_noise"):
        picture = iio.imread(PAGE.with_suffix("") / f"{name}.png").astype(int)
        again = relief(sample_of(name), (8.0, 8.0), width=260)
        assert np.mean(abs(picture - again)) < 0.1, name
