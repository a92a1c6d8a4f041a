"""Feet: how long they have been in the air and on the ground, and how high they swung."""

from ..arrays import Array, namespace
from ..task.task import Task, TaskState


class FeetAirTime:
    """Times of feet in the air and on the ground, in the task's memory.

    Make one in `bind`, put `begin` into the memory of a reset, and call `update` in `step`, before the rewards:

        self.feet = FeetAirTime(self, 4)
        ...
        state = self.feet.update(state, contact=touch > 1.0, height=feet_above_ground)
        landed = state.memory["feet_touchdown"]
        reward = row_sum((state.memory["feet_last_air_time"] - 0.5) * landed)

    | memory | shape | what |
    |---|---|---|
    | `name_contact` | (n, feet) bool | touches the ground |
    | `name_touchdown` | (n, feet) bool | touches it and did not a step ago |
    | `name_air_time` | (n, feet) | s in the air up to now; 0 on the ground |
    | `name_contact_time` | (n, feet) | s on the ground up to now; 0 in the air |
    | `name_last_air_time` | (n, feet) | s in the air of the last swing that ended |
    | `name_peak` | (n, feet) | m, the highest point of the present swing; 0 on the ground |
    | `name_last_peak` | (n, feet) | m, that of the last swing that ended |

    Episodes begin with all feet on the ground, so that a fall onto them is no touchdown of a swing.

    Args:
        task: a bound task.
        feet: how many.
        name: of the memory.
    """

    def __init__(self, task: Task, feet: int, name: str = "feet") -> None:
        self._task, self._feet = task, feet
        parts = ("contact", "touchdown", "air_time", "contact_time", "last_air_time", "peak", "last_peak")
        self.contact, self.touchdown, self.air, self.ground, self.last_air, self.peak, self.last_peak = (
            f"{name}_{part}" for part in parts
        )

    def begin(self, qpos: Array) -> dict[str, Array]:
        """Return the memory with which n episodes begin, of coordinates (n, nq) with which they do."""
        xp = namespace(qpos)
        none = xp.stack([0 * qpos[:, 0]] * self._feet, axis=1)
        times = dict.fromkeys((self.air, self.ground, self.last_air, self.peak, self.last_peak), none)
        return {self.contact: none == 0, self.touchdown: none > 0, **times}

    def update(self, state: TaskState, contact: Array, height: Array | None = None) -> TaskState:
        """Go on by a step.

        Args:
            state: after the step.
            contact: where feet touch the ground, (n, feet) bool.
            height: of the feet above the ground, (n, feet) m; None: peaks stay 0.
        """
        xp, dt, memory = self._task.xp, self._task.dt, state.memory
        landed = contact & ~memory[self.contact]
        air, ground = memory[self.air], memory[self.ground]
        none = 0 * air
        changed = {
            self.contact: contact,
            self.touchdown: landed,
            self.air: xp.where(contact, none, air + dt),
            self.ground: xp.where(contact, ground + dt, none),
            self.last_air: xp.where(landed, air, memory[self.last_air]),
        }
        if height is not None:
            peak = memory[self.peak]
            changed[self.last_peak] = xp.where(landed, peak, memory[self.last_peak])
            changed[self.peak] = xp.where(contact, none, xp.where(height > peak, height, peak))
        return state.remember(**changed)
