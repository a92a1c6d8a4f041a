"""Where joints are in the world."""

from typing import Any

import mujoco
import numpy as np
import torch

from ..physics.readout.derived import multiply, rotate

_TYPES = mujoco.mjtJoint


def anchor_of(world: Any, joint: int, envs: Any) -> torch.Tensor:
    """Return the anchor of a joint, (n, 3) m, at the place where its own motion begins, as MuJoCo's xanchor."""
    mj, qpos = world.model.mj, world.get("qpos", envs)
    body = int(mj.jnt_bodyid[joint])
    if mj.jnt_type[joint] == _TYPES.mjJNT_FREE:
        return world.get("xpos", envs)[:, body]
    parent = int(mj.body_parentid[body])
    quat, pos = world.get("xquat", envs)[:, parent], world.get("xpos", envs)[:, parent]
    pos = pos + rotate(quat, world.parameter("body_pos", envs)[:, body])
    quat = multiply(quat, world.parameter("body_quat", envs)[:, body])
    reference = world.parameter("qpos0", envs)
    for other in range(int(mj.body_jntadr[body]), joint + 1):
        # the joints of a link move it one after the other
        arm, axis = (quat.new_tensor(np.array(v[other])).expand(len(quat), 3) for v in (mj.jnt_pos, mj.jnt_axis))
        anchor = pos + rotate(quat, arm)
        if other == joint:
            return anchor
        q = int(mj.jnt_qposadr[other])
        if mj.jnt_type[other] == _TYPES.mjJNT_SLIDE:
            pos = pos + rotate(quat, axis) * (qpos[:, q] - reference[:, q])[:, None]
            continue
        if mj.jnt_type[other] == _TYPES.mjJNT_BALL:
            turn = qpos[:, q : q + 4] / qpos[:, q : q + 4].norm(dim=-1, keepdim=True)
        else:
            half = ((qpos[:, q] - reference[:, q]) / 2)[:, None]
            turn = torch.cat((half.cos(), half.sin() * axis), -1)
        quat = multiply(quat, turn)
        pos = anchor - rotate(quat, arm)
    raise AssertionError("a joint is one of its body's")
