"""The answer of bodies to impulses within a launch, in compiled code.

A body's velocities change by L L' times an impulse, where L L' is the inverse of its inertia. Nodes that a light body
meets are heavier than it, so its velocity is found together with theirs: (1 + L' A L) y = L' b, change L y, where A is
the inertia of the nodes as the contact sees it and b the impulse that would stop them all.
"""

from typing import Any

from ....physics.machine.codegen.words import FLOAT, FLOATS, INT, Function, Module
from ..kernels.layout import BATCH, BODY, BODY_NUMBERS, POSE, WORKER

SIX = 6
ROOT = BODY_NUMBERS["root"]


class Recoil:
    """The compiled functions.

    Attributes:
        respond: change a body's velocities by an impulse.
        meet: change its velocities to those that it has together with nodes.
        move: move a worker's poses by a substep.
    """

    def __init__(self, module: Module) -> None:
        self.respond = _respond(module)
        self.meet = _meet(module, self.respond)
        self.move = _move(module)


def _respond(module: Module) -> Function:
    with module.function("respond", body=FLOATS, impulse=FLOATS) as (f, body, impulse):
        root, velocities = body + ROOT, body + BODY_NUMBERS["velocity"]
        y = f.array(FLOAT, SIX)
        with f.loop(0, SIX) as c:
            total = f.variable(FLOAT, 0.0)
            with f.loop(0, SIX) as r:
                total.set(f.fma(root[r * SIX + c], impulse[r], total.value))
            y[c] = total.value
        _add_product(f, root, y, velocities)
    return f


def _add_product(f: Function, root: Any, y: Any, velocities: Any) -> None:
    """Add L y to velocities."""
    with f.loop(0, SIX) as r:
        total = f.variable(FLOAT, velocities[r])
        with f.loop(0, SIX) as c:
            total.set(f.fma(root[r * SIX + c], y[c], total.value))
        velocities[r] = total.value


def _meet(module: Module, respond: Function) -> Function:
    """Write it for A (6, 6), of which the upper triangle is read, and b (6,)."""
    with module.function("meet", body=FLOATS, met=FLOATS, impulse=FLOATS) as (f, body, met, impulse):
        root = body + ROOT
        half, S, y = f.array(FLOAT, SIX * SIX), f.array(FLOAT, SIX * SIX), f.array(FLOAT, SIX)
        # half = A L, S = 1 + L' half, y = L' b.
        with f.loop(0, SIX) as r, f.loop(0, SIX) as c:
            total = f.variable(FLOAT, 0.0)
            with f.loop(0, SIX) as k:
                first = f.select(r < k, r * SIX + k, k * SIX + r)
                total.set(f.fma(met[first], root[k * SIX + c], total.value))
            half[r * SIX + c] = total.value
        with f.loop(0, SIX) as r:
            of_impulse = f.variable(FLOAT, 0.0)
            with f.loop(0, SIX) as k:
                of_impulse.set(f.fma(root[k * SIX + r], impulse[k], of_impulse.value))
            y[r] = of_impulse.value
            with f.loop(0, SIX) as c:
                total = f.variable(FLOAT, f.select(r.equals(c), f.constant(1.0, FLOAT), 0.0))
                with f.loop(0, SIX) as k:
                    total.set(f.fma(root[k * SIX + r], half[k * SIX + c], total.value))
                S[r * SIX + c] = total.value
        # Elimination; S is symmetric and at least 1, so that no pivot is small.
        with f.loop(0, SIX) as p:
            inverse = 1.0 / S[p * SIX + p]
            with f.loop(p + 1, SIX) as r:
                factor = S[r * SIX + p] * inverse
                y[r] = y[r] - factor * y[p]
                with f.loop(p, SIX) as c:
                    S[r * SIX + c] = S[r * SIX + c] - factor * S[p * SIX + c]
        with f.loop(0, SIX) as k:
            r = f.constant(SIX - 1, INT) - k
            total = f.variable(FLOAT, y[r])
            with f.loop(r + 1, SIX) as c:
                total.set(total.value - S[r * SIX + c] * y[c])
            y[r] = total.value / S[r * SIX + r]
        _add_product(f, root, y, body + BODY_NUMBERS["velocity"])
    return f


def _move(module: Module) -> Function:
    """Write the movement of all geoms of bodies, and of centres of mass, by their velocities."""
    with module.function("move_poses", batch=BATCH, worker=WORKER) as (f, batch, worker):
        dt = f.convert(batch.dt, FLOAT)
        with f.loop(0, batch.geoms) as g:
            slot = batch.geom[g].body
            with f.when(slot >= 0):
                body, pose = worker.body + slot * BODY, worker.poses + g * POSE
                v, w = ([body[k + c] for c in range(3)] for k in (BODY_NUMBERS["velocity"], BODY_NUMBERS["spin"]))
                arm = [pose[c] - body[c] for c in range(3)]
                way = [v[c] + x for c, x in enumerate(cross(w, arm))]
                for c in range(3):
                    pose[c] = pose[c] + way[c] * dt
                for axis in range(3):
                    column = [pose[3 + 3 * r + axis] for r in range(3)]
                    for r, x in enumerate(cross(w, column)):
                        pose[3 + 3 * r + axis] = column[r] + x * dt
        with f.loop(0, batch.bodies) as b:
            body = worker.body + b * BODY
            for c in range(3):
                body[c] = body[c] + body[BODY_NUMBERS["velocity"] + c] * dt
            for c in range(SIX):
                rate = body[BODY_NUMBERS["acceleration"] + c]
                body[BODY_NUMBERS["velocity"] + c] = body[BODY_NUMBERS["velocity"] + c] + rate * dt
    return f


def cross(a: Any, b: Any) -> list[Any]:
    """Return a x b."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
