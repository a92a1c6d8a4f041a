"""Distance fields against exact distances, of whole meshes and of broken ones; what is refused; the files."""

import numpy as np
import pytest

from tumble.physics.files.geometry import distance_field as module
from tumble.physics.files.geometry.distance_field import distance_field, surface_points
from tumble.physics.files.geometry.files import MeshFileError
from tumble.physics.files.geometry.surface import closed_surface, open_edges

from .. import solids
from .exact_distance import exact_distance


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TUMBLE_CACHE", str(tmp_path / "cache"))


def probes(vertices, faces, field, count, seed=1):
    """Points (count, 3) within a cell of the surface, and as many in the grid's box."""
    rng = np.random.default_rng(seed)
    on, normals = surface_points(closed_surface(vertices, faces), count)
    near = on + normals * rng.uniform(-1, 1, (count, 1)) * field.cell
    return near, field.low + rng.random((count, 3)) * field.cell * (np.array(field.values.shape) - 1)


SOLIDS = {
    "torus": solids.torus(),
    "star": solids.star(),
    "mug": solids.mug(),
    "bolt": solids.bolt(),
    "nut": solids.nut(),
}
BROKEN = {
    "torus without 1 % of its faces": (solids.without_faces(solids.torus()), "torus"),
    "torus with 1 % of its faces turned": (solids.with_turned_faces(solids.torus()), "torus"),
    "bolt without 1 % of its faces": (solids.without_faces(solids.bolt()), "bolt"),
    "star inside out": ((solids.star()[0], solids.star()[1][:, ::-1]), "star"),
}
LONG = ("nut", "bolt", "bolt without 1 % of its faces")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in (*SOLIDS, *BROKEN)]
)
def test_against_exact_distances(name):
    """Within half a cell near the surface; no wrong sign deeper than one cell; beyond it, at least not too far off.

    A mesh without some of its faces is compared with the whole one.
    """
    mesh, whole = BROKEN[name] if name in BROKEN else (SOLIDS[name], name)
    field = distance_field(*mesh, resolution=64)
    near, spread = probes(*SOLIDS[whole], field, 200)
    exact = exact_distance(*SOLIDS[whole], near)
    assert np.abs(field.at(near) - exact).max() < field.cell / 2
    exact = exact_distance(*SOLIDS[whole], spread)
    found = field.at(spread)
    assert not ((found < 0) != (exact < 0))[np.abs(exact) > field.cell].any()
    assert np.abs(found - exact).max() < 1.5 * field.cell
    assert (np.abs(found) - np.abs(exact)).max() < field.cell / 2  # what skips far points relies on it
    assert (np.abs(field.at(field.points.items)) < field.cell / 2).mean() > 0.99


def test_it_is_as_fine_as_asked_for():
    """The error is the mean of what the field says at points of the surface; half as much of it needs a finer cell."""
    mesh = solids.torus(around=32, across=16)
    points, _ = surface_points(closed_surface(*mesh), 2000)
    fields = [distance_field(*mesh, error=error) for error in (4e-4, 2e-4)]
    for field, error in zip(fields, (4e-4, 2e-4), strict=True):
        assert 0.3 * error < np.abs(field.at(points)).mean() < 1.05 * error
        assert field.error == pytest.approx(np.abs(field.at(points)).mean(), rel=0.1)
    assert 1.2 < fields[0].cell / fields[1].cell < 1.7
    assert distance_field(*mesh, resolution=40).cell == pytest.approx(0.8 / 40)


def test_a_thin_wall_has_four_cells():
    """A cup of 4 mm walls, 90 mm high: fine by its walls, not by its size; its inside is air."""
    field = distance_field(*solids.cup(wall=0.004, columns=24))
    assert field.wall == pytest.approx(0.004, rel=0.05) and field.cell <= 0.001
    heights = np.array([[0, 0, 0.05], [0.038, 0, 0.05], [0, 0, 0.002], [0, 0, 0.2]])
    assert np.sign(field.at(heights)).tolist() == [1, -1, -1, 1]


def test_a_large_mesh_is_bounded(monkeypatch):
    """By the number of nodes, whatever error is asked for; a resolution beyond it is refused."""
    monkeypatch.setattr(module, "MOST_NODES", 20_000)
    field = distance_field(*SOLIDS["torus"], error=1e-6)
    assert 15_000 < field.values.size <= 20_000
    with pytest.raises(MeshFileError, match=r"would have .* nodes, and 20000 are the most"):
        distance_field(*SOLIDS["torus"], resolution=100)


def test_holes_and_turned_faces_are_mended():
    """A hole of one face or of two beside each other, faces turned over; the distance is that of the whole mesh."""
    vertices, faces = SOLIDS["torus"]
    whole = closed_surface(vertices, faces)
    broken = np.delete(faces, [5, 100, 101, 700], axis=0)
    broken[[40, 900]] = broken[[40, 900]][:, ::-1]
    mended = closed_surface(vertices, broken)
    assert not len(open_edges(mended.faces)) and not len(mended.border)
    volumes = [
        np.einsum("ij,ij->", s.corners[:, 0], np.cross(s.corners[:, 1], s.corners[:, 2])) / 6 for s in (whole, mended)
    ]
    assert volumes[1] == pytest.approx(volumes[0], rel=1e-4)


def test_the_winding_number_mends_what_cannot_be_closed():
    """A ring of faces around a pinched hole keeps its border; the sign is right up to a cell beside it."""
    vertices, faces = solids.torus(around=32, across=16)
    field = distance_field(vertices, faces, resolution=48)
    surface = closed_surface(vertices, faces)
    lost = np.delete(faces, np.arange(0, 1024, 64), axis=0)
    opened = module.ClosedSurface(surface.vertices, lost, open_edges(lost))
    grid = module.grid_of(opened, module.Triangles(opened.corners), field.low, field.cell, np.array(field.values.shape))
    wrong = (grid.distance.reshape(field.values.shape) < 0) != (field.values < 0)
    assert len(opened.border) == 48 and not wrong[np.abs(field.values) > field.cell].any()


CUBE = solids.turned(np.full((2, 4), 0.1), [0.0, 0.1], True)


@pytest.mark.parametrize(
    "vertices, faces, message",
    [
        (np.zeros((0, 3)), np.zeros((0, 3), int), "it has no faces"),
        (np.eye(3), np.zeros((0, 3), int), "it has no faces"),
        (np.where(np.arange(30).reshape(10, 3) == 4, np.nan, CUBE[0]), CUBE[1], "vertex 1 is at .*not finite"),
        (CUBE[0], CUBE[1] + 1, "there are 10, from 0"),
        (np.eye(3), np.array([[0, 0, 1]]), "points or lines"),
        (np.eye(3), np.array([[0, 1, 2]]), "encloses no volume"),
        (np.eye(3), np.array([[0, 1, 2], [0, 2, 1]]), "encloses no volume"),
        (np.vstack([CUBE[0], [[1, 1, 1]]]), np.vstack([CUBE[1], [[0, 1, 10]]]), "3 faces meet at one edge"),
    ],
)
def test_what_has_no_inside_is_refused(vertices, faces, message):
    with pytest.raises(MeshFileError, match=message):
        distance_field(vertices, faces)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"error": -1.0}, "a length in metres"),
        ({"error": np.nan}, "a length in metres"),
        ({"resolution": 3}, "a whole number of cells from 4"),
        ({"resolution": True}, "a whole number"),
        ({"resolution": 64, "error": 1e-3}, "not both"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises(ValueError, match=message):
        distance_field(*SOLIDS["star"], **options)


def test_fields_are_kept(monkeypatch):
    """The second time nothing is computed, and every number is the same; another option is another field."""
    first = distance_field(*SOLIDS["star"], resolution=32)

    def never(*_):
        raise AssertionError("computed again")

    monkeypatch.setattr(module, "_baked", never)
    again = distance_field(*SOLIDS["star"], resolution=32)
    assert np.array_equal(first.values, again.values) and first.cell == again.cell and first.error == again.error
    assert np.array_equal(first.points.items, again.points.items)
    with pytest.raises(AssertionError):
        distance_field(*SOLIDS["star"], resolution=33)


def test_a_file_that_is_no_field_counts_as_none(monkeypatch):
    good = module._baked(*SOLIDS["star"], None, 16)
    for name, bad in {
        "values": np.full_like(good["values"], np.nan),
        "numbers": np.zeros(7),
        "points": np.zeros((0, 3)),
        "edges": np.full((1, 6), np.inf),
    }.items():
        made = [{**good, name: bad}, good]
        monkeypatch.setattr(module, "_baked", lambda *_, made=made: made.pop(0))
        monkeypatch.setattr(module, "RECIPE", name)
        with np.errstate(invalid="ignore"):
            distance_field(*SOLIDS["star"], resolution=16)
        assert np.array_equal(distance_field(*SOLIDS["star"], resolution=16).values, good["values"]) and not made
