"""What a launch is told: the entries of the kernel's argument `call`, and the integers kept for each environment."""

from enum import IntEnum, auto


class _FromZero(IntEnum):
    @staticmethod
    def _generate_next_value_(name: str, start: int, count: int, last_values: list[int]) -> int:
        return count


class Setting(_FromZero):
    """Entries of `call`, an array of `CALL_LENGTH` integers."""

    SUBSTEPS = auto()
    """Steps to take under the same controls; 0: evaluate only."""
    PERIODS = auto()
    """Controls to take one after the other; 0: those in memory."""
    REPLAY = auto()
    """1: evaluate where the last evaluation was, and leave the memory as it is."""
    WORKERS = auto()
    """Number of workers."""
    TILES = auto()
    """Number of tiles."""
    ROWS = auto()
    """Rows of the scratch to hand out."""
    INDICES = auto()
    """Integers of the scratch to hand out."""
    STATE = auto()
    """Rows of the memory's group STATE."""
    INPUTS = auto()
    """Rows of INPUTS."""
    FORCES = auto()
    """Rows of FORCES."""
    KEPT = auto()
    """Rows of KEPT."""
    KEPT_FORCES = auto()
    """Rows of KEPT_FORCES."""
    PARAMETERS = auto()
    """Rows of PARAMETERS."""
    APPLIED = auto()
    """Sum of `APPLIED_FORCES` and `DOF_CONTROLS` that there may be; 0: FORCES and KEPT_FORCES are left alone."""
    SMOOTH = auto()
    """1: compute the forces and accelerations without constraints."""
    REQUESTED = auto()
    """Sum of the bits of stages behind the pipeline that are to run (`turn.ON_REQUEST`)."""
    BEGINNING = auto()
    """1: with REPLAY, evaluate where the last step began, if its integrator is Runge-Kutta's."""
    AGAIN = auto()
    """1: take only the tiles that the launch before left."""
    LAST = auto()
    """Place in `step.PIPELINE` of the last stage to run; of a launch without REPLAY that of the last there is."""
    NEXT = 32
    """Tiles that workers have taken so far; 0 between launches. Workers write it, so it has a cache line of its own."""
    FINISHED = 48
    """Workers that found no tile left; 0 between launches, and in a cache line of its own."""
    LEFT = auto()
    """Tiles that did not find room in the scratch, and were left as they were."""
    NEED_CONTACTS = auto()
    """Contact slots that one of them needs, the most; 0: there were enough."""
    NEED_ENTRIES = auto()
    """Entries of the Hessian, likewise."""
    NEED_PAIRS = auto()
    """Pairs of geoms that a sweep finds near, likewise."""


CALL_LENGTH = 64
APPLIED_FORCES, DOF_CONTROLS = 1, 2


class Count(_FromZero):
    """Rows of the integers of an environment."""

    FAULT = auto()
    """Bits of what went wrong."""
    STEPS = auto()
    """Steps taken since the reset."""
    NITER = auto()
    """Solver iterations of the last evaluation."""
    EVALUATED = auto()
    """Steps taken before the last evaluation."""
    NEEDED = auto()
    """Most contacts that the environment had since its reset where they did not find room; 0: all did."""


NON_FINITE = 1
"""Bit of `Count.FAULT`: the state stopped being finite; the environment waits for a reset."""
CONTACTS_FULL = 2
"""Bit of `Count.FAULT`: more contacts than `max_contacts`, of which the deepest were kept; it goes on."""
