"""Entities that are mounted on links of other entities."""

from collections.abc import Sequence
from typing import Any

import mujoco

from ..checks import Numbers, numbers
from ..errors import SceneOrderError
from ..poses import unit_quat
from .compose import SEPARATOR, Piece
from .mjcf import WORLD
from .outline import Outline


def attach(
    child: Any, piece: Piece, parent: Any, link_name: str | None, pos: Numbers | None, quat: Numbers | None
) -> Outline:
    """Mount an entity on a link of another one; return its outline, without the free joint that it may have had.

    Args:
        child: the entity.
        piece: its piece of the model, which is changed.
        parent: the entity that carries it.
        link_name: the link that does; None: the first.
        pos: the child's place in that link's frame, (3,) m; None: that of its morph.
        quat: its orientation there, (4,), w first; None: that of its morph.

    Raises:
        SceneOrderError: the scene is built, or the child is attached already.
        TypeError: `parent` is no entity of the same scene.
        ValueError: the child has several trees, or carries the parent; the parent's link is not on its last branch.
        KeyError: for an unknown name of a link, with the nearest.
    """
    if child.is_built:
        raise SceneOrderError(f"entity '{child.name}': attach comes before scene.build()")
    if child.is_attached:
        raise SceneOrderError(f"entity '{child.name}' is attached to '{child.attached_to.name}' already")
    if type(parent) is not type(child) or parent.scene is not child.scene:
        raise TypeError(f"parent_entity={parent!r}: expected another entity of the scene")
    above: Any = parent
    while above is not None:
        if above is child:
            raise ValueError(f"attach: entity '{child.name}' carries '{parent.name}': it cannot be carried by it")
        above = above.attached_to
    roots = [link.name for link in child.links if link.parent_idx_local < 0]
    if len(roots) != 1:
        raise ValueError(f"attach: entity '{child.name}' has several trees, which begin with {', '.join(roots)}")
    link = parent.links[0] if link_name is None else parent.get_link(link_name)
    last = parent.links[-1]
    while last is not link:
        if last.parent_idx_local < 0:
            ends = parent.links[-1].name
            advice = "put the branch with this link last in the file"
            if ends == WORLD:
                advice = f"'{ends}' has the geoms of the file's world: make them a separate entity"
            raise ValueError(
                f"attach: link '{link.name}' of entity '{parent.name}' does not carry its last link '{ends}', after "
                f"which the numbers of attached entities follow; {advice}"
            )
        last = parent.links[last.parent_idx_local]
    for joint in list(piece.spec.body(roots[0]).joints):
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            piece.spec.delete(joint)
    piece.onto = f"{parent.name}{SEPARATOR}{link.name}"
    piece.pos = piece.pos if pos is None else numbers("attach", "pos", pos, 3)
    piece.quat = piece.quat if quat is None else tuple(unit_quat(quat).tolist())
    child.attached_to, child.attached_link = parent, link
    return Outline.of(piece.spec)


def in_order(entities: Sequence[Any]) -> list[Any]:
    """Return entities in the order of their links in the compiled model: attached entities follow their carriers."""
    return [found for entity in entities if not entity.is_attached for found in _with_carried(entity, entities)]


def _with_carried(entity: Any, entities: Sequence[Any]) -> list[Any]:
    carried = [each for each in entities if each.attached_to is entity]
    carried.sort(key=lambda each: -each.attached_link.idx_local)  # MuJoCo numbers deeper bodies of the tree first
    return [entity, *(found for each in carried for found in _with_carried(each, entities))]
