"""What the proof against coal (`test_against_coal.py`) finds, in numbers: one row a pair."""

from typing import Any

import numpy as np

import tumble

from .. import test_against_coal as proof
from ..coal_oracle import PAIRS, gap_along


def rows(poses: int) -> list[dict[str, Any]]:
    """Ask everybody about so many poses of every pair of shapes; slow."""
    tumble.init(precision="64")
    asked = proof.ask_all(poses)
    return [_row(k, asked) for k in range(len(PAIRS))]


def _row(k: int, asked: proof.Asked) -> dict[str, Any]:
    found, theirs, poses = asked.found[k], asked.coals[k], asked.poses[k]
    gap, both = proof.widest_gap(k, asked), np.isfinite(asked.coals[k].dist)
    off = np.abs(gap_along(PAIRS[k], poses, theirs.normal) - theirs.dist)  # where coal does not prove its own distance
    told = np.abs(found.query.dist) > proof.CLEAR
    single = asked.single[k]
    longer = np.abs(single.contact.dist - single.query.dist)[single.touching] > proof.CLEAR
    sure_depth = (theirs.dist < -proof.CLEAR) | (found.query.dist < -proof.CLEAR)
    return {
        "pair": "-".join(PAIRS[k]),
        "poses": len(both),
        "in contact": int(found.touching.sum()),
        "phantom": int((found.touching & (gap > proof.CLEAR)).sum()),
        "missed": int((~found.touching & sure_depth & (gap <= 0)).sum()),
        "without an answer of coal's": int((~both).sum()),
        "median difference, m": float(np.median(np.abs(found.query.dist - theirs.dist)[both])),
        "coal's proves itself wrong by 1e-6 m": int((off[both] > 1e-6).sum()),
        "gap, m": float(np.abs(gap_along(PAIRS[k], poses, found.query.normal) - found.query.dist)[told].max()),
        "longer": f"{100 * longer.mean():.1f} %",
        "invariants": _verdict(k, asked),
    }


def _verdict(k: int, asked: proof.Asked) -> str:
    """Run the tests of the proof on a pair; name those that fail."""
    tests = [value for name, value in vars(proof).items() if name.startswith("test_")]
    failed = []
    for test in tests:
        try:
            test(k, asked)
        except AssertionError:
            failed.append(test.__name__.removeprefix("test_").replace("_", " "))
    return ", ".join(failed) or "hold"
