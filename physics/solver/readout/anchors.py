"""The places of joints in the world."""

from collections.abc import Callable

import mujoco
import numpy as np
import torch

from ...base.joints import is_free, is_scalar, is_slide
from ...base.rotations import quat_mul, rotate

Numbers = Callable[[str], torch.Tensor]


def anchor_of(mj: mujoco.MjModel, joint: int, quantity: Numbers, parameter: Numbers) -> torch.Tensor:
    """Return the anchor of a joint, (n, 3) m, at the place where its motion begins, as MuJoCo's xanchor.

    Args:
        mj: the model.
        joint: number of the joint.
        quantity: qpos, xpos and xquat by name, (n, ...).
        parameter: body_pos, body_quat and qpos0 by name, (n, ...).
    """
    qpos, body = quantity("qpos"), int(mj.jnt_bodyid[joint])
    if is_free(mj.jnt_type[joint]):
        return quantity("xpos")[:, body]
    parent = int(mj.body_parentid[body])
    quat = quantity("xquat")[:, parent]
    pos = quantity("xpos")[:, parent] + rotate(quat, parameter("body_pos")[:, body])
    quat = quat_mul(quat, parameter("body_quat")[:, body])
    for other in range(int(mj.body_jntadr[body]), joint):
        # the joints of a link move it one after the other
        axis, arm = (quat.new_tensor(np.array(v[other])).expand(len(quat), 3) for v in (mj.jnt_axis, mj.jnt_pos))
        q = int(mj.jnt_qposadr[other])
        if not is_scalar(mj.jnt_type[other]):
            turn = qpos[:, q : q + 4] / qpos[:, q : q + 4].norm(dim=-1, keepdim=True)
        else:
            moved = (qpos[:, q] - parameter("qpos0")[:, q])[:, None]
            if is_slide(mj.jnt_type[other]):
                pos = pos + rotate(quat, axis) * moved
                continue
            turn = torch.cat(((moved / 2).cos(), (moved / 2).sin() * axis), -1)
        anchor = pos + rotate(quat, arm)
        quat = quat_mul(quat, turn)
        pos = anchor - rotate(quat, arm)
    return pos + rotate(quat, quat.new_tensor(np.array(mj.jnt_pos[joint])).expand(len(quat), 3))
