"""Recorders: what files have of a simulation, row by row, against what the scene says of itself."""

import csv

import imageio.v3 as iio
import numpy as np
import pytest
import torch

import tumble.scene as gs
from tumble.physics.machine.runtime import init


@pytest.fixture(scope="module")
def scene():
    """A ball that falls, with an IMU, in two environments."""
    init(precision="64")
    scene = gs.Scene(sim_options=gs.options.SimOptions(dt=0.01))
    ball = scene.add_entity(gs.morphs.Sphere(radius=0.1, pos=(0, 0, 5)), name="ball")
    scene.add_sensor(gs.sensors.IMU(entity_idx=ball.idx))
    scene.add_camera(res=(32, 24), env_idx=0)
    scene.build(n_envs=2)
    return scene


@pytest.fixture(autouse=True)
def again(scene):
    yield
    scene.stop_recording()
    scene.reset()


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        header, *found = csv.reader(file)
    return header, np.array(found, float)


def test_a_table_has_times_and_numbers(scene, tmp_path):
    """Every second step, as 50 Hz asks for."""
    ball, heights = scene.get_entity("ball"), []
    scene.add_recorder(
        lambda: {"height": ball.get_pos()[:, 2], "steps": scene.t},
        gs.recorders.CSVFile(filename=tmp_path / "deep" / "fall.csv", hz=50),
    )
    for _ in range(6):
        scene.step()
        heights.append(ball.get_pos()[:, 2].tolist())
    scene.stop_recording()
    scene.step()  # is not in the file
    header, numbers = rows(tmp_path / "deep" / "fall.csv")
    assert header == ["timestamp", "height_0", "height_1", "steps"]
    assert numbers[:, 0] == pytest.approx([0.02, 0.04, 0.06]) and numbers[:, 3].tolist() == [2, 4, 6]
    assert numbers[:, 1:3].tolist() == heights[1::2]  # to the bit


def test_a_header_of_the_users_and_rows_at_once(scene, tmp_path):
    path = tmp_path / "fall.csv"
    scene.add_recorder(scene.get_time, gs.recorders.CSVFile(filename=path, header=("a", "b"), save_every_write=True))
    scene.step()
    assert rows(path)[0] == ["timestamp", "a", "b"] and len(rows(path)[1]) == 1


def test_arrays_and_a_sensors_readings(scene, tmp_path):
    scene.add_recorder(scene.get_entity("ball").get_vel, gs.recorders.NPZFile(filename=tmp_path / "vel.npz"))
    (imu,) = scene.sensors
    imu.start_recording(gs.recorders.NPZFile(filename=tmp_path / "imu.npz"))
    read = []
    for _ in range(3):
        scene.step()
        read.append(imu.read().lin_acc.numpy())
    scene.stop_recording()
    with np.load(tmp_path / "vel.npz") as file:
        assert file["data"].shape == (3, 2, 3) and file["data"][:, 0, 2] == pytest.approx([-0.0981, -0.1962, -0.2943])
    with np.load(tmp_path / "imu.npz") as file:
        assert set(file.files) == {"timestamp", "lin_acc", "ang_vel", "mag"}
        assert np.array_equal(file["lin_acc"], np.stack(read))


def test_a_film(scene, tmp_path):
    (camera,) = scene.cameras
    scene.start_recording(lambda: camera.render()[0], gs.recorders.VideoFile(filename=tmp_path / "fall.mp4"))
    for _ in range(4):
        scene.step()
    scene.stop_recording()
    assert iio.imread(tmp_path / "fall.mp4").shape[:3] == (4, 24, 32)
    assert iio.immeta(tmp_path / "fall.mp4")["fps"] == 100


def test_a_reset_begins_another_file(scene, tmp_path):
    scene.add_recorder(scene.get_time, gs.recorders.CSVFile(filename=tmp_path / "time.csv", save_on_reset=True))
    scene.step()
    scene.reset(envs_idx=[0])  # not of all: it goes on
    scene.step()
    scene.reset()
    scene.step()
    scene.stop_recording()
    assert rows(tmp_path / "time_0.csv")[1].tolist() == [[0.01, 0.01, 0.01], [0.02, 0.01, 0.02]]
    assert rows(tmp_path / "time_1.csv")[1].tolist() == [[0.01, 0.01, 0.01]]


def test_one_file_that_fails_does_not_keep_the_others_from_being_written(scene, tmp_path):
    (tmp_path / "taken").write_text("a file, not a folder")
    scene.add_recorder(scene.get_time, gs.recorders.NPZFile(filename=tmp_path / "taken" / "a.npz"))
    scene.add_recorder(scene.get_time, gs.recorders.NPZFile(filename=tmp_path / "b.npz"))
    scene.step()
    with pytest.raises(OSError):
        scene.stop_recording()
    assert (tmp_path / "b.npz").exists()


WRONG = {
    "another suffix": (lambda s: gs.recorders.CSVFile(filename="a.txt"), ValueError, r"must end in \.csv"),
    "no name": (lambda s: gs.recorders.NPZFile(), ValueError, "expected the path"),
    "no rate": (lambda s: gs.recorders.NPZFile(filename="a.npz", hz=0), ValueError, "above 0"),
    "a window": (lambda s: gs.recorders.MPLLinePlot, AttributeError, "draws into a window; record a CSVFile"),
    "no function": (lambda s: s.add_recorder(1, gs.recorders.NPZFile(filename="a.npz")), TypeError, "function"),
    "no options": (lambda s: s.add_recorder(s.get_time, "a.npz"), TypeError, "CSVFile"),
    "a class": (lambda s: s.add_recorder(s.get_time, gs.recorders.NPZFile), TypeError, "make one"),
    "a scene in a table": (
        lambda s: s.start_recording(gs.recorders.CSVFile(filename="a.csv")),
        TypeError,
        "Trajectory",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_is_refused(scene, what):
    call, error, message = WRONG[what]
    with pytest.raises(error, match=message):
        call(scene)


BAD = {
    "rows of other lengths": (lambda s: torch.zeros(1 + s.t), "2 numbers|3 numbers", gs.recorders.CSVFile, "a.csv"),
    "words": (lambda s: ["a"], "expected numbers", gs.recorders.CSVFile, "a.csv"),
    "other shapes": (lambda s: torch.zeros(s.t), r"\(1,\)", gs.recorders.NPZFile, "a.npz"),
    "other names": (lambda s: {str(s.t): 0}, "timestamp, 2", gs.recorders.NPZFile, "a.npz"),
    "no picture": (lambda s: torch.zeros(4, 4), "expected a picture", gs.recorders.VideoFile, "a.mp4"),
}


@pytest.mark.parametrize("what", BAD)
def test_what_a_file_cannot_hold_is_refused(scene, tmp_path, what):
    function, message, kind, name = BAD[what]
    scene.add_recorder(lambda: function(scene), kind(filename=tmp_path / name))
    with pytest.raises((TypeError, ValueError), match=message):
        for _ in range(2):
            scene.step()


def test_rates_that_steps_do_not_allow(scene, tmp_path):
    with pytest.warns(UserWarning, match=r"hz=40: steps of 0\.01 s allow 50"):
        scene.add_recorder(scene.get_time, gs.recorders.NPZFile(filename=tmp_path / "a.npz", hz=40))
