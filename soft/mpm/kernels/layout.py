"""The memory of particles: an environment's particles lie side by side, in blocks of eight.

A block has a row of eight numbers for each quantity of `ROWS`, so that code reads a vector of eight particles. All
particles of a block are of one entity, and thus of one material.
"""

from typing import Any

from ....physics.machine.codegen.words import DOUBLE, FLOATS, INT, INTS, Record, array_of

LANES = 8
"""Particles in a block: on all processors, as sums have their order."""
POS, VEL, AFFINE, STRAIN, VOLUME, REST, ACTIVE, ROWS = 0, 3, 6, 15, 21, 22, 25, 26
"""First rows of a block: position (3) m, velocity (3) m/s, affine velocity (9) 1/s by rows, elastic strain b - 1 of the
left Cauchy-Green tensor (6: xx yy zz xy xz yz), change of volume (what it means the law says), what rounding has left
of the position (3) m, and 1 where a particle exists, 0 where it does not yet, or not any more, FIXED where it exists
and never moves."""
FIXED = 1e6
"""The factor of the mass of fixed particles: nodes beside them stay where they are, to rounding."""
NUMBERS = 8
"""Numbers of an entity: mass and volume of a particle, then those of its law."""
MARGIN = 3
"""Cells of the grid beyond each wall."""

ENTITY = Record("Entity", law=INT, first=INT, end=INT)
"""Particles of one material: the number of its law, and its blocks."""
GEOM = Record(
    "Geom",
    kind=INT,  # its place in `shapes.KINDS`
    body=INT,  # the number of its body among those that recoil; -1: it does not
    numbers=FLOATS,  # `GEOM_NUMBERS`
    values=FLOATS,  # of a distance field (nx, ny, nz) or a height field (ny, nx), m
    nx=INT,
    ny=INT,
    nz=INT,
)
"""A shape that matter touches."""
GEOM_NUMBERS = {
    "size": 3,  # m
    "friction": 1,
    "softness": 1,  # m
    "restitution": 1,
    "low": 3,  # m, of its box in its frame
    "high": 3,
    "cell": 3,  # m, between the values of a field
}
"""Numbers of a geom by name, with their counts."""
_STARTS = {name: sum(list(GEOM_NUMBERS.values())[:k]) for k, name in enumerate(GEOM_NUMBERS)}


def geom_numbers(geom: Any, name: str) -> list[Any]:
    """Return the numbers of a geom, a record in a function, by name."""
    return [geom.numbers[_STARTS[name] + k] for k in range(GEOM_NUMBERS[name])]


POSE, BODY = 12, 51
"""Numbers of a pose (position, then the rotation by rows), and of a body (`BODY_NUMBERS`)."""
BODY_NUMBERS = {"com": 0, "velocity": 3, "spin": 6, "acceleration": 9, "root": 15}
"""First numbers of a body: its centre of mass (m), velocities there (m/s, rad/s), the accelerations that it would have
without matter, and L (6, 6) with L L' the inverse of its inertia there, velocities first (1/kg, 1/(kg m2))."""
WRENCH = 6
BATCH = Record(
    "Batch",
    blocks=INT,  # of an environment
    memory=FLOATS,  # (envs, blocks, ROWS, LANES)
    entities=INT,
    entity=array_of(ENTITY),
    numbers=FLOATS,  # (envs, entities, NUMBERS)
    gravity=FLOATS,  # (envs, 3), m/s2
    faults=INTS,  # (envs,): 1 if an environment is stopped
    held=INTS,  # (envs,): particles that the walls hold
    substeps=INT,
    dt=DOUBLE,  # s
    dx=DOUBLE,  # m
    origin=FLOATS,  # (3,), m: of node 0, 0, 0
    walls=FLOATS,  # (2, 3), m: lower and upper
    nodes=INTS,  # (3,): of the grid, along each axis
    geoms=INT,
    geom=array_of(GEOM),
    poses=FLOATS,  # (envs, geoms, POSE)
    bodies=INT,
    body=FLOATS,  # (envs, bodies, BODY)
    wrenches=FLOATS,  # (envs, bodies, WRENCH): impulses that a launch gave (N s, N m s about the centre of mass)
)
"""All environments."""
WORKER = Record(
    "Worker",
    **{f"unused{k}": INT for k in range(4)},  # as `worker.of_workers` wants it
    taken=INTS,
    count=INTS,
    item=INTS,
    batch=BATCH,
    grid=FLOATS,  # (nodes, 4): momentum, then velocity, and mass
    before=FLOATS,  # (blocks, ROWS, LANES): the particles at the start of a launch
    poses=FLOATS,  # (geoms, POSE): where geoms are in a substep
    body=FLOATS,  # (bodies, BODY)
    bounds=FLOATS,  # (geoms, 3, 2), m: boxes of geoms in the world
)
"""What a thread has: a grid, which it uses for one environment after the other."""
