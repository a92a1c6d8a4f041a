"""How many cores a process may use, from control groups as containers show them."""

import math
import os

import pytest

from tumble.physics.machine.cores import cgroup_quota, usable_cores


def write(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("cpu_", "cpu.", 1)).write_text(text + "\n")


@pytest.mark.parametrize(
    ("top", "inner", "quota"),
    [
        ("max 100000", "max 100000", math.inf),
        ("max 100000", "150000 100000", 1.5),
        ("200000 100000", "max 100000", 2.0),
        ("50000 100000", "400000 100000", 0.5),
    ],
)
def test_second_version(tmp_path, top, inner, quota):
    """The tightest of a group and those around it."""
    write(tmp_path, cpu_max=top)
    write(tmp_path / "user" / "job", cpu_max=inner)
    (tmp_path / "membership").write_text("0::/user/job\n")
    assert cgroup_quota(tmp_path, tmp_path / "membership") == quota


@pytest.mark.parametrize(("work", "quota"), [("-1", math.inf), ("250000", 2.5)])
def test_first_version_in_a_container(tmp_path, work, quota):
    """The group's path is the host's, and only the top of the tree is to be seen."""
    write(tmp_path / "cpu", cpu_cfs_quota_us=work, cpu_cfs_period_us="100000")
    (tmp_path / "membership").write_text("3:cpuset:/\n2:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n")
    assert cgroup_quota(tmp_path, tmp_path / "membership") == quota


def test_without_control_groups(tmp_path):
    """Nothing to read, or nonsense: no limit."""
    assert cgroup_quota(tmp_path, tmp_path / "missing") == math.inf
    write(tmp_path, cpu_max="what is this")
    (tmp_path / "membership").write_text("0::/\n")
    assert cgroup_quota(tmp_path, tmp_path / "membership") == math.inf


def test_usable_cores(monkeypatch):
    """At most those the process is allowed on, part of one counts, and never none."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    for quota, cores in ((math.inf, allowed), (0.2, 1), (allowed - 0.5, allowed), (1000, allowed)):
        monkeypatch.setattr("tumble.physics.machine.cores.cgroup_quota", lambda quota=quota: quota)
        assert usable_cores() == cores
