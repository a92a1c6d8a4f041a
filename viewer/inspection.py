"""A model in words: its sizes, and its bodies as a tree with joints, masses and geoms."""

import re

import mujoco

MOST_LINES = 300


def escaped(text: str) -> str:
    """Return markdown that shows a text literally: the page would otherwise run HTML in it."""
    return re.sub(r"[^A-Za-z0-9 .-]", lambda letter: f"&#{ord(letter[0])};", text)


def summary(mj: mujoco.MjModel) -> str:
    """Return the sizes of a model, as markdown."""
    sizes = {"bodies": mj.nbody - 1, "joints": mj.njnt, "dofs": mj.nv, "geoms": mj.ngeom, "controls": mj.nu}
    sizes |= {"sensors": mj.nsensor, "equalities": mj.neq, "tendons": mj.ntendon}
    words = ", ".join(f"{count} {name}" for name, count in sizes.items() if count)
    return f"**{escaped(_name(mj))}**: {words}; step {1000 * mj.opt.timestep:g} ms"


def tree(mj: mujoco.MjModel) -> str:
    """Return the bodies of a model as a nested list in markdown."""
    depth = [0] * mj.nbody
    lines = []
    for b in range(1, mj.nbody):
        depth[b] = depth[mj.body_parentid[b]] + 1
        joints = range(mj.body_jntadr[b], mj.body_jntadr[b] + mj.body_jntnum[b]) if mj.body_jntnum[b] else ()
        kinds = [f"{escaped(mj.joint(j).name or str(j))} ({_kind(mj, j)})" for j in joints]
        facts = [f"{mj.body_mass[b]:.3g} kg"]
        facts += [", ".join(kinds)] if kinds else []
        facts += [f"{mj.body_geomnum[b]} geoms"] if mj.body_geomnum[b] else []
        lines.append(f"{'  ' * (depth[b] - 1)}- **{escaped(mj.body(b).name or f'body {b}')}**: {'; '.join(facts)}")
    left = len(lines) - MOST_LINES
    return "\n".join(lines[:MOST_LINES] + ([f"- and {left} more"] if left > 0 else []))


def state(solver: object, mj: mujoco.MjModel, env: int) -> str:
    """Return the time of an environment and the speed of its fastest dof, in words."""
    time = float(solver.time[env])  # type: ignore[attr-defined]
    qvel = solver.qvel[env]  # type: ignore[attr-defined]
    speed = float(qvel.abs().max()) if mj.nv else 0.0
    return f"time {time:.2f} s, fastest dof {speed:.2f} rad/s or m/s"


def _name(mj: mujoco.MjModel) -> str:
    return mj.names[: mj.names.index(0)].decode(errors="replace") or "model"


def _kind(mj: mujoco.MjModel, joint: int) -> str:
    return mujoco.mjtJoint(mj.jnt_type[joint]).name.removeprefix("mjJNT_").lower()
