"""Links in a user's folder: what is written replaces them or is refused, and what they lead to stays as it is."""

from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest

import tumble.scene as gs
from tumble.benchmarks import history, results
from tumble.physics import Model
from tumble.physics.rendering.film.video import save_png
from tumble.scene.recorders.writers import CSVWriter, NPZWriter
from tumble.viewer.replay import Replay

IMAGE = (
    '<mujoco><asset><texture name="a" type="2d" file="{}"/><material name="b" texture="a"/></asset>'
    '<worldbody><geom size="1" material="b"/></worldbody></mujoco>'
)


def write_rows(writer):
    writer.write(0.0, np.zeros(2))
    writer.finish()


def write_model(path):
    iio.imwrite("image.png", np.zeros((4, 4, 3), np.uint8))
    Model.from_mjcf(IMAGE.format(Path("image.png").absolute())).write_mjcf(path)


def write_page(path):
    replay = Replay.__new__(Replay)
    replay.html = lambda: "<p>"
    replay.save(path)


def add_history(path):
    machine = {"processor": "", "cores": 1, "busy before": 0}
    history.add(
        path.parent, {"machine": machine, "date": "", "command": "tumble bench envs", "verdicts": [], "tables": []}
    )


WRITERS = {
    "scene.json": lambda path: gs.Scene().export(path),
    "rows.csv": lambda path: write_rows(CSVWriter(gs.recorders.CSVFile(filename=path), 1.0)),
    "rows.npz": lambda path: write_rows(NPZWriter(gs.recorders.NPZFile(filename=path), 1.0)),
    "picture.png": lambda path: save_png(path, np.zeros((2, 2, 3), np.uint8)),
    "page.html": write_page,
    "model.xml": write_model,
    "model_assets/image.png": lambda path: write_model(path.parent.with_name("model.xml")),
    "result.json": lambda path: results.save(path, {}),
    "history.csv": add_history,
}
REFUSED = ("rows.csv", "history.csv")
"""Files that grow; others are written beside their places first."""


@pytest.mark.parametrize("name", WRITERS)
def test_no_link_is_followed(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other, path = tmp_path / "other", tmp_path / "work" / name
    path.parent.mkdir(parents=True)
    other.write_text("precious")
    path.symlink_to(other)
    if name in REFUSED:
        with pytest.raises(OSError, match="this is a link"):
            WRITERS[name](path)
    else:
        WRITERS[name](path)
        assert path.is_file() and not path.is_symlink() and path.stat().st_size
    assert other.read_text() == "precious"
    assert not list(path.parent.glob(".*")), "unfinished files"


def test_no_folder_that_is_a_link_receives_the_files_of_a_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "model_assets").symlink_to("other")
    with pytest.raises(OSError, match="model_assets"):
        write_model(tmp_path / "model.xml")
    assert not list((tmp_path / "other").iterdir())
