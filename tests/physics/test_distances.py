"""In single precision distances between geoms keep their digits far from the origin and close to special poses."""

import mujoco
import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.model.features import Features

from ..widths import WIDTH
from .starts import run_with

ROUNDINGS = 1e-7
"""Metres: a few roundings of the sizes of these bodies."""
ROUNDED_ONCE = 1e-7
STAGES_ROUNDED = 2e-4
"""Error of LIFT's acceleration, relative to the largest, if a stage's qpos, of eight metres, is rounded: half of 4.8e-7
metres times 1e5/s^2 are 0.024 of 150 m/s^2."""
SIZES = 6e-9
"""Metres: half a unit in the last place of the geoms' sizes, which are rounded."""
LINKS = """<mujoco><worldbody><body><freejoint/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".05" mass="1"/>
<body pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".05" mass="1"/>
<body pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".05" mass="1"/>
<geom type="sphere" pos=".3 0 0" size=".07" mass="1"/></body></body></body></worldbody></mujoco>"""
ARM = """<mujoco><default><geom solref="{} 1"/></default><worldbody>
<geom type="plane" size="1 1 1" euler="4 -7 0" contype="3"/>
<body pos=".1 .2 .3"><joint axis="1 2 3"/><geom type="sphere" size=".05" mass="1"/>
<body pos=".3 .1 0"><joint type="{}" axis="3 2 -1"/><geom type="sphere" size=".05" mass="1"/>
<body pos=".3 0 .1"><joint type="ball"/><geom type="capsule" fromto="0 0 0 .3 .1 0" size=".05" mass="1"/>
<geom type="box" pos=".3 .3 0" size=".1 .1 .1" mass="1" contype="0" conaffinity="2"/>
</body></body></body></worldbody></mujoco>"""
LIFT = """<mujoco><option integrator="RK4" timestep="0.001"/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 -8"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1" solref="-1e5 -100"/></body>
</worldbody></mujoco>"""
CYLINDER = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
<body><freejoint/><geom type="cylinder" size=".2 .1" mass="1"/></body></worldbody></mujoco>"""


@pytest.fixture(scope="module", autouse=True)
def single_precision():
    run_with("32")


@pytest.mark.parametrize("x", [0.0, 1000.0])
def test_links_touch_alike_near_and_far(x):
    """A chain that folds back on itself, at the origin and a kilometre away."""
    mjm = mujoco.MjModel.from_xml_string(LINKS)
    angles = np.linspace(2.3, 2.75, 16)
    qpos = np.tile(mjm.qpos0, (16, 1))
    qpos[:, 0], qpos[:, 7], qpos[:, 8] = x, np.float32(angles), np.float32(0.9 * angles)
    compare_distances(mjm, qpos)


@pytest.mark.parametrize("tilt", [0.0, 1e-6, 1e-4, 1e-2])
def test_a_cylinder_that_stands_almost_upright(tilt):
    """The lowest point of its rim lies in a direction that is the difference of almost equal vectors."""
    mjm = mujoco.MjModel.from_xml_string(CYLINDER)
    rng = np.random.default_rng(0)
    qpos = np.tile(mjm.qpos0, (16, 1))
    direction = rng.uniform(0, 2 * np.pi, 16)
    qpos[:, 2] = 0.0995
    qpos[:, 3:] = np.stack(
        [
            np.full(16, np.cos(tilt / 2)),
            *np.sin(tilt / 2) * np.stack([np.cos(direction), np.sin(direction)]),
            np.zeros(16),
        ],
        axis=1,
    )
    compare_distances(mjm, np.float64(np.float32(qpos)))


@pytest.mark.parametrize(("solref", "joint"), [(0.004, "hinge"), (0.02, "slide")])
def test_stiff_contacts_and_far_slides_have_all_digits(solref, joint):
    """Where the rounding of a position would be a force, distances are those of double precision, rounded once."""
    mjm = mujoco.MjModel.from_xml_string(ARM.format(solref, joint))
    assert Features.of(Model.from_mjmodel(mjm), single=True).mixed_precision
    rng = np.random.default_rng(0)
    qpos = rng.standard_normal((256, mjm.nq))
    qpos[:, 1] *= 3.0
    compare_distances(mjm, np.float64(np.float32(qpos)), ROUNDED_ONCE)


@pytest.mark.slow
def test_places_of_environments_own_have_all_digits():
    """Distances keep their digits where environments have a body_pos and body_quat of their own."""
    mjm, rng = mujoco.MjModel.from_xml_string(ARM.format(0.004, "hinge")), np.random.default_rng(1)
    qpos, own = rng.standard_normal((256, mjm.nq)), {}
    own["body_pos"] = mjm.body_pos + rng.uniform(-0.05, 0.05, (256, mjm.nbody, 3)) * (mjm.body_pos != 0)
    own["body_quat"] = mjm.body_quat + rng.uniform(-0.2, 0.2, (256, mjm.nbody, 4)) * (np.arange(mjm.nbody) > 0)[:, None]
    own["body_quat"] /= np.linalg.norm(own["body_quat"], axis=2, keepdims=True)
    compare_distances(mjm, np.float64(np.float32(qpos)), ROUNDED_ONCE, own)


def test_ordinary_models_do_not_pay_for_that():
    mjm = mujoco.MjModel.from_xml_string(ARM.format(0.02, "hinge"))
    assert not Features.of(Model.from_mjmodel(mjm), single=True).mixed_precision
    assert not Features.of(
        Model.from_mjmodel(mujoco.MjModel.from_xml_string(ARM.format(0.004, "slide"))), False
    ).mixed_precision


def test_double_positions_do_not_depend_on_neighbours():
    """The same bits alone, in the first tile and in the last."""
    model = Model.from_mjmodel(mujoco.MjModel.from_xml_string(ARM.format(0.004, "slide")))
    qpos = torch.from_numpy(np.random.default_rng(0).standard_normal((64, model.sizes["nq"])))

    def after(envs: list[int]) -> torch.Tensor:
        solver = RigidSolver(model, len(envs), lanes=WIDTH)
        solver.set_state(qpos=qpos[envs])
        for _ in range(100):
            solver.step()
        return solver.qpos

    together = after(list(range(64)))
    assert torch.equal(after([5])[0], together[5])
    assert torch.equal(after([9, 60, 1, 5]), together[[9, 60, 1, 5]])


def lifts(outputs: tuple[str, ...] = ()) -> tuple[mujoco.MjModel, RigidSolver]:
    """64 balls that press on the ground, eight metres along their slides."""
    mjm = mujoco.MjModel.from_xml_string(LIFT)
    solver = RigidSolver(Model.from_mjmodel(mjm), 64, outputs)
    rng = np.random.default_rng(0)
    solver.set_state(8.1 - rng.uniform(0, 2e-3, (64, 1)), rng.uniform(-0.5, 0.5, (64, 1)))
    return mjm, solver


def test_later_stages_of_a_runge_kutta_step_are_evaluated_where_they_are():
    mjm, solver = lifts()
    qpos, qvel = solver.qpos.double().numpy(), solver.qvel.double().numpy()
    solver.step()
    data, theirs = mujoco.MjData(mjm), []
    for env in range(64):
        mujoco.mj_resetData(mjm, data)
        data.qpos[:], data.qvel[:] = qpos[env], qvel[env]
        mujoco.mj_step(mjm, data)
        theirs.append(data.qacc.copy())
    error = np.abs(solver.get("qacc").numpy() - theirs).max() / np.abs(theirs).max()
    assert error < STAGES_ROUNDED / 50


def test_what_a_runge_kutta_step_saw_can_be_asked_for_later():
    """Delivered by the step, computed again when asked for, and from a saved state: the same bits."""
    solvers = [lifts(outputs)[1] for outputs in (("qfrc_constraint",), ())]
    for solver in solvers:
        solver.step(3)
    solvers.append(lifts()[1])
    solvers[2].load_state_dict(solvers[1].state_dict())
    delivered, again, restored = (solver.get("qfrc_constraint") for solver in solvers)
    assert solvers[1].get("eval_rest").abs().max() > 1e-8
    assert delivered.abs().max() > 10
    assert torch.equal(delivered, again)
    assert torch.equal(delivered, restored)


def test_forward_is_at_the_state_that_can_be_read():
    _, solver = lifts()
    _, fresh = lifts()
    solver.step(3)
    fresh.set_state(solver.qpos, solver.qvel)
    for each in (solver, fresh):
        each.forward()
    assert torch.equal(solver.get("con_dist"), fresh.get("con_dist"))


def compare_distances(
    mjm: mujoco.MjModel, qpos: np.ndarray, relative: float = 0.0, own: dict[str, np.ndarray] | None = None
) -> None:
    """Deepest contact of each pair of geoms against MuJoCo's: within ROUNDINGS, or `relative` to the distance.

    `own` are fields of mjModel that environments have of their own.
    """
    solver, own = RigidSolver(Model.from_mjmodel(mjm), len(qpos)), own or {}
    for name, values in own.items():
        solver.set_parameters(name, values)
    solver.set_state(qpos=torch.tensor(qpos))
    solver.forward()
    data, seen = mujoco.MjData(mjm), 0
    for env in range(len(qpos)):
        data.qpos[:] = qpos[env]
        for name, values in own.items():
            getattr(mjm, name)[:] = values[env]
        mujoco.mj_forward(mjm, data)
        found = solver.inspect(env)
        mine = deepest(found["contact_geom"].reshape(-1, 2), found["contact_dist"])
        yours = deepest(data.contact.geom, data.contact.dist)
        assert mine.keys() == yours.keys()
        seen += len(yours)
        for pair, dist in yours.items():
            assert abs(mine[pair] - dist) < (relative * abs(dist) + SIZES if relative else ROUNDINGS), (env, pair)
    assert seen >= len(qpos) // 2


def deepest(geoms: np.ndarray, dists: np.ndarray) -> dict[tuple[int, ...], float]:
    """Pair of geoms -> the least distance of its contacts."""
    found: dict[tuple[int, ...], float] = {}
    for pair, dist in zip(geoms, dists, strict=True):
        key = tuple(sorted(map(int, pair)))
        found[key] = min(float(dist), found.get(key, np.inf))
    return found
