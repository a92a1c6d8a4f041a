"""A biped walks on flat ground as it is commanded."""

from typing import ClassVar

from ..arrays import Array, row_sum
from ..task.task import TaskState
from . import terms
from .motion import Motion
from .velocity import VelocityTask


class BipedFlat(VelocityTask):
    """A biped with the figures of Unitree's G1, waist and arms held, follows commands of velocity on flat ground.

    Actions:

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | left_hip_pitch | -1 | 1 | target's way from standing / `action_scale` rad |
    | 1 | left_hip_roll | -1 | 1 | target's way from standing / `action_scale` rad |
    | 2 | left_hip_yaw | -1 | 1 | target's way from standing / `action_scale` rad |
    | 3 | left_knee | -1 | 1 | target's way from standing / `action_scale` rad |
    | 4 | left_ankle_pitch | -1 | 1 | target's way from standing / `action_scale` rad |
    | 5 | left_ankle_roll | -1 | 1 | target's way from standing / `action_scale` rad |
    | 6 | right_hip_pitch | -1 | 1 | target's way from standing / `action_scale` rad |
    | 7 | right_hip_roll | -1 | 1 | target's way from standing / `action_scale` rad |
    | 8 | right_hip_yaw | -1 | 1 | target's way from standing / `action_scale` rad |
    | 9 | right_knee | -1 | 1 | target's way from standing / `action_scale` rad |
    | 10 | right_ankle_pitch | -1 | 1 | target's way from standing / `action_scale` rad |
    | 11 | right_ankle_roll | -1 | 1 | target's way from standing / `action_scale` rad |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-2 | velocity | m/s | of the pelvis, in its frame |
    | 3-5 | turning | rad/s | of the pelvis, in its frame |
    | 6-8 | gravity | 1 | its direction in the pelvis' frame |
    | 9-20 | joints | rad | from where the robot stands, in the order of the actions |
    | 21-32 | joint velocities | rad/s | |
    | 33-35 | command | m/s, rad/s | velocity along x and y in the frame of the heading, and turning |
    | 36-47 | last action | 1 | |
    | 48-49 | clock | 1 | sine and cosine of the gait's phase |

    With `asymmetric=True` there are two parts. `policy` has entries 3 to 49, with noise of `noise_level` x 0.2, 0.05,
    0.01 and 1.5 on turning, gravity, joints and their velocities; `critic` has them exactly, then velocity (3), and of
    each foot the time in the air (2, s), the height (2, m) and whether it touches (2), and the torques (12, N m).

    Reward, per second (weights are options, and so are `tracking_sigma`, `foot_height`, `gait_frequency`):

    - `reward_tracking_lin_vel`: `tracking_lin_vel` x exp(-e² / `tracking_sigma`), e the error of the velocity along x
      and y in the frame of the heading
    - `reward_tracking_ang_vel`: `tracking_ang_vel` x the same of the rate of turning
    - `reward_alive`: `alive`
    - `reward_termination`: -`termination` in the step in which the robot falls; IsaacLab's G1 has 200
    - `reward_lin_vel_z`, `reward_ang_vel_xy`, `reward_orientation`: minus the weight x the square of the
      vertical velocity, of rolling and pitching, and of the horizontal part of the pelvis' z axis
    - `reward_torques`, `reward_action_rate`: minus the weight x the sum of the squares of torques, of the
      action's change
    - `reward_hips`: -`hips` x the sum of the squares of the distances of hip roll and yaw from standing
    - `reward_feet_phase`: `feet_phase` x exp(-sum (z - z*)² / 0.01) over both feet, z* =
      `foot_height` max(0, sin phase) while the robot is to walk, 0 while it is to stand; phases are half a turn apart
    - `reward_feet_slip`: -`feet_slip` x the sum of the squared horizontal speed of feet that stay on the ground
    - `reward_stand_still`: -`stand_still` x the sum of the joints' distances from standing, if that is commanded
    - `reward_dof_pos_limits`: -`dof_pos_limits` x how far joints are beyond 95 % of their ranges

    Ends when the pelvis is lower than `fall_height` above the ground or tilted by more than `fall_tilt` rad. Commands
    come all at once, so they are slower backwards and sideways: -0.5 to 1 m/s along x, up to 0.3 m/s along y. Starts,
    randomization and info as in `QuadrupedFlat`.
    """

    feet: ClassVar = ("left_foot", "right_foot")
    phases: ClassVar = (0.0, 0.5)
    camera: ClassVar = {"distance": 3.5, "trackbodyid": 1, "azimuth": 130.0, "elevation": -12.0}

    xml_file: str = "biped.xml"
    action_scale: float = 0.5
    lin_vel_x: tuple[float, float] = (-0.5, 1.0)
    lin_vel_y: tuple[float, float] = (-0.3, 0.3)
    gait_frequency: float = 1.5
    fall_height: float = 0.5
    fall_tilt: float = 0.8
    tracking_lin_vel: float = 2.0
    tracking_ang_vel: float = 0.75
    tracking_sigma: float = 0.25
    alive: float = 0.25
    termination: float = 0.0
    lin_vel_z: float = 0.2
    ang_vel_xy: float = 0.1
    orientation: float = 2.0
    torques: float = 1e-5
    action_rate: float = 0.02
    hips: float = 1.0
    feet_phase: float = 1.0
    foot_height: float = 0.1
    feet_slip: float = 0.25
    stand_still: float = 0.1
    dof_pos_limits: float = 1.0

    def terms(self, now: Motion, state: TaskState) -> dict[str, Array]:
        """Return the reward terms, per second."""
        lin, ang = terms.lin_vel_error(now), terms.ang_vel_error(now)
        hips = self.xp.concat((now.offset[:, 1:3], now.offset[:, 7:9]), axis=1)
        beyond = terms.dof_pos_limits(state.qpos[:, 7:], self.soft_low, self.soft_high)
        return {
            "reward_tracking_lin_vel": self.tracking_lin_vel * terms.tracking(lin, self.tracking_sigma),
            "reward_tracking_ang_vel": self.tracking_ang_vel * terms.tracking(ang, self.tracking_sigma),
            "reward_alive": 0 * lin + self.alive,
            "reward_termination": -self.termination * self.xp.astype(self.fallen(now), lin.dtype),
            "reward_lin_vel_z": -self.lin_vel_z * terms.lin_vel_z(now),
            "reward_ang_vel_xy": -self.ang_vel_xy * terms.ang_vel_xy(now),
            "reward_orientation": -self.orientation * terms.orientation(now),
            "reward_torques": -self.torques * terms.torques(now),
            "reward_action_rate": -self.action_rate * terms.action_rate(now),
            "reward_hips": -self.hips * row_sum(hips * hips),
            "reward_feet_phase": self.feet_phase * terms.feet_phase(now, self.foot_height),
            "reward_feet_slip": -self.feet_slip * terms.feet_slip(now),
            "reward_stand_still": -self.stand_still * terms.stand_still(now),
            "reward_dof_pos_limits": -self.dof_pos_limits * beyond,
        }
