"""Rewards and costs of walking, (n,) each, as they are published; a task gives each a weight.

Sources: `tracking`, `lin_vel_z`, `ang_vel_xy`, `orientation`, `action_rate`: legged_gym and IsaacLab (BSD 3); `pose`,
`stand_still`, `dof_pos_limits`, `feet_air_time`, `feet_clearance`, `feet_slip`: MuJoCo Playground (Apache 2.0).
"""

from ..arrays import Array, exp, namespace, row_sum
from .motion import Motion


def tracking(squared_error: Array, sigma: float) -> Array:
    """Return exp(-e^2 / sigma): 1 where a command is followed."""
    return exp(squared_error * (-1.0 / sigma))


def lin_vel_error(now: Motion) -> Array:
    """Return the squared difference of the velocity along x and y, in the frame of the heading, to the command."""
    error = now.lin_vel[:, :2] - now.command[:, :2]
    return row_sum(error * error)


def ang_vel_error(now: Motion) -> Array:
    """Return the squared difference of the rate of turning about the body's z axis to the command."""
    error = now.ang_vel[:, 2] - now.command[:, 2]
    return error * error


def lin_vel_z(now: Motion) -> Array:
    """Return the square of the vertical velocity."""
    return now.lin_vel[:, 2] * now.lin_vel[:, 2]


def ang_vel_xy(now: Motion) -> Array:
    """Return the square of the rate of rolling and pitching."""
    rate = now.ang_vel[:, :2]
    return row_sum(rate * rate)


def orientation(now: Motion) -> Array:
    """Return the square of the horizontal part of the body's z axis: 0 where it is upright."""
    return row_sum(now.up[:, :2] * now.up[:, :2])


def action_rate(now: Motion) -> Array:
    """Return the square of the change of the action."""
    return row_sum(now.action_change * now.action_change)


def torques(now: Motion) -> Array:
    """Return the sum of the squares of the actuators' torques."""
    return row_sum(now.torque * now.torque)


def pose(now: Motion, weights: Array) -> Array:
    """Return exp of minus the weighted squares (nu,) of the joints' distances from where they stand."""
    return exp(-row_sum(now.offset * now.offset * weights))


def stand_still(now: Motion) -> Array:
    """Return the sum of the distances of joints from standing, if the command is to stand."""
    xp = namespace(now.offset)
    distance = row_sum(abs(now.offset))
    return xp.where(now.moves, xp.zeros_like(distance), distance)


def dof_pos_limits(joints: Array, low: Array, high: Array) -> Array:
    """Return by how much joints (n, nu) are beyond soft limits (nu,), rad, in all."""
    xp = namespace(joints)
    below, above = low - joints, joints - high
    zero = xp.zeros_like(joints)
    return row_sum(xp.where(below > 0, below, zero) + xp.where(above > 0, above, zero))


def feet_air_time(now: Motion, least: float, most: float = 1e9) -> Array:
    """Return by how much longer than `least` s, and at most `most` s, feet that touch down were in the air."""
    xp, feet = namespace(now.offset), now.feet
    flown = xp.where(feet.air_time < most, feet.air_time, most + 0 * feet.air_time) - least
    return _where_moving(now, row_sum(xp.where(feet.landed, flown, xp.zeros_like(flown))))


def feet_clearance(now: Motion, height: float) -> Array:
    """Return how far feet are from a height, m, weighted by the root of their horizontal speed."""
    feet, xp = now.feet, namespace(now.offset)
    return row_sum(abs(feet.height - height) * xp.sqrt(xp.sqrt(_horizontal(now))))


def feet_slip(now: Motion) -> Array:
    """Return the squared horizontal speed of the feet that stay on the ground."""
    xp, speed = namespace(now.offset), _horizontal(now)
    return _where_moving(now, row_sum(xp.where(now.feet.stays, speed, xp.zeros_like(speed))))


def feet_phase(now: Motion, height: float) -> Array:
    """Return how well feet keep to the clock: exp(-sum (z - z*)^2 / 0.01).

    z* is `height` max(0, sin) of a foot's phase while the robot is to walk, and 0 while it is to stand.
    """
    xp, feet = namespace(now.offset), now.feet
    lift = xp.where((feet.swing > 0) & now.moves[:, None], feet.swing, xp.zeros_like(feet.swing))
    error = feet.height - height * lift
    return exp(row_sum(error * error) * (-1 / 0.01))


def _horizontal(now: Motion) -> Array:
    """Return the squared horizontal speed of each foot, (n, feet)."""
    velocity = now.feet.velocity
    return velocity[..., 0] * velocity[..., 0] + velocity[..., 1] * velocity[..., 1]


def _where_moving(now: Motion, term: Array) -> Array:
    """Return a term where the command is to move, else 0."""
    xp = namespace(term)
    return xp.where(now.moves, term, xp.zeros_like(term))
