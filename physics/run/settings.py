"""The settings of a launch, which are the entries of the kernel's argument `call`, and the counters of environments."""

from enum import IntEnum, auto


class _FromZero(IntEnum):
    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:
        return count


class Setting(_FromZero):
    """The entries of `call`, an array of `CALL_LENGTH` integers."""

    SUBSTEPS = auto()
    """Steps to take under the same controls; 0: evaluate only."""
    PERIODS = auto()
    """Number of control vectors, one step or more each; 0: use those in memory."""
    REPLAY = auto()
    """1: evaluate at the state of the last evaluation, and leave the memory as it is; 2: so at the present state."""
    WORKERS = auto()
    """Number of workers."""
    TILES = auto()
    """Number of tiles."""
    ROWS = auto()
    """Number of rows of the scratch to hand out."""
    INDICES = auto()
    """Number of integers of the scratch to hand out."""
    STATE = auto()
    """Number of rows of the memory's group STATE."""
    INPUTS = auto()
    """Number of rows of INPUTS."""
    FORCES = auto()
    """Number of rows of FORCES."""
    KEPT = auto()
    """Number of rows of KEPT."""
    KEPT_FORCES = auto()
    """Number of rows of KEPT_FORCES."""
    START = auto()
    """Number of rows of START; 0: the memory has no such rows."""
    PARAMETERS = auto()
    """Number of rows of PARAMETERS."""
    APPLIED = auto()
    """Sum of the `APPLIED_FORCES` and `DOF_CONTROLS` flags in use; 0: FORCES and KEPT_FORCES are not read."""
    SMOOTH = auto()
    """1: compute the forces and accelerations without constraints."""
    REQUESTED = auto()
    """Sum of the bits of stages behind the pipeline that are to run (`tile_pass.ON_REQUEST`)."""
    AT_START = auto()
    """1: with REPLAY, evaluate at the start of the last step, if the integrator is Runge-Kutta."""
    AGAIN = auto()
    """1: take only the tiles that are marked in the argument `left`."""
    LAST = auto()
    """Position in `step.PIPELINE` of the last stage to run; without REPLAY the last there is."""
    NEXT = 32
    """Tiles that workers have taken so far; 0 between launches. Workers write it, so it has a cache line of its own."""
    FINISHED = 48
    """Workers that found no more tiles; 0 between launches; also in a cache line of its own."""
    LEFT = auto()
    """Tiles that did not fit into the scratch, and were left as they were."""
    NEED_CONTACTS = auto()
    """The most contact slots that one of these tiles needs; 0: there were enough."""
    NEED_ENTRIES = auto()
    """The most entries of the Hessian that one of them needs; 0: there were enough."""
    NEED_PAIRS = auto()
    """The most near pairs of geoms that a sweep finds in one of them; 0: there was room for all."""


CALL_LENGTH = 64
APPLIED_FORCES, DOF_CONTROLS = 1, 2


class Count(_FromZero):
    """The integers (counters) of an environment."""

    FAULT = auto()
    """Bits of the faults that occurred."""
    STEPS = auto()
    """Steps taken since the reset."""
    NITER = auto()
    """Solver iterations of the last evaluation."""
    EVALUATED = auto()
    """Steps taken before the last evaluation."""
    NEEDED = auto()
    """The most contacts since the reset, if there were ever more than `max_contacts`; otherwise 0."""


NON_FINITE = 1
"""Bit of `Count.FAULT`: the state became non-finite; the environment stands still until a reset."""
CONTACTS_FULL = 2
"""Bit of `Count.FAULT`: there were more contacts than `max_contacts`; the deepest were kept, and the motion goes on."""
