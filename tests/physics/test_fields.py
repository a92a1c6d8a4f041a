"""Addresses of numbers inside kernels: what the compiler is told of them holds, or is refused."""

import numpy as np
import pytest
import taichi as ti

from tumble.physics import Model
from tumble.physics.base.fields import SMALL_BITS, Field, FieldView, flat_array
from tumble.physics.machine.runtime import init
from tumble.physics.machine.taichi_thread import in_taichis_thread
from tumble.physics.model.tables.fields import INTEGERS
from tumble.physics.model.tables.pack import check_size

from ..cases import cases
from .parity.catalogue import load, names

pytestmark = pytest.mark.filterwarnings("ignore:.*Calling non-taichi function")
SMALL = [field.name for field in INTEGERS if field.small]


@cases("name", [*names("packaged"), *names("purpose"), *names("random", 5)])
def test_ids_and_counts_are_neither_negative_nor_large(name):
    values = Model.from_mjmodel(load(name)).values
    for field in SMALL:
        assert np.all((values[field] >= 0) & (values[field] < 1 << SMALL_BITS)), field


def test_a_model_with_too_large_ids_is_refused_by_file_and_field():
    values = {field.name: np.zeros(3, int) for field in INTEGERS}
    check_size("small.xml", values)
    values["pair_start"] = np.array([0, 1 << SMALL_BITS, 1 << 20])  # an address, not an id
    check_size("small.xml", values)
    values["pair_geom2"] = np.array([0, 65535, 65536])
    with pytest.raises(
        ValueError, match=r"large\.xml: too large a model: pair_geom2 reaches 65536, and 65535 is the most"
    ):
        check_size("large.xml", values)


def test_rows_and_items_are_where_they_are_declared_to_be():
    """Against numpy."""
    init()
    numbers = np.random.default_rng(0).integers(0, 1 << SMALL_BITS, 1 << 12, dtype=np.int32)
    last = (1 << SMALL_BITS) - 1
    numbers[1] = last
    field = Field("pairs", ("n", "n"), 6, "", "")
    ids = Field("ids", ("n",), 1, "", "", small=True)

    @ti.kernel
    def read(numbers: ti.types.ndarray(ti.i32, 1), found: ti.types.ndarray(ti.i32, 1)):
        every = FieldView(ids, 0, None, flat_array(numbers))
        pairs = FieldView(field, 4, 5, flat_array(numbers))
        for i in range(found.shape[0] - 1):
            found[i] = pairs.at((i // 5, i % 5), i % 6)
        found[found.shape[0] - 1] = every[1]

    found = np.zeros(600, np.int32)
    in_taichis_thread(read, numbers, found)
    i = np.arange(599)
    np.testing.assert_array_equal(found[:-1], numbers[4 + i * 6 + i % 6])
    assert found[-1] == last


def test_storing_a_small_integer_by_assignment_is_an_error_and_not_lost():
    init()
    ids = Field("ids", ("n",), 1, "", "", small=True)

    @ti.kernel
    def write(numbers: ti.types.ndarray(ti.i32, 1), way: ti.template()):
        view = FieldView(ids, 0, None, flat_array(numbers))
        if ti.static(way == "put"):
            view.put(2, 7)
        else:
            view[2] = 7

    numbers = np.zeros(4, np.int32)
    in_taichis_thread(write, numbers, "put")
    np.testing.assert_array_equal(numbers, [0, 0, 7, 0])
    with pytest.raises(ti.TaichiCompilationError):
        in_taichis_thread(write, numbers, "assign")
