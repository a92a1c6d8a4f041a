"""Contacts and distances of convex shapes against coal, an independent library, and against proofs by planes.

`pip install -c constraints.txt -e ".[test,coal]"` brings it; the long form, 20,000 poses a pair, is `-m slow`.
"""

from typing import NamedTuple

import mujoco
import numpy as np
import pytest
import torch

import tumble
from tumble.physics import Model, RigidSolver

pytest.importorskip("coal")

from .coal_oracle import PAIRS, SHAPES, Answers, Poses, ask_coal, draw_poses, gap_along, rotations

APART, CHUNK = 2.0, 2000
CLEAR = 1e-7  # m: what counts as apart or overlapping for certain; both libraries end at 1e-10 or better
EXACT = 1e-8  # m: a distance and the gap across its own direction, which is divided by a distance of 1e-7 or more
SHALLOWER = {("capsule", "box"): 0.35, ("box", "box"): 0.1}
"""Share of contacts that need not be the shortest way out: closed forms, equal to MuJoCo's, which look at the capsule's
ends and its nearest point, and take a box's face where an edge is hardly shallower."""


class Found(NamedTuple):
    """What Tumble says of the poses of a pair.

    Attributes:
        query: by `solver.distance`.
        back: the same with both geoms swapped.
        touching: whether there is a contact, (n,).
        contact: the deepest.
    """

    query: Answers
    back: Answers
    touching: np.ndarray
    contact: Answers


def side_by_side(seed: int | None = None, several: str = "enable") -> mujoco.MjModel:
    """For each pair a fixed and a free body, which touch nothing else; with a seed, all of them moved and turned.

    `several` is the flag multiccd: "disable" for one contact a pair, where GJK or EPA found it.
    """
    rng = np.random.default_rng(seed)
    meshes = "".join(shape.asset for shape in SHAPES.values())
    world = ""
    for k, (a, b) in enumerate(PAIRS):
        pos, quat = np.array([k * APART, 0, 0]), np.array([1.0, 0, 0, 0])
        if seed is not None:
            pos, quat = pos + rng.uniform(-0.5, 0.5, 3), rng.standard_normal(4)
        place = f'pos="{" ".join(map(str, pos))}" quat="{" ".join(map(str, quat))}"'
        world += (
            f'<body name="fixed{k}" {place}><geom name="fixed{k}" {SHAPES[a].attributes} contype="{1 << k}" '
            f'conaffinity="0"/></body><body name="moving{k}"><freejoint/><geom name="moving{k}" {SHAPES[b].attributes} '
            f'contype="0" conaffinity="{1 << k}"/></body>'
        )
    option = f'<option ccd_tolerance="1e-12" ccd_iterations="500"><flag multiccd="{several}"/></option>'
    xml = f"<mujoco>{option}<asset>{meshes}</asset><worldbody>{world}</worldbody></mujoco>"
    return mujoco.MjModel.from_xml_string(xml)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of quaternions (4,) and (n, 4)."""
    out = np.zeros_like(b)
    for row, turn in zip(out, b, strict=True):
        mujoco.mju_mulQuat(row, a, turn)
    return out


def placed(mjm: mujoco.MjModel, poses: list[Poses]) -> np.ndarray:
    """The coordinates (n, nq) of the moving bodies, their geoms in these poses from the fixed geoms."""
    data = mujoco.MjData(mjm)
    mujoco.mj_kinematics(mjm, data)
    qpos = np.zeros((len(poses[0].turn), mjm.nq))
    for k, (position, turn) in enumerate(poses):
        fixed, moving = mjm.geom(f"fixed{k}").id, mjm.geom(f"moving{k}").id
        axes, quat = data.geom_xmat[fixed].reshape(3, 3), np.zeros(4)
        mujoco.mju_mat2Quat(quat, data.geom_xmat[fixed])
        inverse = mjm.geom_quat[moving] * (1, -1, -1, -1)
        turned = product(quat, turn)
        body = np.array([np.zeros(4)] * len(turned))
        for row, geom in zip(body, turned, strict=True):
            mujoco.mju_mulQuat(row, geom, inverse)
        center = data.geom_xpos[fixed] + position @ axes.T
        qpos[:, 7 * k : 7 * k + 3] = center - np.einsum("nij,j->ni", rotations(body), mjm.geom_pos[moving])
        qpos[:, 7 * k + 3 : 7 * k + 7] = body
    return qpos


def ask_tumble(mjm: mujoco.MjModel, poses: list[Poses]) -> list[Found]:
    """Contacts and distances of every pair, directions in the frame of the fixed geom."""
    qpos = placed(mjm, poses)
    parts = [_ask_some(mjm, qpos[start : start + CHUNK]) for start in range(0, len(qpos), CHUNK)]
    return [_joined([part[k] for part in parts]) for k in range(len(PAIRS))]


def _joined(found: list[Found]) -> Found:
    columns = [np.concatenate([_flat(part)[c] for part in found]) for c in range(7)]
    return Found(Answers(*columns[:2]), Answers(*columns[2:4]), columns[4], Answers(*columns[5:]))


def _flat(found: Found) -> tuple:
    return (*found.query, *found.back, found.touching, *found.contact)


def _ask_some(mjm: mujoco.MjModel, qpos: np.ndarray) -> list[Found]:
    solver = RigidSolver(Model.from_mjmodel(mjm), len(qpos))
    solver.set_state(qpos=torch.as_tensor(qpos, dtype=solver.dtype))
    solver.forward()
    data = mujoco.MjData(mjm)
    mujoco.mj_kinematics(mjm, data)
    contacts, found = solver.contacts, []
    for k in range(len(PAIRS)):
        fixed, moving = mjm.geom(f"fixed{k}").id, mjm.geom(f"moving{k}").id
        axes = data.geom_xmat[fixed].reshape(3, 3)
        answers = []
        for pair, sense in (((fixed, moving), 1), ((moving, fixed), -1)):
            dist, fromto = (part.numpy()[:, 0] for part in solver.distance(*pair))
            with np.errstate(invalid="ignore", divide="ignore"):
                normal = sense * (fromto[:, 3:] - fromto[:, :3]) / dist[:, None]
            answers.append(Answers(dist, normal @ axes))
        here = contacts.mask & (contacts.geom == moving).any(-1)
        dist = torch.where(here, contacts.dist, torch.inf)
        deepest = dist.argmin(1)
        rows = torch.arange(len(qpos))
        sense = torch.where(contacts.geom[rows, deepest, 1] == moving, 1.0, -1.0)
        normal = (contacts.frame[rows, deepest, 0] * sense[:, None]).numpy() @ axes
        found.append(Found(*answers, here.any(1).numpy(), Answers(dist[rows, deepest].numpy(), normal)))
    solver.close()
    return found


class Asked(NamedTuple):
    """Of every pair of `PAIRS` the poses, and what everybody says.

    Attributes:
        poses: of the second shape.
        coals: coal's answers.
        found: Tumble's.
        single: Tumble's with one contact a pair.
        moved: Tumble's where all pairs stand elsewhere and turned.
        after: Tumble's of the poses where the contact of `single` has pushed the second shape away.
    """

    poses: list[Poses]
    coals: list[Answers]
    found: list[Found]
    single: list[Found]
    moved: list[Found]
    after: list[Found]


def ask_all(count: int) -> Asked:
    """So many poses a pair."""
    poses = [draw_poses(pair, count, k) for k, pair in enumerate(PAIRS)]
    coals = [ask_coal(*both) for both in zip(PAIRS, poses, strict=True)]
    found, moved = ask_tumble(side_by_side(), poses), ask_tumble(side_by_side(3), poses)
    one = side_by_side(several="disable")
    single = ask_tumble(one, poses)
    pushed = [
        Poses(p.position - np.where(f.touching, f.contact.dist, 0.0)[:, None] * f.contact.normal, p.turn)
        for p, f in zip(poses, single, strict=True)
    ]
    return Asked(poses, coals, found, single, moved, ask_tumble(one, pushed))


@pytest.fixture(scope="module", params=[150, pytest.param(20_000, marks=pytest.mark.slow)])
def asked(request):
    """Some poses, or all that the proof asks for."""
    tumble.init(precision="64")
    return ask_all(request.param)


def widest_gap(k: int, asked: Asked) -> np.ndarray:
    """The wider of the gaps across coal's and Tumble's directions: what the distance is at least."""
    poses = asked.poses[k]
    ours, theirs = asked.found[k].query.normal, asked.coals[k].normal
    return np.maximum(gap_along(PAIRS[k], poses, ours), gap_along(PAIRS[k], poses, theirs))


def every_pair() -> pytest.MarkDecorator:
    """One test a pair."""
    return pytest.mark.parametrize("k", range(len(PAIRS)), ids=["-".join(pair) for pair in PAIRS])


@every_pair()
def test_no_phantom_contact(k, asked):
    """Where there is a contact no direction proves the shapes apart; nor a distance of at most 0."""
    gap, found = widest_gap(k, asked), asked.found[k]
    assert found.touching.mean() > 0.25
    assert not (found.touching & (gap > CLEAR)).any()
    assert not ((found.query.dist <= 0) & (gap > CLEAR)).any()


@every_pair()
def test_no_missed_contact(k, asked):
    """Where coal says that shapes overlap there is a contact, unless a direction proves coal wrong."""
    gap, found, theirs = widest_gap(k, asked), asked.found[k], asked.coals[k]
    missed = ~found.touching & ((theirs.dist < -CLEAR) | (found.query.dist < -CLEAR)) & (gap <= 0)
    assert not missed.any()
    assert (theirs.dist > CLEAR).mean() > 0.1


@every_pair()
def test_distances(k, asked):
    """The gap across the direction is the distance, and no direction of coal's has a wider one."""
    poses, ours, theirs = asked.poses[k], asked.found[k].query, asked.coals[k]
    told = np.abs(ours.dist) > CLEAR  # nearer than that the points do not tell the direction
    gap, other = gap_along(PAIRS[k], poses, ours.normal)[told], gap_along(PAIRS[k], poses, theirs.normal)
    off = np.abs(gap - ours.dist[told])
    assert off.max() < EXACT
    assert (other - ours.dist).max() < EXACT  # also where shapes touch
    sure = np.abs(other - theirs.dist) < EXACT
    apart = sure & (theirs.dist > 0)
    assert apart.mean() > 0.1 and np.abs(ours.dist - theirs.dist)[apart].max() < CLEAR
    both = np.isfinite(theirs.dist)
    between = np.abs(ours.dist - theirs.dist)[both]
    print(
        f"{'-'.join(PAIRS[k]):22s} {len(both)} poses, coal without an answer {(~both).sum()}, apart from coal: median "
        f"{np.median(between):.0e}, worst {between.max():.0e}, {(between > 1e-6).sum()} by more than 1e-6; gap across "
        f"the direction off by {off.max():.0e}, coal's wider by {np.nanmax(other - ours.dist):.0e}"
    )
    assert np.median(between) < EXACT


@every_pair()
def test_contacts_push_apart(k, asked):
    """A single contact's depth is the distance, and as far along its normal the shapes are apart."""
    single, after = asked.single[k], asked.after[k]
    touching = single.touching
    off, left = np.abs(single.contact.dist - single.query.dist)[touching], -after.query.dist[touching]
    if PAIRS[k] in SHALLOWER:
        assert (off > CLEAR).mean() < SHALLOWER[PAIRS[k]]
    else:
        assert off.max() < CLEAR and left.max() < CLEAR


@every_pair()
def test_neither_order_nor_place_matters(k, asked):
    """Swapped geoms are as far apart; and so is the pair elsewhere and turned, where it has contacts as before."""
    found, moved = asked.found[k], asked.moved[k]
    for other in (found.back.dist, moved.query.dist):
        assert np.abs(found.query.dist - other).max() < EXACT
    clear = np.abs(found.query.dist) > CLEAR
    assert (found.touching == moved.touching)[clear].all()
