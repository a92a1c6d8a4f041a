"""The benchmark of path tracing: its figures are of the sides that they name."""

import pytest

from tumble.benchmarks import path_tracing


def test_paths_are_counted_beside_those_of_the_peer(tmp_path, monkeypatch):
    """The peer here is a program that says half a million."""
    monkeypatch.setattr(path_tracing, "SIZE", 16)
    peer = tmp_path / "peer"
    peer.write_text("#!/bin/sh\necho '{\"busy\": 0.5}'\n", encoding="utf-8")
    peer.chmod(0o700)
    result = path_tracing.run(("box",), 1, str(peer))
    (row,) = result.tables[0].rows
    assert row["mitsuba"] == 0.5 and row["ratio"] == pytest.approx(2 * row["million paths/s"])
    # 0.1580 by mitsuba, of larger pictures
    assert row["geoms"] == 9 and row["mean light"] == pytest.approx(0.158, abs=0.02)
    assert [verdict.target for verdict in result.verdicts] == [path_tracing.FASTER]
