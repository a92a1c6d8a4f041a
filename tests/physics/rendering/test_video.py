"""Films and pictures on disk."""

import errno
import os
import signal
from pathlib import Path

import imageio.v3 as iio
import imageio_ffmpeg
import numpy as np
import pytest
import torch
from matplotlib.image import imread

from tumble.physics.machine import disk
from tumble.physics.rendering import save_png, write_video
from tumble.physics.rendering.film import video


def clip(n=12, height=48, width=64):
    """A red square that moves right."""
    frames = np.zeros((n, height, width, 3), np.uint8)
    for i in range(n):
        frames[i, 10:30, 2 * i : 2 * i + 20, 0] = 250
    return frames


def read(path):
    """Size, frames a second and frames of an mp4."""
    reader = imageio_ffmpeg.read_frames(str(path))
    meta = next(reader)
    width, height = meta["size"]
    return meta, [np.frombuffer(frame, np.uint8).reshape(height, width, 3) for frame in reader]


@pytest.mark.parametrize("make", [list, iter, torch.as_tensor, lambda frames: (torch.as_tensor(f) for f in frames)])
def test_a_film_plays_back(make, tmp_path):
    frames = clip()
    path = write_video(tmp_path / "new folder" / "film.mp4", make(frames), fps=25)
    meta, shown = read(path)
    assert meta["fps"] == 25 and meta["size"] == (64, 48) and meta["codec"] == "h264"
    assert len(shown) == len(frames)
    for before, after in zip(frames, shown, strict=True):
        assert np.abs(before.astype(int) - after.astype(int)).mean() < 6  # lossy, with halved colour resolution
    assert [p.name for p in path.parent.iterdir()] == ["film.mp4"]


def test_a_gif_plays_again_and_again(tmp_path):
    """Its colours and times are kept, also of odd sizes."""
    frames = clip(8, 47, 63)
    path = write_video(tmp_path / "film.gif", iter(frames), fps=20)
    shown, about = iio.imread(path, index=None), iio.immeta(path, index=None)
    assert shown.shape == frames.shape and about["duration"] == 50 and about["loop"] == 0
    assert np.abs(shown.astype(int) - frames).max() <= 8  # 256 colours, of which six or seven bits are kept
    with pytest.raises(ValueError, match="no frames"):
        write_video(tmp_path / "none.gif", [], fps=20)
    assert [p.name for p in tmp_path.iterdir()] == ["film.gif"]


def test_odd_sizes_are_padded(tmp_path):
    meta, shown = read(write_video(tmp_path / "odd.mp4", clip(3, 47, 63), fps=10))
    assert meta["size"] == (64, 48) and len(shown) == 3


def broken_off():
    """Two frames, then an error."""
    yield from clip(2)
    raise RuntimeError("the policy failed")


@pytest.mark.parametrize(
    ("frames", "error", "message"),
    [
        ([], ValueError, "no frames"),
        ([clip()[0], clip(1, 40)[0]], ValueError, r"frame 1 has shape \(40, 64, 3\)"),
        ([clip()[0], clip()[0].astype(float)], ValueError, "frame 1 must be .* uint8, not .* float64"),
        ([clip()[0, :, :, 0]], ValueError, "frame 0 must be"),
        (broken_off(), RuntimeError, "the policy failed"),
    ],
)
def test_a_failure_leaves_the_old_file(frames, error, message, tmp_path):
    path = write_video(tmp_path / "film.mp4", clip(), fps=10)
    before = path.read_bytes()
    with pytest.raises(error, match=message):
        write_video(path, frames, fps=10)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_bad_names_and_rates(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.mp4"):
        write_video(tmp_path / "film.avi", clip(), fps=10)
    with pytest.raises(ValueError, match="fps must be positive"):
        write_video(tmp_path / "film.mp4", clip(), fps=0)
    with pytest.raises(ValueError, match=r"must end in \.png"):
        save_png(tmp_path / "picture.jpg", clip()[0])


def test_png_is_exact(tmp_path):
    image = np.random.default_rng(0).integers(256, size=(17, 23, 3)).astype(np.uint8)
    path = save_png(tmp_path / "picture.png", torch.as_tensor(image))
    assert np.array_equal(np.round(imread(path)[..., :3] * 255).astype(np.uint8), image)


def write(path):
    """Write a picture or a film, whichever the name says; the frames are of noise, which takes room."""
    noise = np.random.default_rng(0).integers(256, size=(20, 96, 128, 3)).astype(np.uint8)
    if path.suffix == ".mp4":
        write_video(path, noise, fps=10)
    else:
        save_png(path, noise[0])


@pytest.mark.parametrize("name", ["film.mp4", "picture.png"])
@pytest.mark.parametrize("wrong", ["file for a folder", "folder for a file", "not writable", "no such place"])
def test_an_error_names_the_users_path(name, wrong, tmp_path, monkeypatch, capfd):
    """Neither it nor what the encoder prints has the temporary name."""
    path = tmp_path / "out" / name
    if wrong == "file for a folder":
        (tmp_path / "out").touch()
    elif wrong == "folder for a file":
        path.mkdir(parents=True)
    elif wrong == "not writable":  # also for root, who may write anywhere

        def refuse(place, *rest, opened=os.open, **more):
            if disk.UNFINISHED in str(place):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
            return opened(place, *rest, **more)

        monkeypatch.setattr(os, "open", refuse)
    else:
        path = Path("/proc/self/out") / name
    with pytest.raises(OSError, match=r"\[Errno") as raised:
        write(path)
    assert raised.value.filename == str(path) and raised.value.strerror
    assert raised.value.filename2 is None and capfd.readouterr().err == ""
    if wrong == "folder for a file":
        assert path.is_dir() and list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", ["film.mp4", "picture.png"])
def test_a_full_disk_leaves_the_old_file_and_is_named(name, tmp_path, capfd):
    """A limit of the size of files stands for the disk: the encoder is stopped by it, too."""
    resource = pytest.importorskip("resource")
    path = tmp_path / name
    path.write_bytes(b"before")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(OSError, match="too large") as raised:
            write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert raised.value.errno == errno.EFBIG and raised.value.filename == str(path)
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]
    assert capfd.readouterr().err == ""


def test_a_film_without_its_end_is_an_error(tmp_path, monkeypatch):
    """An encoder that is killed while it writes the last part says nothing."""
    close = video._Encoder.close

    def cut(self):
        close(self)
        content = self._unfinished.read_bytes()
        self._unfinished.write_bytes(content[: content.rindex(b"moov") + 20])

    monkeypatch.setattr(video._Encoder, "close", cut)
    with pytest.raises(OSError, match=r"the encoder .* failed"):
        write_video(tmp_path / "film.mp4", clip(), fps=10)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["film.mp4", "picture.png"])
def test_a_place_is_tried_before_any_work(name, tmp_path):
    path = tmp_path / "new" / name
    video.require_writable(path)
    assert path.parent.is_dir() and not list(path.parent.iterdir())
    path.write_bytes(b"before")
    video.require_writable(path)
    assert path.read_bytes() == b"before" and list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", ["film.mp4", "film.gif"])
@pytest.mark.parametrize("where", ["in a frame", "in a write"])
def test_an_interrupted_film_keeps_its_frames(name, where, tmp_path, monkeypatch):
    """Ctrl-C while a frame is drawn, or while it is handed over, of which a part may have gone then."""
    path, frames = tmp_path / name, clip()

    def drawn():
        yield from frames[:5]
        raise KeyboardInterrupt

    write, count = video._Encoder.write, [0]

    def interrupted(self, frame):
        count[0] += 1
        if count[0] == 6:
            self._pipe.write(memoryview(frame)[:7])
            raise KeyboardInterrupt
        write(self, frame)

    if where == "in a write":
        monkeypatch.setattr(video._Encoder, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_video(path, frames if where == "in a write" else drawn(), fps=10)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert len(iio.imread(path, index=None) if name == "film.gif" else read(path)[1]) == 5


def test_ctrl_c_does_not_reach_the_encoder(tmp_path):
    """A terminal sends it to all processes of the group in the foreground; the encoder is in another one."""
    encoder = video._Encoder(tmp_path / "film.mp4", tmp_path / "film.mp4", (64, 48), 10, 8)
    assert os.getpgid(encoder._process.pid) != os.getpgrp()
    for frame in clip(3):
        encoder.write(frame)
    encoder.close()
    assert encoder._process.poll() == 0 and len(read(tmp_path / "film.mp4")[1]) == 3
