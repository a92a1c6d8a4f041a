"""The other ways to contacts of convex shapes: portal refinement, and more contacts by tilts."""

import mujoco
import numpy as np
import pytest
import torch
from scipy.spatial import ConvexHull

from tumble.physics import Model, RigidSolver
from tumble.physics.mechanics.collision.convex.tilts import ANGLE, SAME

from ..widths import WIDTH
from .starts import run_with
from .test_convex_pairs import NAMES, REACH, gap_along, geoms, listed, poses, side_by_side

POSES = 150
PROVEN = 2e-11
"""Metres: what a normal says of its distance (test_convex_pairs)."""
EXCESS = {"64": (1e-7, 5e-4), "32": (1e-6, 5e-4)}
"""Metres that depths by portals are above EPA's, of 99 % and of all: the foot of the origin lies in a portal of finite
size; and where many small faces are nearly as deep, a portal may end at one that is deeper than its neighbours."""
SURFACE = 2e-5
"""Metres, and so much more as the angle of two turns times how far both points are apart: they face each other but for
that angle."""
LONG, THIN = 0.2, 0.04
"""Half axes of an ellipsoid, and radius of a cylinder (m)."""
RESTS = 0.02
"""rad/s: what is left of 0.5 rad/s after 4 s on several contacts. On one it is 0.27, by MuJoCo's word too."""
ROLLS = 5e-3
"""Share by which a cylinder is slower than rolling has it. Contacts a hundredth of the radius beside the line that it
lies on would speed it up by 0.2 rad/s each second."""


BOTH = {"convex": "mpr", "manifold": "tilts"}
"""One kernel for both: a pair's first contact is the portal's, those after it are the tilts'."""


@pytest.fixture(scope="module")
def double() -> None:
    """Double precision."""
    run_with("64")


@pytest.fixture(scope="module")
def scene() -> tuple[mujoco.MjModel, np.ndarray]:
    """Every convex pair, apart from the others, and poses."""
    mjm = side_by_side("disable")
    return mjm, poses(mjm, count=POSES)


@pytest.fixture(scope="module")
def found(double, scene) -> list[dict]:
    """Contacts with both options in double precision."""
    return contacts(*scene, **BOTH)


def contacts(mjm: mujoco.MjModel, qpos: np.ndarray, **options: str) -> list[dict]:
    """Of every environment, by pair: distance, place, normal."""
    solver = RigidSolver(Model.from_mjmodel(mjm, **options), len(qpos))
    solver.set_state(qpos=torch.as_tensor(qpos, dtype=solver.dtype))
    solver.forward()
    names = ("contact_geom", "contact_dist", "contact_pos", "contact_frame")
    return [listed(mjm, *(found[name] for name in names)) for found in map(solver.inspect, range(len(qpos)))]


def judge_portals(scene: tuple, expected: list[dict], found: list[dict], precision: str) -> None:
    """No contact is missed, none is a phantom; a normal parts the shapes by the depth, which is never too small."""
    mjm, qpos = scene
    data, excess, otherwise = mujoco.MjData(mjm), [], 0
    for env, pose in enumerate(qpos):
        data.qpos[:] = pose
        mujoco.mj_kinematics(mjm, data)
        for k in range(len(NAMES)):
            one, other = (side[env].get(k) for side in (expected, found))
            assert (one is None) == (other is None) or max(
                c[0, 0] for c in (one, other) if c is not None
            ) > REACH - 1e-5
            if one is not None and other is not None:
                excess.append(one[0, 0] - other[0, 0])
                otherwise += excess[-1] != 0
                if precision == "64":
                    gap = gap_along(mjm, data, geoms(mjm, k), other[0, 4:] / np.linalg.norm(other[0, 4:]))
                    assert abs(gap - other[0, 0]) < PROVEN, (env, NAMES[k])
    print(f"portals: {len(excess)} contacts, excess {np.quantile(excess, [0.5, 0.99, 1])}")
    assert len(excess) > POSES * len(NAMES) // 3 and otherwise > 50  # GJK and EPA did not answer everything
    assert min(excess) > (-PROVEN if precision == "64" else -1e-7)
    assert np.quantile(excess, 0.99) < EXCESS[precision][0] and max(excess) < EXCESS[precision][1]


def test_portals_find_what_gjk_and_epa_find(scene, found):
    judge_portals(scene, contacts(*scene), found, "64")


def test_tilts_add_points_of_both_surfaces(scene, found):
    """Up to five contacts; each between points of both surfaces that face each other there."""
    mjm, qpos = scene
    data, counts = mujoco.MjData(mjm), np.zeros(6, int)
    for env, pose in enumerate(qpos):
        data.qpos[:] = pose
        mujoco.mj_kinematics(mjm, data)
        for k, several in found[env].items():
            least = SAME * mjm.geom_rbound[geoms(mjm, k)].min()
            counts[len(several)] += 1
            assert (several[:, 0] < REACH).all() and np.allclose(several[:, 4:], several[0, 4:])
            apart = np.linalg.norm(several[:, None, 1:4] - several[None, :, 1:4], axis=2)
            assert (apart + np.eye(len(several)) > 0.99 * least).all(), (env, NAMES[k])  # none twice
            for dist, *place in several[1:, :4]:
                for g, side in zip(geoms(mjm, k), (1, -1), strict=True):
                    point = np.array(place) - side * 0.5 * dist * several[0, 4:]
                    local = data.geom_xmat[g].reshape(3, 3).T @ (point - data.geom_xpos[g])
                    assert abs(outside(mjm, g, local)) < SURFACE + 2 * ANGLE * abs(dist), (env, NAMES[k])
    assert (counts[[2, 3, 4, 5]] > 20).all() and counts[1] > 100, counts


def outside(mjm: mujoco.MjModel, g: int, x: np.ndarray) -> float:
    """How far a point in a geom's frame is outside, to first order (m)."""
    size, kind = mjm.geom_size[g], mujoco.mjtGeom(mjm.geom_type[g]).name[7:]
    if kind == "MESH":
        mesh = mjm.geom_dataid[g]
        points = mjm.mesh_vert[mjm.mesh_vertadr[mesh] :][: mjm.mesh_vertnum[mesh]].astype(float)
        planes = ConvexHull(points).equations
        return float((planes[:, :3] @ x + planes[:, 3]).max())
    if kind == "BOX":
        return float((np.abs(x) - size).max())
    if kind == "ELLIPSOID":
        length = np.linalg.norm(x / size)
        return float((length - 1) * length / np.linalg.norm(x / size**2))
    if kind == "CYLINDER":
        return float(max(np.hypot(x[0], x[1]) - size[0], abs(x[2]) - size[1]))
    middle = np.clip(x[2], -size[1], size[1]) if kind == "CAPSULE" else 0.0
    return float(np.linalg.norm(x - [0, 0, middle]) - size[0])


@pytest.fixture(scope="module")
def on_a_box(double) -> RigidSolver:
    """An ellipsoid and a cylinder on a fixed box whose top is at 0, turned by 30 degrees."""
    xml = f"""<mujoco><option timestep="0.004" ccd_tolerance="1e-12" ccd_iterations="200"><flag multiccd="disable"/>
      </option><worldbody><geom type="box" size="3 3 .1" pos="0 0 -.1"/>
      <body pos="0 0 {THIN}" euler="0 0 30"><freejoint/><geom type="ellipsoid" size="{LONG} {THIN} {THIN}"/></body>
      <body pos="0 -2 {THIN - 2e-4}" euler="0 0 30"><freejoint/>
        <geom type="cylinder" size="{THIN} .15" euler="0 90 0"/></body></worldbody></mujoco>"""
    return RigidSolver(Model.from_mjcf(xml, **BOTH), 1, lanes=WIDTH)


def points(solver: RigidSolver, geom: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of a geom's contacts from its body, in the world's axes, and distances."""
    solver.forward()
    found = solver.contacts
    mine = found.mask[0] & (found.geom[0] == geom).any(1)
    return (found.pos[0][mine] - solver.get("xpos")[0, geom]).numpy(), found.dist[0][mine].numpy()


def test_points_are_on_both_surfaces(on_a_box):
    """Of an ellipsoid on a box: each is as far from the top as the ellipsoid there, to the square of the angle."""
    on_a_box.reset()
    depth, qpos = 2e-3, on_a_box.qpos
    qpos[0, 2] -= depth
    on_a_box.set_state(qpos=qpos)
    pos, dist = points(on_a_box, 1)
    along = pos[:, :2] @ [np.cos(np.pi / 6), np.sin(np.pi / 6)]
    across = pos[:, :2] @ [-np.sin(np.pi / 6), np.cos(np.pi / 6)]
    height = THIN - depth
    bottom = height - THIN * np.sqrt(1 - (along / LONG) ** 2 - (across / THIN) ** 2)
    assert len(pos) == 3 and np.abs(across).max() < 2 * ANGLE**2 * LONG
    assert sorted(along) == pytest.approx([-ANGLE * LONG**2 / THIN, 0, ANGLE * LONG**2 / THIN], rel=0.01, abs=1e-6)
    assert np.abs(dist - bottom).max() < ANGLE**2 * depth
    assert np.abs(pos[:, 2] + height - dist / 2).max() < ANGLE**2 * depth


def test_a_long_body_comes_to_rest(on_a_box):
    """Rocking on one contact goes on and on."""
    on_a_box.reset()
    data, spins = mujoco.MjData(on_a_box.model.mj), []
    data.qvel[4] = 0.5
    on_a_box.set_state(qvel=data.qvel[None].copy())
    mujoco.mj_step(on_a_box.model.mj, data, 900)
    on_a_box.step(900)
    for _ in range(100):
        mujoco.mj_step(on_a_box.model.mj, data)
        on_a_box.step()
        spins.append([np.abs(data.qvel[3:6]).max(), on_a_box.qvel[0, 3:6].abs().max()])
    one, several = np.max(spins, axis=0)
    assert one > 0.2 and several < RESTS


def test_a_cylinder_lies_on_its_ends_and_rolls_on(on_a_box):
    """On its side it has both ends of the line, and nothing beside it that would push."""
    on_a_box.reset()
    spin, seconds, qvel = 2.0, 4, np.zeros((1, 12))
    qvel[0, 6:8] = np.array([np.sin(np.pi / 6), -np.cos(np.pi / 6)]) * spin * THIN
    qvel[0, 9] = spin
    on_a_box.set_state(qvel=qvel)
    begin = on_a_box.qpos[0, 7:9].clone()
    on_a_box.step(250 * seconds)
    pos, _ = points(on_a_box, 2)
    apart = np.linalg.norm(pos[:, None, :2] - pos[:, :2], axis=-1).max()
    assert 2 <= len(pos) <= 3 and apart == pytest.approx(0.3, rel=ANGLE**2)
    assert float(on_a_box.qvel[0, 9]) == pytest.approx(spin, rel=ROLLS)
    assert float((on_a_box.qpos[0, 7:9] - begin).norm()) == pytest.approx(spin * THIN * seconds, rel=ROLLS)


@pytest.mark.parametrize(("option", "value"), [("convex", "xeno"), ("manifold", "five")])
def test_an_unknown_way_is_refused(option, value):
    with pytest.raises(ValueError, match=f"option {option}: '{value}' is neither"):
        Model.from_mjcf("<mujoco/>", **{option: value})


@pytest.mark.slow
def test_portals_in_single_precision(scene):
    run_with("32")
    judge_portals(scene, contacts(*scene), contacts(*scene, **BOTH), "32")


@pytest.mark.parametrize("options", [{}, pytest.param(BOTH, marks=pytest.mark.slow)], ids=["gjk", "mpr and tilts"])
def test_neighbours_change_no_bit(options, scene):
    """Another order of environments, and one that is not finite."""
    run_with("32")
    mjm, qpos = scene
    order, ends = np.random.default_rng(0).permutation(POSES), []
    broken = qpos.copy()
    broken[7] = np.nan
    for start in (qpos, qpos[order], broken):
        solver = RigidSolver(Model.from_mjmodel(mjm, **options), POSES)
        solver.set_state(qpos=torch.as_tensor(start, dtype=solver.dtype))
        solver.step(3)
        ends.append(torch.cat((solver.qpos, solver.qvel), 1))
    assert torch.equal(ends[0][order], ends[1])
    others = np.arange(POSES) != 7
    assert torch.equal(ends[0][others], ends[2][others])
    assert solver.faults.nonzero().ravel().tolist() == [7]


def test_the_axis_that_parted_a_pair_changes_no_bit(scene):
    """Shapes fly past each other; what each pair remembers is forgotten before every step of one of two solvers."""
    run_with("32")
    mjm, qpos = scene
    qvel = np.random.default_rng(2).standard_normal((POSES, mjm.nv))
    solvers = [RigidSolver(Model.from_mjmodel(mjm), POSES) for _ in range(2)]
    for solver in solvers:
        solver.set_state(qpos=torch.as_tensor(qpos, dtype=solver.dtype), qvel=torch.as_tensor(qvel, dtype=solver.dtype))
    remembered = forgotten = 0
    before = solvers[0].get("pair_axis") != 0
    for _ in range(12):
        for solver in solvers:
            solver.step()
        kept = solvers[0].get("pair_axis") != 0
        remembered, forgotten = remembered + int(kept.sum()), forgotten + int((before & ~kept).sum())
        before = kept
        solvers[1]._driver.write("pair_axis", np.zeros((POSES, kept[0].numel())), np.arange(POSES))
        assert torch.equal(solvers[0].qpos, solvers[1].qpos) and torch.equal(solvers[0].qvel, solvers[1].qvel)
    assert remembered > 12 * POSES and forgotten > 0


def test_the_deepest_stay_where_there_is_no_room(scene):
    run_with("32")
    mjm, qpos, room = *scene, 12
    solvers = [RigidSolver(Model.from_mjmodel(mjm, max_contacts=most), POSES) for most in (None, room)]
    for solver in solvers:
        solver.set_state(qpos=torch.as_tensor(qpos, dtype=solver.dtype))
        solver.step()
    every, some = (solver.contacts for solver in solvers)
    full = every.mask.sum(1) > room
    assert full.sum() > POSES // 4
    assert torch.equal(solvers[1].faults != 0, full) and not solvers[0].any_fault
    for env in full.nonzero().ravel().tolist():
        deepest = every.dist[env][every.mask[env]].sort().values[:room]
        assert torch.equal(some.dist[env][some.mask[env]].sort().values, deepest), env
