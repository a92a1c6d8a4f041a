"""Fields that cannot be: each is one sentence that names the field and says what it must be."""

import mujoco
import numpy as np
import pytest

from tumble.physics import Model
from tumble.physics.model.loading.sanity import ModelLoadError

GOOD = {"nrow": 3, "ncol": 4, "size": [1.0, 1.0, 0.5, 0.1], "userdata": np.linspace(0, 1, 12)}


def loaded(**numbers: object) -> Model:
    spec = mujoco.MjSpec()
    spec.add_hfield(name="hills", **(GOOD | numbers))
    spec.worldbody.add_geom(name="land", type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="hills")
    body = spec.worldbody.add_body(pos=[0, 0, 1])
    body.add_freejoint()
    body.add_geom(size=[0.1, 0, 0])
    return Model.from_mjspec(spec)


def test_a_good_field_loads():
    assert loaded().sizes["nhfielddata"] == 12


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"userdata": [0.0, np.nan, *np.ones(10)]}, r"hfield 'hills': hfield_data nan is not finite"),
        ({"size": [np.inf, 1.0, 0.5, 0.1]}, r"geom 'land': size inf is not finite"),
        ({"size": [-1.0, 1.0, 0.5, 0.1]}, r"size parameter is not positive in hfield"),
        ({"nrow": 1, "ncol": 12}, r"hfield dimensions must be at least 2"),
        ({"nrow": 4, "ncol": 4}, r"elevation data length must match nrow\*ncol"),
    ],
)
def test_an_impossible_field_is_refused_by_name(numbers, message):
    with pytest.raises(ModelLoadError, match=message):
        loaded(**numbers)
