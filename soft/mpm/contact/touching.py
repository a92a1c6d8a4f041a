"""Contact of grid nodes with geoms, in compiled code: eight nodes of a line at once.

A node whose distance from a geom is less than three quarters of a cell does not approach it: the normal velocity
relative to the geom becomes 0 (or rebounds), the tangential one is slowed by friction, as Coulomb's law says. Farther
nodes are slowed by a share that falls with the distance, by the geom's softness. The body gets what the node loses.

So far, as a node carries the momentum of matter that is up to a cell and a half away. Between nodes velocities are
smooth, so that particles creep into a geom all the same; they are put back.
"""

from typing import Any

from ....physics.machine.codegen.words import FLOAT, FLOATS, INT, INTS, Function, Module
from ..kernels.layout import ACTIVE, BATCH, BODY, BODY_NUMBERS, GEOM, LANES, POS, POSE, WORKER, WRENCH, geom_numbers
from ..kernels.transfer import node_columns, put_node_columns
from ..laws.arithmetic import Compiled
from .fields import Fields
from .recoil import SIX, Recoil, cross
from .shapes import CLOSED, rounded

KINDS = (*CLOSED, "mesh", "hfield")
"""The kinds of shapes; the place of one is its number in `GEOM`."""
REACH, ROUND, GAP = 0.75, 0.5, 0.25
"""Cells: how far contact reaches, the radius of edges, and how near the middles of particles come. With these a box
displaces its volume of a liquid, to 0.4 cells of its width, wherever it lies in the grid. At a sharp edge the nodes
would be stopped along one side only, and the liquid would pass along the other."""
FAINT = 2.302585
"""Softnesses at which the share of the velocity that contact takes is a tenth: there it ends."""


class Contact:
    """The compiled functions.

    Attributes:
        touch: stop the nodes of a box at all geoms, one after the other.
        put_back: move particles of a block that are inside of geoms to their surfaces.
    """

    def __init__(self, module: Module) -> None:
        self.recoil = Recoil(module)
        distances = _distances(module, Fields(module))
        region = _region(module)
        meeting = _meeting(module, distances)
        stopping = _stopping(module, distances)
        self.put_back = _put_back(module, distances)
        self.touch = _touch(module, region, meeting, stopping, self.recoil)


def _reach(f: Function, batch: Any, geom: Any) -> tuple[Any, Any]:
    """Return the distances up to which contact is full, and where it ends."""
    full = f.convert(batch.dx, FLOAT) * REACH
    return full, full + geom_numbers(geom, "softness")[0] * FAINT


def _region(module: Module) -> Function:
    """Write the box of a geom in the world, (3, 2), and the nodes of a box that are near it, (3, 2)."""
    args: dict[str, Any] = {"batch": BATCH, "geom": GEOM, "pose": FLOATS, "box": INTS, "bounds": FLOATS, "region": INTS}
    with module.function("region_of", **args) as (f, batch, geom, pose, box, bounds, region):
        cells = 1.0 / f.convert(batch.dx, FLOAT)
        _, reach = _reach(f, batch, geom)
        low, high = geom_numbers(geom, "low"), geom_numbers(geom, "high")
        middle = [(a + b) * 0.5 for a, b in zip(low, high, strict=True)]
        half = [(b - a) * 0.5 for a, b in zip(low, high, strict=True)]
        for axis in range(3):
            turn = [pose[3 + 3 * axis + c] for c in range(3)]
            at, wide = pose[axis], f.constant(0.0, FLOAT)
            for c in range(3):
                at = f.fma(turn[c], middle[c], at)
                wide = f.fma(f.abs(turn[c]), half[c], wide)
            bounds[2 * axis], bounds[2 * axis + 1] = at - wide, at + wide
            wide = wide + reach
            first = _node(f, (at - wide - batch.origin[axis]) * cells)
            end = _node(f, (at + wide - batch.origin[axis]) * cells) + 1
            first = f.select(first > box[2 * axis], first, box[2 * axis])
            end = f.select(end < box[2 * axis + 1], end, box[2 * axis + 1])
            region[2 * axis], region[2 * axis + 1] = first, end
    return f


def _node(f: Function, x: Any) -> Any:
    """Return the node before a place, which may be far away."""
    return f.convert(f.floor(f.minimum(f.maximum(x, -1e6), 1e6)), INT)


def _distances(module: Module, fields: Fields) -> Function:
    """Write distances and normals (4, LANES) of points (3, LANES) in the world."""
    args: dict[str, Any] = {"batch": BATCH, "geom": GEOM, "pose": FLOATS, "points": FLOATS, "found": FLOATS}
    with module.function("distances", **args) as (f, batch, geom, pose, points, found):
        m = Compiled(f)
        offset = [points.vector(c * LANES, LANES) - pose[c] for c in range(3)]
        turn = [[pose[3 + 3 * r + c] for c in range(3)] for r in range(3)]
        local = [offset[0] * turn[0][c] + offset[1] * turn[1][c] + offset[2] * turn[2][c] for c in range(3)]
        size = [f.splat(x, LANES) for x in geom_numbers(geom, "size")]
        radius = f.splat(f.convert(batch.dx, FLOAT) * ROUND, LANES)
        for number, kind in enumerate(KINDS):
            with f.when(geom.kind.equals(number)):
                if kind in CLOSED:
                    distance, away = rounded(m, kind, size, radius, local)
                    for n, x in enumerate((distance, *away)):
                        f.store(found + n * LANES, x)
                else:
                    places = f.array(FLOAT, 3 * LANES)
                    for n, x in enumerate(local):
                        f.store(places + n * LANES, x)
                    f.call(fields.mesh if kind == "mesh" else fields.ground, geom, places, found)
        away = [found.vector((1 + c) * LANES, LANES) for c in range(3)]
        for r in range(3):
            f.store(found + (1 + r) * LANES, away[0] * turn[r][0] + away[1] * turn[r][1] + away[2] * turn[r][2])
    return f


def _node_distances(
    f: Function, distances: Function, batch: Any, geom: Any, pose: Any, at: tuple, rooms: tuple[Any, Any]
) -> list[Any]:
    """Write a call for the nodes k, k + 1, ... of line i, j, where `at` is (i, j, k); return their places, m."""
    places = _places(f, batch, *at)
    for c, x in enumerate(places):
        f.store(rooms[0] + c * LANES, x)
    f.call(distances, batch, geom, pose, *rooms)
    return places


def _places(f: Function, batch: Any, i: Any, j: Any, k: Any) -> list[Any]:
    """Return the places of eight nodes, m."""
    dx = f.convert(batch.dx, FLOAT)
    x, y = (f.splat(f.fma(f.convert(n, FLOAT), dx, batch.origin[axis]), LANES) for axis, n in ((0, i), (1, j)))
    numbers = f.convert(f.indices(LANES) + k, FLOAT)
    return [x, y, f.fma(numbers, f.splat(dx, LANES), f.splat(batch.origin[2], LANES))]


class _Nodes:
    """Eight nodes beside a geom, in a function that is written: what contact needs of them."""

    def __init__(self, f: Function, batch: Any, worker: Any, geom: Any, found: Any, line: Any, place: list) -> None:
        self.f = f
        self.body = worker.body + geom.body * BODY
        self.moves = geom.body >= 0
        self.velocity, self.mass = node_columns(f, line)
        self.distance, self.normal = found.vector(0, LANES), [found.vector((1 + c) * LANES, LANES) for c in range(3)]
        full, self.reach = _reach(f, batch, geom)
        soft = f.maximum(geom_numbers(geom, "softness")[0], 1e-10)
        inside = self.distance <= full
        share = Compiled(f).exp((self.distance - full) * (-1.0 / soft))
        self.share = f.select(inside, f.constant(1.0, FLOAT.vector(LANES)), share)
        self.arm = place

    def relative(self, twist: Any, com: Any) -> tuple[list, Any]:
        """Return velocities relative to the geom (3), and along the normal."""
        self.arm = [x - com[c] for c, x in enumerate(self.arm)]
        spin = cross([self.f.splat(twist[3 + c], LANES) for c in range(3)], self.arm)
        rel = [v - s - twist[c] for c, (v, s) in enumerate(zip(self.velocity, spin, strict=True))]
        n = self.normal
        return rel, rel[0] * n[0] + rel[1] * n[1] + rel[2] * n[2]

    def approaching(self, normal_velocity: Any, k: Any, end: Any) -> Any:
        """Return where nodes before `end` approach the geom."""
        f = self.f
        within = (f.indices(LANES) + k) < end
        return within & (self.mass > 0.0) & (self.distance <= self.reach) & (normal_velocity < 0.0)


def _motion(f: Function, worker: Any, geom: Any, room: Any) -> tuple[Any, Any]:
    """Return velocities (6) and the centre of mass (3) of a geom's body, all 0 for one that does not move."""
    with f.loop(0, 9) as k:
        room[k] = 0.0
    with f.when(geom.body >= 0), f.loop(0, 9) as k:
        room[k] = (worker.body + geom.body * BODY)[k]
    return room + 3, room


def _line(f: Function, batch: Any, worker: Any, i: Any, j: Any, k: Any) -> Any:
    return worker.grid + ((i * batch.nodes[1] + j) * batch.nodes[2] + k) * 4


def _meeting(module: Module, distances: Function) -> Function:
    """Write the inertia (6, 6) of the nodes that approach a geom, and the impulse (6) that would stop them."""
    args: dict[str, Any] = {"batch": BATCH, "worker": WORKER, "geom": GEOM, "pose": FLOATS, "region": INTS}
    args |= {"met": FLOATS, "impulse": FLOATS}
    with module.function("meeting", **args) as (f, batch, worker, geom, pose, region, met, impulse):
        points, found, V = f.array(FLOAT, 3 * LANES), f.array(FLOAT, 4 * LANES), FLOAT.vector(LANES)
        twist, com = _motion(f, worker, geom, f.array(FLOAT, 9))
        pairs = [(a, b) for a in range(SIX) for b in range(a, SIX)]
        sums = {pair: f.variable(V, 0.0) for pair in pairs}
        stops = [f.variable(V, 0.0) for _ in range(SIX)]
        bounce = geom_numbers(geom, "restitution")[0] + 1.0
        with _each(f, region) as (i, j, k, end):
            places = _node_distances(f, distances, batch, geom, pose, (i, j, k), (points, found))
            with f.when(f.any(found.vector(0, LANES) < _reach(f, batch, geom)[1])):
                line = _line(f, batch, worker, i, j, k)
                nodes = _Nodes(f, batch, worker, geom, found, line, places)
                _, along = nodes.relative(twist, com)
                approaches = nodes.approaching(along, k, end)
                weight = f.select(approaches, nodes.mass * nodes.share * bounce, f.constant(0.0, V))
                ray = [*nodes.normal, *cross(nodes.arm, nodes.normal)]
                heavy = [weight * x for x in ray]
                for a, b in pairs:
                    sums[a, b].set(f.fma(heavy[a], ray[b], sums[a, b].value))
                for a in range(SIX):
                    stops[a].set(f.fma(heavy[a], along, stops[a].value))
        for a, b in pairs:
            met[SIX * a + b] = f.total(sums[a, b].value)
        for a in range(SIX):
            impulse[a] = f.total(stops[a].value)
    return f


def _stopping(module: Module, distances: Function) -> Function:
    """Write the change of the nodes' velocities, and the impulse (6) that the geom's body gets."""
    args: dict[str, Any] = {
        "batch": BATCH,
        "worker": WORKER,
        "geom": GEOM,
        "pose": FLOATS,
        "region": INTS,
        "impulse": FLOATS,
    }
    with module.function("stopping", **args) as (f, batch, worker, geom, pose, region, impulse):
        points, found, V = f.array(FLOAT, 3 * LANES), f.array(FLOAT, 4 * LANES), FLOAT.vector(LANES)
        twist, com = _motion(f, worker, geom, f.array(FLOAT, 9))
        given = [f.variable(V, 0.0) for _ in range(SIX)]
        (friction,), (bounce,) = geom_numbers(geom, "friction"), geom_numbers(geom, "restitution")
        zero = f.constant(0.0, V)
        with _each(f, region) as (i, j, k, end):
            places = _node_distances(f, distances, batch, geom, pose, (i, j, k), (points, found))
            with f.when(f.any(found.vector(0, LANES) < _reach(f, batch, geom)[1])):
                line = _line(f, batch, worker, i, j, k)
                nodes = _Nodes(f, batch, worker, geom, found, line, places)
                rel, along = nodes.relative(twist, com)
                approaches = nodes.approaching(along, k, end)
                slide = [x - along * n for x, n in zip(rel, nodes.normal, strict=True)]
                speed = f.sqrt(slide[0] * slide[0] + slide[1] * slide[1] + slide[2] * slide[2])
                left = f.maximum(along * friction / f.maximum(speed, 1e-12) + 1.0, 0.0)
                share = f.select(approaches, nodes.share, zero)
                change = [
                    (s * (left - 1.0) - along * n * (bounce + 1.0)) * share
                    for s, n in zip(slide, nodes.normal, strict=True)
                ]
                put_node_columns(f, line, [v + c for v, c in zip(nodes.velocity, change, strict=True)], nodes.mass)
                force = [c * nodes.mass * -1.0 for c in change]
                for a, x in enumerate([*force, *cross(nodes.arm, force)]):
                    given[a].set(given[a].value + x)
        for a in range(SIX):
            impulse[a] = f.total(given[a].value)
    return f


def _put_back(module: Module, distances: Function) -> Function:
    with module.function("put_back", batch=BATCH, worker=WORKER, block=FLOATS) as (f, batch, worker, block):
        found, zero = f.array(FLOAT, 4 * LANES), f.constant(0.0, FLOAT.vector(LANES))
        active = block.vector(ACTIVE * LANES, LANES)
        moves, gap = (active > 0.0) & (active <= 1.0), f.convert(batch.dx, FLOAT) * GAP
        with f.loop(0, batch.geoms) as g:
            bounds, near = worker.bounds + g * 6, moves
            for axis in range(3):
                x = block.vector((POS + axis) * LANES, LANES)
                near = near & (x > bounds[2 * axis] - gap) & (x < bounds[2 * axis + 1] + gap)
            with f.when(f.any(near)):
                f.call(distances, batch, batch.geom[g], worker.poses + g * POSE, block + POS * LANES, found)
                depth = f.select(near, f.minimum(found.vector(0, LANES) - gap, 0.0), zero)
                for axis in range(3):
                    at = block + (POS + axis) * LANES
                    f.store(at, at.vector(0, LANES) - depth * found.vector((1 + axis) * LANES, LANES))
    return f


class _each:
    """Loops over a region, eight nodes at once: i, j, k of the first, and the end of the line."""

    def __init__(self, f: Function, region: Any) -> None:
        self._loops = [f.loop(region[0], region[1]), f.loop(region[2], region[3]), f.loop(region[4], region[5], LANES)]
        self._region = region

    def __enter__(self) -> tuple:
        return (*(loop.__enter__() for loop in self._loops), self._region[5])

    def __exit__(self, *error: Any) -> None:
        for loop in reversed(self._loops):
            loop.__exit__(*error)


def _touch(module: Module, region: Function, meeting: Function, stopping: Function, recoil: Recoil) -> Function:
    args: dict[str, Any] = {"batch": BATCH, "worker": WORKER, "box": INTS, "wrenches": FLOATS}
    with module.function("touch", **args) as (f, batch, worker, box, wrenches):
        near, met, impulse = f.array(INT, 6), f.array(FLOAT, SIX * SIX), f.array(FLOAT, SIX)
        kept = f.array(FLOAT, SIX)
        with f.loop(0, batch.geoms) as g:
            geom, pose = batch.geom[g], worker.poses + g * POSE
            f.call(region, batch, geom, pose, box, worker.bounds + g * 6, near)
            with f.when((near[0] < near[1]) & (near[2] < near[3]) & (near[4] < near[5])):
                body = worker.body + geom.body * BODY
                velocities = body + BODY_NUMBERS["velocity"]
                with f.when(geom.body >= 0):
                    f.call(meeting, batch, worker, geom, pose, near, met, impulse)
                    with f.loop(0, SIX) as a:
                        kept[a] = velocities[a]
                    f.call(recoil.meet, body, met, impulse)
                f.call(stopping, batch, worker, geom, pose, near, impulse)
                with f.when(geom.body >= 0):
                    with f.loop(0, SIX) as a:
                        velocities[a] = kept[a]
                        total = wrenches + geom.body * WRENCH
                        total[a] = total[a] + impulse[a]
                    f.call(recoil.respond, body, impulse)
    return f
