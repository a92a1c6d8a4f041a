"""MuJoCo's own values of everything that is compared, for one state or for many."""

import copy
from dataclasses import dataclass, field

import mujoco
import numpy as np

OUTPUTS = ("actuator_length", "actuator_velocity", "actuator_moment")
# Fields of one evaluation in the order of the pipeline: stage -> MuJoCo's names.
STAGES: dict[str, tuple[str, ...]] = {
    "kinematics": ("xpos", "xquat", "xmat", "xipos", "geom_xpos", "geom_xmat"),
    "frames": ("site_xpos", "site_xmat", "cam_xpos", "cam_xmat"),
    "inertia": ("subtree_com", "cdof", "cinert", "qM"),
    "tendons": ("ten_length", "ten_velocity", "ten_J"),
    "velocity": ("cvel", "qfrc_bias", "subtree_linvel", "subtree_angmom"),
    "passive": ("plastic", "qfrc_passive"),
    "actuation": ("act", "act_dot", *OUTPUTS, "actuator_force", "qfrc_actuator"),
    "smooth": ("qacc_smooth",),
    "contacts": ("contact_set", "contact_dist", "contact_pos", "contact_frame", "contact_friction"),
    "rows": ("efc_J", "efc_D", "efc_aref", "efc_frictionloss"),
    "solution": ("qacc", "efc_force", "qfrc_constraint", "cfrc_ext", "cacc", "cfrc_int"),
    "sensors": ("sensordata",),
}
FREE_OF_CONTACT = (
    *("kinematics", "frames", "inertia", "tendons", "velocity", "passive", "actuation", "smooth", "contacts"),
)
INSPECTED = ("cdof", "qM")
"""Fields that `solver.inspect` alone gives; those of the stages contacts and rows come from it as well."""

_SMOOTH = [name for stage in FREE_OF_CONTACT[:-1] for name in STAGES[stage] if name not in INSPECTED]
BATCHED = (*_SMOOTH, "qacc", "qfrc_constraint", "cfrc_ext", "cacc", "cfrc_int", "sensordata")
"""Fields that `solver.get` gives for all environments at once."""

AFTER_STEP = (
    *("xpos", "xipos", "geom_xpos", "cvel", "cinert", "qfrc_actuator", "subtree_com", "qacc", "cfrc_ext"),
    *("sensordata", "act", "plastic"),
)
"""Fields that must be those of the last evaluation after a step; the v5 tasks read most of them."""

FRICTION_TENDON, LIMIT_TENDON = (
    int(getattr(mujoco.mjtConstraint, f"mjCNSTR_{n}")) for n in ("FRICTION_TENDON", "LIMIT_TENDON")
)
EQUALITY, FRICTION, LIMIT, FRICTIONLESS, PYRAMIDAL, ELLIPTIC = (
    int(getattr(mujoco.mjtConstraint, f"mjCNSTR_{n}"))
    for n in (
        *("EQUALITY", "FRICTION_DOF", "LIMIT_JOINT"),
        *("CONTACT_FRICTIONLESS", "CONTACT_PYRAMIDAL", "CONTACT_ELLIPTIC"),
    )
)


def touches(efc_type: np.ndarray) -> bool:
    """Return whether there are rows of limits or contacts, which come after those that are always there."""
    return bool(np.any(efc_type >= LIMIT))


@dataclass
class States:
    """States to compare in: qpos (n, nq), qvel (n, nv), ctrl (n, nu); act (n, na) and plastic (n, nplastic) if any.

    history (n, nhistory) has MuJoCo's buffers of delayed controls as they are at time 0.
    """

    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray
    act: np.ndarray = field(default_factory=lambda: np.zeros(0))
    plastic: np.ndarray = field(default_factory=lambda: np.zeros(0))
    history: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        self.act = self.act.reshape(len(self.qpos), -1)
        self.plastic = self.plastic.reshape(len(self.qpos), -1)
        self.history = self.history.reshape(len(self.qpos), -1)

    def __len__(self) -> int:
        return len(self.qpos)

    def __getitem__(self, index: object) -> "States":
        return States(*(part[index] for part in self.parts))

    @property
    def parts(self) -> tuple[np.ndarray, ...]:
        return self.qpos, self.qvel, self.ctrl, self.act, self.plastic, self.history


@dataclass
class Contact:
    """One contact of one state: geoms (2,), pos (3,), frame (9,), dist, friction (5,), rows (first, count)."""

    geom: tuple[int, int]
    pos: np.ndarray
    frame: np.ndarray
    dist: float
    friction: np.ndarray
    margin: float
    rows: slice
    adhesion: float = 0.0
    own_reference: bool = False
    """Whether friction has a reference of its own."""


def reference_model(mjm: mujoco.MjModel, **options: object) -> mujoco.MjModel:
    """Return a copy with dense Jacobians, the Newton solver and ``options`` set, to evaluate in.

    Without midphase: where a body could meet several geoms of another one, MuJoCo 4.0's bounding volumes pass over
    some box contacts up to 1e-6 m deep that its own narrow phase finds (4 in 10 of those, on two tilted planes).
    """
    mjm = copy.copy(mjm)
    mjm.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    mjm.opt.solver = int(mujoco.mjtSolver.mjSOL_NEWTON)
    mjm.opt.jacobian = int(mujoco.mjtJacobian.mjJAC_DENSE)
    for name, value in options.items():
        setattr(mjm.opt, name, value)
    return mjm


def put(mjm: mujoco.MjModel, data: mujoco.MjData, states: States, i: int) -> None:
    """Put state ``i`` into ``data``, with a cold solver."""
    mujoco.mj_resetData(mjm, data)
    data.qpos[:], data.qvel[:], data.ctrl[:] = states.qpos[i], states.qvel[i], states.ctrl[i]
    data.act[:], data.plastic[:], data.history[:] = states.act[i], states.plastic[i], states.history[i]


def fields_of(mjm: mujoco.MjModel, data: mujoco.MjData, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Return copies of fields of ``data``; qM, ten_J and actuator_moment are dense, (nv, nv) or (rows, nv)."""
    out = {}
    for name in names:
        if name == "qM":
            out[name] = np.zeros((mjm.nv, mjm.nv))
            mujoco.mj_fullM(mjm, data, out[name])
        elif name == "ten_J":
            out[name] = np.zeros((mjm.ntendon, mjm.nv))
            rows = np.repeat(np.arange(mjm.ntendon), mjm.ten_J_rownnz)
            out[name][rows, mjm.ten_J_colind] = data.ten_J
        elif name == "actuator_moment":
            out[name] = np.zeros((mjm.nout, mjm.nv))
            sparse = data.moment_rownnz, data.moment_rowadr, data.moment_colind
            mujoco.mju_sparse2dense(out[name], data.actuator_moment, *sparse)
        else:
            out[name] = np.array(getattr(data, name))
    return out


def is_elliptic(mjm: mujoco.MjModel) -> bool:
    """Return whether contacts have elliptic friction cones."""
    return int(mjm.opt.cone) == int(mujoco.mjtCone.mjCONE_ELLIPTIC)


def rows_of_contact(elliptic: bool, dim: int) -> int:
    """Return how many rows a contact of that dimension has."""
    return dim if elliptic or dim == 1 else 2 * (dim - 1)


def contacts_of(data: mujoco.MjData, elliptic: bool) -> list[Contact]:
    """Return the contacts of ``data``, those within the gap (no rows) included."""
    contacts = []
    for k in range(data.ncon):
        c = data.contact[k]
        count = rows_of_contact(elliptic, c.dim)
        rows = slice(c.efc_address, c.efc_address + count) if c.efc_address >= 0 else slice(0, 0)
        geoms = (int(c.geom[0]), int(c.geom[1]))
        place = np.array(c.pos), np.array(c.frame), c.dist
        kind = c.adhesion, bool(np.any(c.solreffriction))
        contacts.append(Contact(geoms, *place, np.array(c.friction), c.includemargin, rows, *kind))
    return contacts


def rows_of(mjm: mujoco.MjModel, data: mujoco.MjData) -> dict[str, np.ndarray]:
    """Return the constraint rows of ``data``, efc_J (nefc, nv) dense."""
    names = ("type", "id", "D", "aref", "force", "state", "frictionloss")
    rows = {f"efc_{name}": np.array(getattr(data, f"efc_{name}")) for name in names}
    rows["efc_J"] = np.array(data.efc_J).reshape(-1, mjm.nv)[: data.nefc]  # there is room for contacts without dofs
    rows["moved"] = np.array(data.efc_vel) - rows["efc_J"] @ data.qvel  # by surfaces
    rows["efc_pos"] = np.array(data.efc_pos) - np.array(data.efc_margin)
    return rows


@dataclass
class Reference:
    """MuJoCo's values in n states: batched fields, contacts and rows per state, and the outcome of one step."""

    fields: dict[str, np.ndarray]
    contacts: list[list[Contact]]
    rows: list[dict[str, np.ndarray]]
    qfrc_fluid: np.ndarray
    qfrc_spring: np.ndarray
    qfrc_damper: np.ndarray
    wrapped: np.ndarray
    """How many links of tendons go around a geom, and how many touch one from within, (n, 2)."""


@dataclass
class Stepped:
    """The state after one step from each state, and the fields that MuJoCo leaves behind."""

    qpos: np.ndarray
    qvel: np.ndarray
    fields: dict[str, np.ndarray]


def evaluate(mjm: mujoco.MjModel, states: States) -> Reference:
    """Return MuJoCo's values in every state, after ``mj_forward`` and ``mj_rnePostConstraint``."""
    data = mujoco.MjData(mjm)
    collected, contacts, rows, fluid, spring, damper, wrapped = [], [], [], [], [], [], []
    for i in range(len(states)):
        put(mjm, data, states, i)
        mujoco.mj_forward(mjm, data)
        mujoco.mj_rnePostConstraint(mjm, data)
        mujoco.mj_subtreeVel(mjm, data)
        collected.append(fields_of(mjm, data, BATCHED + INSPECTED))
        contacts.append(contacts_of(data, is_elliptic(mjm)))
        rows.append(rows_of(mjm, data))
        fluid.append(np.array(data.qfrc_fluid))
        spring.append(np.array(data.qfrc_spring))
        damper.append(np.array(data.qfrc_damper))
        wrapped.append(_wraps(data))
    forces = (np.array(each) for each in (fluid, spring, damper))
    return Reference(_stack(collected), contacts, rows, *forces, np.array(wrapped))


def _wraps(data: mujoco.MjData) -> tuple[int, int]:
    """Return how many links of tendons go around a geom, and how many touch one from within."""
    count = int(data.ten_wrapnum.sum())
    on = np.flatnonzero(data.wrap_obj.ravel()[:count] >= 0)
    points = data.wrap_xpos.reshape(-1, 3)
    within = int(np.sum(np.all(points[on[::2]] == points[on[1::2]], axis=1)))
    return len(on) // 2 - within, within


def step(mjm: mujoco.MjModel, states: States) -> Stepped:
    """Return what one ``mj_step`` and ``mj_rnePostConstraint`` from every state leave.

    The latter computes springs of tendons once more. Where they yield it is given what belongs together, the lengths of
    the last evaluation and what springs rested at there: MuJoCo leaves what they rest at now, and after a Runge-Kutta
    step lengths of its first stage beside bodies of its last.
    """
    data = mujoco.MjData(mjm)
    qpos, qvel, collected = [], [], []
    for i in range(len(states)):
        put(mjm, data, states, i)
        mujoco.mj_step(mjm, data)
        plastic = np.array(data.plastic)
        data.plastic[:] = states.plastic[i]
        if mjm.nplastic:
            mujoco.mj_tendon(mjm, data)
        mujoco.mj_rnePostConstraint(mjm, data)
        data.plastic[:] = plastic
        qpos.append(np.array(data.qpos))
        qvel.append(np.array(data.qvel))
        collected.append(fields_of(mjm, data, AFTER_STEP))
    return Stepped(np.array(qpos), np.array(qvel), _stack(collected))


def _stack(collected: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    return {name: np.stack([c[name] for c in collected]) for name in collected[0]}
