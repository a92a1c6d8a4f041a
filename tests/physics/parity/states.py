"""States to compare in: along random episodes and around the reference pose, half of them in contact or at a limit."""

import copy

import mujoco
import numpy as np

from .reference import States, touches

_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
_FASTEST = 100.0  # rad/s or m/s: faster states come from an episode that has blown up
_FARTHEST = 5.0  # metres beyond the reference pose: what falls for ever says nothing new
_DEEPEST = 0.3  # of the smaller geom's bounding radius: deeper overlap is no state of a sane simulation


def sample(mjm: mujoco.MjModel, count: int, seed: int = 0, wild: bool = False) -> States:
    """Return ``count`` states of ``mjm``, at least half of them with active constraints if any can be found.

    Args:
        mjm: the model.
        count: number of states.
        seed: of the generator; equal seeds give equal states.
        wild: whatever the model's own integrator goes on from will do; geoms may overlap as deep as they like, as in
            many files those of neighbouring bodies do in every pose.

    Raises:
        RuntimeError: there are not so many.
    """
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(mjm)
    active: list[tuple] = []
    idle: list[tuple] = []
    probe = copy.copy(mjm)
    if not wild:
        probe.opt.integrator = int(mujoco.mjtIntegrator.mjINT_RK4)  # explicit in everything: the first to blow up
    deepest = np.inf if wild else _DEEPEST
    half, rounds, most = (count + 1) // 2, 0, 40 + count // 10
    while rounds < most and (len(active) < half or len(active) + len(idle) < count):
        rounds += 1
        drawn = _episode(mjm, data, rng) if rounds % 2 else _around_reference(mjm, data, rng)
        for state in drawn:
            if _sane(mjm, data, state, deepest):
                constrained = touches(data.efc_type)
                mujoco.mj_step(probe, data)
                if np.all(np.isfinite(data.qvel)) and np.abs(data.qvel).max(initial=0) <= 3 * _FASTEST:
                    (active if constrained else idle).append(state)
        if rounds >= 8 and not active and len(idle) >= count:
            break  # nothing in this model touches or reaches a limit
    rng.shuffle(active)
    rng.shuffle(idle)
    n_active = min(len(active), max(half, count - len(idle)))
    chosen = active[:n_active] + idle[: count - n_active]
    if len(chosen) < count:
        raise RuntimeError(f"only {len(chosen)} of {count} sane states found in {rounds} rounds")
    rng.shuffle(chosen)
    qpos, qvel, ctrl = (np.array(part) for part in zip(*chosen, strict=True))
    act = rng.random((count, mjm.na))
    return States(qpos, qvel, ctrl.reshape(count, mjm.nu), act, _plastic(mjm, count, rng), _history(mjm, count, rng))


def _plastic(mjm: mujoco.MjModel, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return what springs that yield rest at: in the reference state, or near it; what is 0 there stays so."""
    rest = np.array(mujoco.MjData(mjm).plastic)
    moved = rest * (1 + 0.3 * rng.standard_normal((count, mjm.nplastic)) * (rng.random((count, 1)) < 0.7))
    for j in np.flatnonzero((mjm.jnt_plasticadr >= 0) & (mjm.jnt_type == _BALL)):
        at = slice(mjm.jnt_plasticadr[j], mjm.jnt_plasticadr[j] + 4)
        for quat in moved[:, at]:
            quat[:] = rest[at]
            mujoco.mju_quatIntegrate(quat, 0.3 * rng.standard_normal(3), 1.0)
    for t in np.flatnonzero(mjm.tendon_plasticadr >= 0):
        at = mjm.tendon_plasticadr[t]
        moved[:, at : at + 2].sort(axis=1)
    return moved


def _history(mjm: mujoco.MjModel, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return buffers of past controls, a step apart or farther and nearer, that begin anywhere in their rings."""
    buffers = np.tile(mujoco.MjData(mjm).history, (count, 1))
    for a in np.flatnonzero(mjm.actuator_historyadr >= 0):
        n, width, first = int(mjm.actuator_history[a, 0]), int(mjm.actuator_ctrlnum[a]), int(mjm.actuator_historyadr[a])
        for buffer in buffers[:, first : first + 2 + n * (1 + width)]:
            gaps = rng.choice([0.5, 1.0, 1.25, 2.0], n) if rng.random() < 0.4 else np.ones(n)
            buffer[1] = cursor = rng.integers(n)
            place = (cursor + 1 + np.arange(n)) % n  # of the oldest sample and those after it
            buffer[2 + place] = -np.cumsum(gaps)[::-1] * mjm.opt.timestep
            buffer[2 + n :] = rng.standard_normal(n * width)
    return buffers


def random_ctrl(mjm: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    """Return controls uniform in their range and a little beyond it; standard normal where there is none."""
    ctrl = rng.standard_normal(mjm.nu)
    for i in range(mjm.nu):
        if mjm.actuator_ctrllimited[i]:
            low, high = mjm.actuator_ctrlrange[i]
            ctrl[i] = rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low))
    return ctrl


def random_pose(mjm: mujoco.MjModel, rng: np.random.Generator, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Return qpos and qvel around the reference; ``spread`` in rad and, for slides and free joints, in metres."""
    qpos, qvel = np.array(mjm.qpos0), spread * 3 * rng.standard_normal(mjm.nv)
    for j in range(mjm.njnt):
        adr, kind = mjm.jnt_qposadr[j], mjm.jnt_type[j]
        if kind == _FREE:
            qpos[adr : adr + 3] += 0.3 * spread * rng.standard_normal(3)
        if kind in (_FREE, _BALL):
            at = adr + 3 * (kind == _FREE)
            turned = np.array(qpos[at : at + 4])
            mujoco.mju_quatIntegrate(turned, spread * rng.standard_normal(3), 1.0)
            qpos[at : at + 4] = turned
        elif mjm.jnt_limited[j]:
            low, high = mjm.jnt_range[j]
            qpos[adr] = rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low))
        else:
            qpos[adr] += spread * rng.standard_normal()
    return qpos, qvel


def _around_reference(mjm: mujoco.MjModel, data: mujoco.MjData, rng: np.random.Generator) -> list[tuple]:
    """Return perturbed reference states, free bodies lowered towards what lies below them."""
    drawn = []
    for _ in range(60):
        spread = 10 ** rng.uniform(-2, 0)
        qpos, qvel = random_pose(mjm, rng, spread)
        if rng.random() < 0.5:
            for j in np.flatnonzero(mjm.jnt_type == _FREE):
                qpos[mjm.jnt_qposadr[j] + 2] *= rng.uniform(0, 1)
        drawn.append((qpos, qvel, random_ctrl(mjm, rng)))
    return drawn


def _episode(mjm: mujoco.MjModel, data: mujoco.MjData, rng: np.random.Generator) -> list[tuple]:
    """Return states along one episode of random controls, held for a random time each, and random kicks."""
    mujoco.mj_resetData(mjm, data)
    data.qpos[:], data.qvel[:] = random_pose(mjm, rng, 0.1)
    # at most two simulated seconds, about two hundred states apart by a few steps
    stride = max(1, int(0.01 / mjm.opt.timestep))
    drawn = []
    ctrl = random_ctrl(mjm, rng)
    for _ in range(200):
        if rng.random() < 0.2:
            ctrl = random_ctrl(mjm, rng)
            data.qvel[:] += 0.3 * rng.standard_normal(mjm.nv)  # a kick, so that nothing comes to rest for good
        data.ctrl[:] = ctrl
        for _ in range(stride):
            mujoco.mj_step(mjm, data)
        if data.warning[int(mujoco.mjtWarning.mjWARN_BADQACC)].number or np.abs(data.qvel).max(initial=0) > _FASTEST:
            break
        drawn.append((np.array(data.qpos), np.array(data.qvel), np.array(ctrl)))
    keep = rng.permutation(len(drawn))[:80]
    return [drawn[k] for k in keep]


def _sane(mjm: mujoco.MjModel, data: mujoco.MjData, state: tuple, deepest: float) -> bool:
    """Evaluate ``state``; return whether it is one that a simulation can come to and go on from."""
    mujoco.mj_resetData(mjm, data)
    data.qpos[:], data.qvel[:], data.ctrl[:] = state
    mujoco.mj_forward(mjm, data)
    if not np.all(np.isfinite(data.qacc)) or np.abs(data.qvel).max(initial=0) > _FASTEST:
        return False
    if np.abs(data.xpos).max() > _FARTHEST + mjm.stat.extent + np.abs(mjm.stat.center).max():
        return False
    for contact in data.contact:
        radii = [r for r in mjm.geom_rbound[contact.geom] if r > 0]
        if -contact.dist > deepest * min(radii, default=0.0):
            return False
    return True
