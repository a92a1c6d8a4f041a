"""The numbers of a chain inside a kernel: the properties of its bodies and joints, and a worker's buffers.

A chain is the part of a model that moves some targets (`chain.py`). Its bodies, joints, coordinates and dofs are
renumbered; body 0 is the world. Positions are from the origin of the world, all numbers in double precision.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import taichi as ti
from taichi.lang.impl import subscript

from ...base.fields import OFFSET_BITS, Field, FieldView, below, flat_array, ids, layout
from ...base.math import Lanes
from ...base.math.lanes import let, traced
from ...base.math.vector import zero_vector

SIZES = ("nbody", "njnt", "nq", "nv", "ntarget", "nrow", "nlaw", "nterm")
"""Sizes at the front of a chain's integers; there are six rows for each target, and five terms of each law."""
INTEGERS = (
    ids("body_parentid", ("nbody",), "the parent"),
    ids("body_is_free", ("nbody",), "1 if the only joint is a free joint"),
    ids("body_jntadr", ("nbody",), "the first joint"),
    ids("body_jntnum", ("nbody",), "the number of joints"),
    ids("jnt_type", ("njnt",), "the type, as base/joints.py has it"),
    ids("jnt_qposadr", ("njnt",), "the first coordinate"),
    ids("jnt_dofadr", ("njnt",), "the first dof"),
    ids("jnt_at_origin", ("njnt",), "1 if the anchor is the origin of the body"),
    ids("jnt_turn_limited", ("njnt",), "1 if the joint is a rotation by a quaternion, whose angle is limited"),
    ids("dof_moves", ("nv",), "1 if the dof may be changed"),
    ids("dof_limited", ("nv",), "1 if the dof is that of a coordinate with limits"),
    ids("dof_absolute", ("nv",), "1 if the coordinate is drawn, 0 if a change of it"),
    ids("dof_qposadr", ("nv",), "the coordinate of a dof of a hinge or slide"),
    ids("target_body", ("ntarget",), "the body"),
    ids("target_turning", ("ntarget",), "the part that is aligned: 0 nothing, 1 to 3 the x, y or z axis, 4 all axes"),
    ids("target_dof", ("ntarget", "nv"), "1 if the dof moves the target's body"),
    ids("law_follower", ("nlaw",), "the dof whose coordinate the law gives"),
    ids("law_leader", ("nlaw",), "the dof of whose coordinate the law is a polynomial"),
)
REALS = (
    Field("body_pos", ("nbody",), 3, "m", "the body in its parent"),
    Field("body_quat", ("nbody",), 4, "", "the body in its parent"),
    Field("jnt_axis", ("njnt",), 3, "", "the axis"),
    Field("jnt_pos", ("njnt",), 3, "m", "the anchor"),
    Field("jnt_most", ("njnt",), 1, "rad", "the largest angle, if it is limited"),
    Field("qpos0", ("nq",), 1, "m or rad", "coordinates of the reference"),
    Field("dof_lower", ("nv",), 1, "m or rad", "the least coordinate, if it is limited"),
    Field("dof_upper", ("nv",), 1, "m or rad", "the largest coordinate, if it is limited"),
    Field("draw_low", ("nv",), 1, "m or rad", "the least number that is drawn"),
    Field("draw_high", ("nv",), 1, "m or rad", "the largest number that is drawn"),
    Field("target_point", ("ntarget",), 3, "m", "the point, in the frame of the body"),
    Field("target_quat", ("ntarget",), 4, "", "the frame, in that of the body"),
    Field("target_mask", ("ntarget",), 3, "", "1 for axes of the world along which the position counts"),
    Field("law", ("nlaw", "nterm"), 1, "", "coefficients of laws, as couplings.py has them"),
)
WORK = (
    Field("qpos", ("nq",), 1, "m or rad", "the configuration"),
    Field("start_qpos", ("nq",), 1, "m or rad", "the configuration before a change"),
    Field("best_qpos", ("nq",), 1, "m or rad", "the nearest configuration so far"),
    Field("change", ("nv",), 1, "m or rad", "a change of the configuration"),
    Field("open", ("nv",), 1, "", "1 for dofs that may be changed, and are not held by a limit"),
    Field("xpos", ("nbody",), 3, "m", "positions of bodies"),
    Field("xquat", ("nbody",), 4, "", "orientations of bodies"),
    Field("anchor_offset", ("njnt",), 3, "m", "anchors of joints"),
    Field("xaxis", ("njnt",), 3, "", "axes of joints"),
    Field("cdof", ("nv",), 6, "", "motion of dofs at the origin of the world"),
    Field("error", ("nrow",), 1, "m or rad", "of each target three lengths, and a rotation vector"),
    Field("jac", ("nrow", "nv"), 1, "", "derivatives of the targets' errors"),
    Field("normal", ("nrow", "nrow"), 1, "", "the damped matrix, then its Cholesky factor"),
    Field("pull", ("nrow",), 1, "", "the solution of the damped equations"),
)
_PLACE = {name: k for k, name in enumerate(SIZES)}
NO_OPTIONS = SimpleNamespace(mixed_precision=False)


def places(sizes: dict[str, int]) -> np.ndarray:
    """Return where every field begins in its array, in the order of INTEGERS, REALS, WORK, then the rows of WORK."""
    parts = [layout(fields, sizes) for fields in (INTEGERS, REALS, WORK)]
    starts = [[start + (len(SIZES) if k == 0 else 0) for start in found.values()] for k, (found, _) in enumerate(parts)]
    return np.array([*starts[0], *starts[1], *starts[2], parts[2][1]], np.int32)


class Always:
    """A field of which every item is the same."""

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, item: Any) -> None:
        self._item = item

    @traced
    def __getitem__(self, index: Any) -> Any:
        return self._item


class ChainView:
    """The constant numbers of a chain, by the names that the solver's kinematics uses for a model.

    Args:
        ints: the chain's integers.
        reals: real numbers of all rows, flat.
        begins: where every field begins (`places`).
        first: where the row begins.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, ints: Any, reals: Any, begins: Any, first: Any) -> None:
        self.has, self.body_rootid = NO_OPTIONS, Always(0)
        sizes = {name: let(below(16, subscript(None, ints, k))) for name, k in _PLACE.items()}
        vars(self).update(sizes)
        integer, number = flat_array(ints), flat_array(reals)
        for k, field in enumerate((*INTEGERS, *REALS)):
            start = subscript(None, begins, k)
            base = let(below(OFFSET_BITS, start if field in INTEGERS else start + first))
            inner = sizes[field.dims[1]] if len(field.dims) == 2 else None
            setattr(self, field.name, FieldView(field, base, inner, integer if field in INTEGERS else number))


class ChainWork:
    """The numbers of one worker, by the names that the solver's kinematics uses for a workspace.

    Args:
        numbers: the numbers of all workers, flat.
        begins: where every field begins (`places`).
        chain: the chain.
        worker: the number of the worker.
        row: steps from a number to the next.
        step: steps from a worker to the next.
    """

    _data_oriented = True
    _is_wrapped_kernel = True

    def __init__(self, numbers: Any, begins: Any, chain: ChainView, worker: Any, row: Any, step: Any) -> None:
        self.lanes = self.precise_lanes = self.double_lanes = Lanes(1, ti.f64)
        first = let(worker * step)

        def number(i: Any) -> Any:
            return subscript(None, numbers, first + i * row)

        for k, field in enumerate(WORK, len(INTEGERS) + len(REALS)):
            inner = getattr(chain, field.dims[1]) if len(field.dims) == 2 else None
            base = let(below(OFFSET_BITS, subscript(None, begins, k)))
            setattr(self, field.name, FieldView(field, base, inner, number))
        self.qpos_rest = vars(self)["qpos"]  # asked for by name, and not read in double precision
        self.com_offset = Always(zero_vector(self.lanes))  # motions of dofs are at the origin of the world

    @traced
    def real(self, value: Any) -> Any:
        """Return a number at this precision."""
        return self.lanes.real(value)
