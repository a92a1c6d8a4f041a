"""Pairs of shapes at MuJoCo's default search: `ccd_tolerance` 1e-6, 35 iterations; without a margin, and with one.

There an answer is one of many that are within the tolerance, and the way of the search says which: Tumble's is to be
MuJoCo's all the same. Where the two differ, the exact depth (`exact`) says who is right.
"""

from typing import Any

import mujoco
import numpy as np

import tumble

from ..test_convex_pairs import REACH, geoms, poses, theirs
from .exact import depth, shape_of, width
from .pairs import FOUND, Asked, Scene, ask, check_wrenches, compare_sets
from .pairs_page import REASONS

TOLERANCE = 1e-6  # m: the default
RESTING = (1e-6, 1e-3)
"""m: depths of half of the poses, as bodies at rest have them."""
JUDGED = 60
"""Overlapping poses of a pair whose depth is compared with the exact one."""


def rows(count: int) -> list[dict[str, Any]]:
    """A row for each pair, of so many poses; takes minutes."""
    tumble.init(precision="64")
    scene = Scene.of_the_table()
    qpos = resting(scene, poses(scene.model("enable"), scene.names, count, far=0.1))
    alone = ask(scene.model("disable", "", 0.0), qpos)
    found = []
    for reach in (0.0, REACH):
        asked = ask(scene.model("enable", "", reach), qpos)
        part, differ = compare_sets(scene, asked)
        explain(part, asked, check_wrenches(asked, differ))
        found.append(part)
    judge_depths(found[0], alone)
    return [{**bare, "margin": far} for bare, far in zip(*found, strict=True)]


def resting(scene: Scene, qpos: np.ndarray) -> np.ndarray:
    """Half of the poses, moved along MuJoCo's normal to a depth as bodies at rest have it."""
    mjm, rng = scene.model("disable"), np.random.default_rng(7)
    qpos, low, high = qpos.copy(), *np.log10(RESTING)
    for env, found in enumerate(theirs(mjm, qpos)):
        for k, contacts in found.items():
            if rng.random() < 0.5:
                sign = 1 if geoms(mjm, k)[0] == mjm.geom(f"fixed{k}").id else -1
                wanted = -(10 ** rng.uniform(low, high))
                qpos[env, 7 * k : 7 * k + 3] += sign * contacts[0, 4:] * (wanted - contacts[0, 0])
    return qpos


def shapes_at(mjm: mujoco.MjModel, data: mujoco.MjData, qpos: np.ndarray, k: int) -> list:
    """Both shapes of a pair at a pose, the smaller type first."""
    data.qpos[:] = qpos
    mujoco.mj_kinematics(mjm, data)
    return [shape_of(mjm, data, g) for g in geoms(mjm, k)]


def explain(rows: list[dict[str, Any]], asked: Asked, alike: dict[tuple[int, int], bool]) -> None:
    """Sort what differs by its reason, the first that holds; adds these counts to the rows.

    `wrench`: the same wrench is supported. `place`: as many contacts, as deep, of one normal, elsewhere.
    `theirs`: MuJoCo's deepest contact is not as deep as the shapes are, Tumble's is. `tie`: across Tumble's normal and
    MuJoCo's the shapes are equally deep, to the tolerance. `slight`: the shapes are no deeper than two tolerances, so
    that there is no direction. `rest`.
    """
    data = mujoco.MjData(asked.mjm)
    for row in rows:
        row.update(dict.fromkeys(REASONS, 0))
    for (env, k), fine in alike.items():
        reason = "wrench" if fine else _reason(asked, data, env, k)
        rows[k][reason] += 1


def _reason(asked: Asked, data: mujoco.MjData, env: int, k: int) -> str:
    mine, yours = asked.mine[env].get(k), asked.yours[env].get(k)
    one, other = shapes_at(asked.mjm, data, asked.qpos[env], k)
    if min(contacts[:, 0].min() for contacts in (mine, yours) if contacts is not None) >= 0:
        return "rest"  # apart: the depth says nothing
    truth, _ = depth(one, other)
    if truth < 2 * TOLERANCE:
        return "slight"
    if mine is None or yours is None:
        return "rest"
    deepest = [contacts[:, 0].min() for contacts in (mine, yours)]
    turned = np.abs(mine[:, None, 4:] - yours[None, :, 4:]).max(axis=2).min(axis=1).max()
    if len(mine) == len(yours) and abs(deepest[0] - deepest[1]) < TOLERANCE and turned < FOUND[1]:
        return "place"
    off = [abs(-deep - truth) > FOUND[0] for deep in deepest]
    if off == [False, True]:
        return "theirs"
    ways = [contacts[contacts[:, 0].argmin(), 4:] for contacts in (mine, yours)]
    widths = [float(width(one, other, way / np.linalg.norm(way))) - truth for way in ways]
    return "tie" if max(widths) < 2 * TOLERANCE else "rest"


def judge_depths(rows: list[dict[str, Any]], alone: Asked) -> None:
    """One contact a pair: adds `judged`, and of both sides the worst error of a depth, `mine_off` and `mujoco_off`."""
    data = mujoco.MjData(alone.mjm)
    for k, row in enumerate(rows):
        off = []
        for env, both in enumerate(alone.mine):
            mine, yours = both.get(k), alone.yours[env].get(k)
            if row["closed"] or mine is None or yours is None or len(off) == JUDGED:
                continue
            truth, _ = depth(*shapes_at(alone.mjm, data, alone.qpos[env], k))
            off.append([abs(-contacts[0, 0] - truth) for contacts in (mine, yours)])
        worst = np.max(off, axis=0) if off else np.zeros(2)
        row.update(judged=len(off), mine_off=float(worst[0]), mujoco_off=float(worst[1]))
