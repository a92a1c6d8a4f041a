"""Every pair of geom types against MuJoCo and coal, in numbers, and the page docs/reference/pairs.md.

    python -m tests.physics.parity.pairs --json docs/reference/pairs.json --write docs/reference/pairs.md

Parts that the file `--json` has already are not computed again. Exit status 1 where something is beyond its bar.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch

import tumble
from tumble.physics import Model, RigidSolver
from tumble.physics.mechanics.collision.pair_table import PAIR_TABLE

from ..test_convex_pairs import ALL, MESHES, REACH, gap_along, geoms, listed, poses, same, theirs
from . import pairs_page

APART, ROW = 1.0, 6
"""Metres between cells of a grid, and cells in a row: far from the origin single precision rounds positions more."""
BESIDE, MOVED = 8, 1e-10
"""Poses beside each one, metres and radians away, at which MuJoCo is asked as well."""
CLOSED = (1e-10, 1e-9)
"""m: errors of a closed form at the pose (1e-9 of a decimetre), and beside it, where MuJoCo's contacts move too."""
FOUND = (1e-5, 1.7e-3)
"""Of contacts that are searched for: m, and 0.1 degrees."""
DEPTH = 1e-6  # m
SINGLE = (1e-4, 1e-2)
"""Of contacts in single precision: m, and 0.6 degrees; clipping divides what poses and normals are rounded by."""
PUSH, G, ALIKE = 100.0, 9.81, 1e-3
"""Two loads: the weight and so many newtons. Accelerations may differ by this part of the larger of g and F / m."""
SIZE = 0.1  # m: what an angular acceleration is multiplied by, to compare it with g
EXACT = 'ccd_tolerance="1e-12" ccd_iterations="500"'
"""How convex collision searches if both sides are to find the same depths to rounding; "": MuJoCo's defaults."""


class Scene(NamedTuple):
    """All pairs of one model, or some: `names` of both shapes of each, and whether there is a closed form."""

    names: list[tuple[str, str]]
    closed: list[bool]

    @classmethod
    def of_the_table(cls) -> "Scene":
        """Every row of `PAIR_TABLE` without fields; meshes are a stone where the other is round, else a prism."""
        names = []
        rows = [row for row in PAIR_TABLE if not {"HFIELD", "SDF"} & {row.type1, row.type2}]
        for row in rows:
            stone = {row.type1, row.type2} & {"SPHERE", "CAPSULE", "ELLIPSOID"}
            mesh = ("cube", "pebble" if stone else "prism")
            kinds = (row.type1, row.type2)
            names.append(tuple(mesh[i] if kind == "MESH" else kind.lower() for i, kind in enumerate(kinds)))
        return cls(names, [row.group != "convex" for row in rows])

    def model(self, several: str, search: str = EXACT, reach: float = REACH) -> mujoco.MjModel:
        """For each pair a fixed geom and a free body with three motors along the world's axes; flag multiccd.

        Contacts are as good as rigid and push nothing out: accelerations tell what wrenches they support.

        Args:
            several: "enable" or "disable": the flag multiccd.
            search: options of the search of convex shapes.
            reach: detection distance of each pair (m).
        """
        world, motors = "", ""
        for k, (a, b) in enumerate(self.names):
            place = f'pos="{(k % ROW - ROW // 2) * APART} {(k // ROW - 2) * APART} 0"'
            world += f'<geom name="fixed{k}" {ALL[a]} {place} contype="{1 << k}" conaffinity="0"/>'
            world += f'<body name="body{k}" {place}><joint name="free{k}" type="free"/>'
            world += f'<geom name="moving{k}" {ALL[b]} contype="0" conaffinity="{1 << k}"/></body>'
            for axis in ("1 0 0", "0 1 0", "0 0 1"):
                motors += f'<motor joint="free{k}" gear="{axis} 0 0 0"/>'
        return mujoco.MjModel.from_xml_string(
            f'<mujoco><option gravity="0 0 0" {search} tolerance="1e-12" '
            f'iterations="100" jacobian="dense"><flag multiccd="{several}"/></option><default>'
            f'<geom margin="{reach / 4}" gap="{reach / 4}" solref="-1e-9 -100" solimp=".9999 .9999"/></default>'
            f"{MESHES}<worldbody>{world}</worldbody><actuator>{motors}</actuator></mujoco>"
        )


class Asked(NamedTuple):
    """What both say of n poses of every pair.

    Attributes:
        mjm: the model.
        qpos: (n, nq).
        solver: Tumble's, evaluated.
        mine: Tumble's contacts by pair, of every pose.
        yours: MuJoCo's.
    """

    mjm: mujoco.MjModel
    qpos: np.ndarray
    solver: RigidSolver
    mine: list[dict]
    yours: list[dict]


def ask(mjm: mujoco.MjModel, qpos: np.ndarray) -> Asked:
    """Tumble and MuJoCo, in Tumble's present precision."""
    solver = RigidSolver(Model.from_mjmodel(mjm), len(qpos))
    state = torch.as_tensor(qpos, dtype=solver.dtype)
    solver.set_state(qpos=state)
    solver.forward()
    found = solver.contacts
    mask, geom, dist, pos, frame = (
        part.cpu().double().numpy() for part in (found.mask, found.geom, found.dist, found.pos, found.frame)
    )
    mask, geom, flat = mask > 0, geom.astype(int), frame.reshape(*frame.shape[:2], 9)
    mine = [listed(mjm, geom[i][m], dist[i][m], pos[i][m], flat[i][m]) for i, m in enumerate(mask)]
    held = state.double().numpy()
    return Asked(mjm, held, solver, mine, theirs(mjm, held))


def closest(mine: np.ndarray | None, answers: list[np.ndarray | None]) -> np.ndarray | None:
    """Largest errors of distance, place, normal (3,) from the first answer with as many contacts; None: no such one."""
    for yours in answers:
        if mine is not None and yours is not None and len(mine) == len(yours):
            left, errors = list(yours), []
            for contact in mine:
                best = min(range(len(left)), key=lambda i: np.abs(left[i] - contact).max())
                errors.append(np.abs(left.pop(best) - contact))
            worst = np.max(errors, axis=0)
            return np.array([worst[0], worst[1:4].max(), worst[4:].max()])
    return None


def _once(contacts: np.ndarray | None) -> np.ndarray | None:
    """Without contacts at the place of another: rounding says whether MuJoCo has both (`collision.capsule_box`)."""
    if contacts is None or len(contacts) != 2 or np.abs(contacts[0] - contacts[1]).max() > CLOSED[1]:
        return contacts
    return contacts[:1]


def compare_sets(scene: Scene, asked: Asked) -> tuple[list[dict[str, Any]], list[tuple[int, int]]]:
    """A row for each pair; and of what differs (pose, pair)."""
    rng = np.random.default_rng(1)
    shifted = [asked.qpos + MOVED * rng.standard_normal(asked.qpos.shape) for _ in range(BESIDE)]
    beside = [theirs(asked.mjm, qpos) for qpos in shifted]
    rows, differ = [], []
    for k, names in enumerate(scene.names):
        first, second = CLOSED if scene.closed[k] else FOUND[:1] * 2
        turn = 1e-8 if scene.closed[k] else FOUND[1]
        touching = at_pose = close = 0
        errors = [np.zeros(3)]
        for env, found in enumerate(asked.mine):
            mine, yours, others = found.get(k), asked.yours[env].get(k), [other[env].get(k) for other in beside]
            touching += yours is not None
            if same(mine, yours, first, turn):
                at_pose += yours is not None
                errors.append(closest(mine, [yours]) if yours is not None else np.zeros(3))
            elif any(same(mine, _once(other), second, turn) for other in (yours, *others)):
                close += 1
            else:
                differ.append((env, k))
        worst = np.max(errors, axis=0)
        rows.append(
            {
                "pair": "-".join(names).replace("pebble", "mesh").replace("prism", "mesh").replace("cube", "mesh"),
                "closed": scene.closed[k],
                "poses": len(asked.qpos),
                "touching": touching,
                "at_pose": at_pose,
                "beside": close,
                "differ": sum(pair == k for _, pair in differ),
                "worst": worst.tolist(),
            }
        )
    return rows, differ


def check_wrenches(asked: Asked, differ: list[tuple[int, int]]) -> dict[tuple[int, int], bool]:
    """Where sets of contacts differ: whether bodies under a load move alike, to `ALIKE`, at the pose or beside it.

    The load presses the free body along the mean normal: its weight at g, then its weight and `PUSH`.
    """
    mjm, solver = asked.mjm, asked.solver
    count, npair = len(asked.qpos), mjm.ngeom // 2
    mass = np.array([mjm.body(f"body{k}").mass[0] for k in range(npair)])
    way = np.zeros((count, npair, 3))
    for env, k in differ:
        contacts = asked.yours[env].get(k, asked.mine[env].get(k))
        away = contacts[:, 4:].mean(axis=0) * (1 if geoms(mjm, k)[0] == mjm.geom(f"fixed{k}").id else -1)
        way[env, k] = -away / max(np.linalg.norm(away), 1e-9)
    rng, data = np.random.default_rng(2), mujoco.MjData(mjm)
    alike = dict.fromkeys(differ, True)
    for push in (0.0, PUSH):
        ctrl = way * (mass * G + push)[:, None]
        solver.set_state(qpos=torch.as_tensor(asked.qpos, dtype=solver.dtype))
        solver.ctrl = torch.as_tensor(ctrl.reshape(count, -1), dtype=solver.dtype)
        solver.forward()
        ours = solver.get("qacc").double().numpy()
        bar = ALIKE * np.maximum(G, push / mass)
        for env in sorted({env for env, _ in differ}):
            answers = []
            for turn in range(BESIDE + 1):
                mujoco.mj_resetData(mjm, data)
                data.qpos[:] = asked.qpos[env] + (turn > 0) * MOVED * rng.standard_normal(mjm.nq)
                data.ctrl[:] = ctrl[env].ravel()
                mujoco.mj_forward(mjm, data)
                answers.append(np.array(data.qacc))
            off = np.abs(np.array(answers) - ours[env]).reshape(BESIDE + 1, npair, 6) * ([1] * 3 + [SIZE] * 3)
            for k in (k for other, k in differ if other == env):
                alike[env, k] &= bool(off[:, k].max(axis=1).min() <= bar[k])
    return alike


def explain(rows: list[dict[str, Any]], asked: Asked, single: Asked, alike: dict[tuple[int, int], bool]) -> None:
    """Sort what differs by its reason, the first that holds; adds these counts to the rows.

    `wrench`: the same wrench is supported. `place`: as many contacts, as deep, of one normal, elsewhere: along parallel
    edges and faces. `theirs`: MuJoCo's deepest contact is not as deep as its own GJK and EPA say, Tumble's is. `rest`.
    """
    for row in rows:
        row.update(dict.fromkeys(("wrench", "place", "theirs", "rest"), 0))
    for (env, k), fine in alike.items():
        mine, yours = asked.mine[env].get(k), asked.yours[env].get(k)
        truth = single.yours[env].get(k)
        reason = "rest"
        if fine:
            reason = "wrench"
        elif mine is not None and yours is not None:
            alone = [np.sort(contacts[:, 0]) for contacts in (mine, yours)]
            if len(mine) == len(yours) and np.abs(alone[0] - alone[1]).max() < DEPTH:
                turned = np.abs(mine[:, None, 4:] - yours[None, :, 4:]).max(axis=2).min(axis=1)
                reason = "place" if turned.max() < FOUND[1] else "rest"
            elif truth is not None:
                off = [abs(contacts[:, 0].min() - truth[0, 0]) > FOUND[0] for contacts in (mine, yours)]
                reason = "theirs" if off == [False, True] else "rest"
        rows[k][reason] += 1


def check_depths(rows: list[dict[str, Any]], asked: Asked) -> None:
    """One contact a pair: depths and normals where MuJoCo's normal proves its depth; adds `depth` to the rows.

    Numbers of: poses compared, those whose depth differs by more than `DEPTH`, those whose normal differs by more than
    0.1 degrees, and of these the ones where both normals prove the same depth; then the worst difference in depth.
    """
    data = mujoco.MjData(asked.mjm)
    for k, row in enumerate(rows):
        pair, found = geoms(asked.mjm, k), []
        for env, both in enumerate(asked.mine):
            mine, yours = both.get(k), asked.yours[env].get(k)
            if row["closed"] or mine is None or yours is None:
                continue
            data.qpos[:] = asked.qpos[env]
            mujoco.mj_kinematics(asked.mjm, data)
            proven, ours = (
                gap_along(asked.mjm, data, pair, c[0, 4:] / np.linalg.norm(c[0, 4:])) for c in (yours, mine)
            )
            if abs(proven - yours[0, 0]) < 1e-9:
                angle = np.linalg.norm(np.cross(mine[0, 4:], yours[0, 4:]))
                found.append((abs(mine[0, 0] - yours[0, 0]), angle, abs(ours - proven)))
        far, angle, gap = np.transpose(found) if found else np.zeros((3, 0))
        turned = angle > FOUND[1]
        row["depth"] = [len(far), int((far > DEPTH).sum()), int(turned.sum()), int((turned & (gap < DEPTH)).sum())]
        row["deepest"] = float(far.max(initial=0.0))


def check_single(rows: list[dict[str, Any]], asked: Asked, single: Asked) -> None:
    """In single precision: adds `single`, of the depth of one contact a pair the median, 99 % and worst, and `alike`.

    `alike` is the share of the sets of contacts that are MuJoCo's to `SINGLE`.
    """
    for k, row in enumerate(rows):
        found, alike, either = [], 0, 0
        for env in range(len(asked.mine)):
            mine, yours = (side[env].get(k) for side in (single.mine, single.yours))
            if mine is not None and yours is not None:
                found.append(abs(mine[:, 0].min() - yours[:, 0].min()))
            mine, yours = (side[env].get(k) for side in (asked.mine, asked.yours))
            either += mine is not None or yours is not None
            alike += (mine is not None or yours is not None) and same(mine, yours, *SINGLE)
        row["single"] = np.quantile(found, [0.5, 0.99, 1]).tolist()
        row["alike"] = alike / max(either, 1)


def measure(count: int) -> list[dict[str, Any]]:
    """All rows of the exact search; takes minutes."""
    scene = Scene.of_the_table()
    mjm, one = scene.model("enable"), scene.model("disable")
    qpos = poses(mjm, scene.names, count, far=0.1)
    tumble.init(precision="64")
    asked, single = ask(mjm, qpos), ask(one, qpos)
    rows, differ = compare_sets(scene, asked)
    explain(rows, asked, single, check_wrenches(asked, differ))
    check_depths(rows, single)
    tumble.init(precision="32")
    check_single(rows, ask(mjm, qpos), ask(one, qpos))
    return rows


def main() -> int:
    """Command line; see the module docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--poses", type=int, default=2000, help="of a pair, against MuJoCo")
    parser.add_argument("--defaults", type=int, default=2000, help="of a pair, at MuJoCo's default search")
    parser.add_argument("--coal", type=int, default=20_000, help="of a pair, against coal; 0: none")
    parser.add_argument("--json", type=Path, help="where the numbers are kept")
    parser.add_argument("--write", type=Path, help="the page")
    given = parser.parse_args()
    kept: dict[str, Any] = json.loads(given.json.read_text()) if given.json and given.json.exists() else {}
    kept.setdefault("version", mujoco.__version__)
    if "mujoco" not in kept:
        kept["mujoco"] = measure(given.poses)
    if "defaults" not in kept:
        from . import pairs_defaults

        kept["defaults"] = pairs_defaults.rows(given.defaults)
    if "coal" not in kept and given.coal:
        from . import pairs_coal

        kept["coal"] = pairs_coal.rows(given.coal)
    if given.json:
        given.json.write_text(json.dumps(kept, indent=1) + "\n")
    text = pairs_page.page(kept, REACH, BESIDE)
    if given.write:
        given.write.write_text(text)
    else:
        print(text)
    wrong = pairs_page.beyond(kept["mujoco"], kept["defaults"], kept.get("coal", []))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
