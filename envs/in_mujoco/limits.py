"""Mechanisms of Tumble's own, which MuJoCo does not have: a model that has one of them is refused in one sentence."""

from ...physics import Model
from ...physics.model.parts import PARTS


def require_mujocos(model: Model) -> None:
    """Refuse a model that would be another one in MuJoCo.

    Raises:
        NotImplementedError: with what MuJoCo lacks.
    """
    lacking = [part.doc for part in PARTS if part.numbers and part.wanted(model)]
    if len(model.ignored_pairs):
        lacking.append("pairs of geoms without contacts because they overlap at qpos0 (ignore_reference_overlaps)")
    if lacking:
        raise NotImplementedError(f"MuJoCo does not have what this model has: {'; '.join(lacking)}")
