"""An evaluation runs the stages that the quantities asked for need, and no others; with the same bits."""

import ctypes
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
import torch

from tumble.physics import Model, RigidSolver
from tumble.physics.mechanics.collision.narrow_phase import collide
from tumble.physics.mechanics.dynamics.smooth import smooth_acceleration
from tumble.physics.model.features import Features
from tumble.physics.model.state.declared import read_by, written_by
from tumble.physics.model.state.fields import QUANTITIES, SENSED, SMOOTH
from tumble.physics.run.launches import LAST, ask_for, last_needed, written_in
from tumble.physics.run.programs import TURN, Program
from tumble.physics.run.settings import CALL_LENGTH, Setting
from tumble.physics.run.step import PIPELINE, stages_of
from tumble.physics.run.tiles.tile_pass import ON_REQUEST

from ..test_architecture import ROOT
from .parity.catalogue import load
from .starts import run_with

NUM_ENVS = 4
"""One tile: in the scratch of another one, rows that nobody stores hold what is left of the tile before."""
ALONE = tuple(" ".join(fields for _, stage, fields in ON_REQUEST if stage.when is None).split())
"""Quantities that stages on request compute, besides SMOOTH and SENSED."""
MODELS = {
    "tendons": {},
    "sensors": {"integrator": "RK4"},
    "everything": {"enableflags": ["sleep"]},
    "boxes": {"solver": "CG"},
}


def place(name: str) -> int:
    """Of a stage in the pipeline."""
    return next(i for i, entry in enumerate(PIPELINE) if getattr(entry, "name", None) == name)


def test_a_quantity_needs_the_stages_up_to_the_last_that_writes_it():
    assert last_needed(("qpos", "ctrl"), ()) == -1
    assert last_needed(("xpos", "xquat"), ()) == place("forward_kinematics")
    assert last_needed(("root_offset",), ()) == place("forward_kinematics")
    assert last_needed(("xpos", "geom_xpos"), ()) == PIPELINE.index(collide)  # a grid places the geoms that it finds
    assert last_needed(("cdof",), ()) == place("center_of_mass")
    assert last_needed(("tree_asleep",), ()) == place("wake_tied")
    assert last_needed(("qacc", "xpos"), ()) == last_needed(("drive_qacc",), ()) == LAST
    requested = {stage.name: stage for _, stage, _ in ON_REQUEST} | {"smooth_acceleration": smooth_acceleration}
    assert last_needed(("xipos",), [requested["mass_centers"]]) == place("center_of_mass")
    assert last_needed(("qfrc_bias",), [requested["smooth_acceleration"]]) < place("start_acceleration")
    assert last_needed(("cfrc_ext",), [requested["external_force"]]) == LAST


@pytest.mark.parametrize(
    ("names", "stages"),
    [
        (("xpos",), ()),
        (("xipos",), ("mass_centers",)),
        (("subtree_com", "qacc"), ("mass_centers",)),
        (("cinert",), ("body_inertias",)),
        (("cfrc_ext",), ("external_force",)),
        (("qacc_smooth",), ("smooth_acceleration",)),
        (("sensed",), ("contact_readings",)),
        (("cacc",), ("body_accelerations",)),
        (("cfrc_int",), ("external_force", "body_inertias", "body_accelerations", "internal_forces")),
        (("subtree_angmom",), ("mass_centers", "subtree_momenta")),
    ],
)
def test_a_launch_is_told_what_is_asked_for(names, stages):
    """And that it has to run the whole pipeline, if it moves something or hands out integers."""
    for everything in (False, True):
        call = torch.full((CALL_LENGTH,), 7)
        ask_for(call, names, everything)
        told = tuple(stage.name for bit, stage, _ in ON_REQUEST if call[Setting.REQUESTED] & bit)
        assert told + ("smooth_acceleration",) * int(call[Setting.SMOOTH]) == stages
        assert (call[Setting.LAST] == LAST) if everything else (call[Setting.LAST] <= LAST)


def test_a_stage_on_request_stores_the_fields_that_it_is_for():
    """Each has a bit of its own, and stands behind those whose fields it loads."""
    assert [bit for bit, _, _ in ON_REQUEST] == [1 << k for k in range(len(ON_REQUEST))]
    stored = frozenset().union(*map(written_in, PIPELINE))
    for place, (_, stage, fields) in enumerate(ON_REQUEST):
        assert set(fields.split()) <= written_by(stage)
        later = {field for _, _, fields in ON_REQUEST[place + 1 :] for field in fields.split()}
        assert not later & read_by(stage) - stored


def moved(name: str, options: dict) -> RigidSolver:
    """A model's environments, each elsewhere, and one that stands still."""
    model = Model.from_mjmodel(load(name, **options))
    solver = RigidSolver(model, NUM_ENVS)
    rng = np.random.default_rng(0)
    qvel = rng.normal(0.0, 1.0, (NUM_ENVS, model.sizes["nv"]))
    qvel[-1] = 0.0
    solver.set_state(qvel=qvel)
    for _ in range(30):
        if model.sizes["nu"]:
            solver.ctrl = rng.uniform(-1.0, 1.0, (NUM_ENVS, model.sizes["nu"]))
        solver.step()
    return solver


def evaluated(solver: RigidSolver, names: list[str], at_start: bool) -> dict[str, np.ndarray]:
    """Bits of fields as one launch computes them, in scratch that has no numbers before it."""
    driver = solver._driver
    if isinstance(driver._launches.kernel, Program):
        driver._launches.kernel.scratch._room[0].fill(np.nan)
    block = driver._results.evaluate(names, None, False, at_start=at_start)
    values = block.values[:NUM_ENVS].numpy()
    return {name: values[:, block.places[name]].tobytes() for name in names}


def computed(solver: RigidSolver) -> list[str]:
    """Quantities that evaluations compute, but for SMOOTH; others are what is left of a step, or of another model."""
    has = Features.of(solver.model, single=True)
    stages = {entry for _, entry in stages_of(has)}
    written = frozenset(ALONE).union(*map(written_in, stages))
    if has.sensors:
        written |= {field.name for field in SENSED}
    return [field.name for field in QUANTITIES if field.name in written]


@pytest.mark.parametrize("name", [pytest.param("tendons", marks=pytest.mark.slow), *list(MODELS)[1:]])
def test_a_quantity_by_itself_has_the_bits_that_it_has_with_all_others(name):
    run_with("32")
    solver = moved(name, MODELS[name])
    assert bool(solver.asleep.any()) == ("sleep" in MODELS[name].get("enableflags", ()))
    assert torch.isfinite(solver.get("qacc")).all() and (solver.get("solver_niter") > 0.0).any()
    names = computed(solver)
    for at_start in {False, solver._driver.sizes["nstart"] > 0}:
        for group, all_names in ((names, names), (SMOOTH, [*names, *SMOOTH])):
            together = evaluated(solver, all_names, at_start)
            for quantity in group:
                assert evaluated(solver, [quantity], at_start)[quantity] == together[quantity], (quantity, at_start)


def _note(called: list[str], name: str, stage: Callable[[int], None], context: int) -> None:
    called.append(name)
    stage(context)


@contextmanager
def noted_stages(program: Program):
    """The names of the stages that launches of a program call, in their order."""
    from tumble.physics.run.compile.compilers import units_of_program

    plan, _ = units_of_program(program._width, program._runtime.precision, program._features)
    table = program._code[1]
    called, kept, alive = [], list(table), []
    for name, number in plan.numbers.items():
        if name != TURN and kept[number]:
            kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

            alive.append(kind(partial(_note, called, name, kind(kept[number]))))
            table[number] = ctypes.cast(alive[-1], ctypes.c_void_p).value
    try:
        yield called
    finally:
        table[:] = kept


def test_poses_are_read_without_collision_and_newton():
    run_with("32")
    solver = RigidSolver(Model.from_mjcf(str(ROOT / "assets" / "ant.xml")), 4)
    solver.step()
    if not isinstance(solver._driver._launches.kernel, Program):
        pytest.skip("stages are not compiled apart here")
    with noted_stages(solver._driver._launches.kernel) as called:
        solver.step()
        assert {"forward_kinematics", "collide_round", "acceleration_by_newton", "advance"} <= set(called)
        solver.step()
        called.clear()
        solver.get("cinert")
        assert "center_of_mass" in called and "collide_round" not in called
        solver.step()
        solver.step()
        called.clear()
        solver.get("xpos")
        assert set(called) - {"keep_evaluation", "report_mean_acceleration"} == {"lay_out_dofs", "forward_kinematics"}
        called.clear()
        solver.get("cfrc_ext")
        assert {"acceleration_by_newton", "external_force"} <= set(called)
