"""A quadruped walks on flat ground as it is commanded."""

from typing import ClassVar

from ..arrays import Array
from ..task.task import TaskState
from . import terms
from .motion import Motion
from .velocity import VelocityTask


class QuadrupedFlat(VelocityTask):
    """A four-legged robot with the figures of Unitree's Go2 follows commands of velocity on flat ground.

    Actions:

    | index | name | low | high | meaning |
    |---|---|---|---|---|
    | 0 | FL_hip | -1 | 1 | target's way from standing / `action_scale` rad |
    | 1 | FL_thigh | -1 | 1 | target's way from standing / `action_scale` rad |
    | 2 | FL_calf | -1 | 1 | target's way from standing / `action_scale` rad |
    | 3 | FR_hip | -1 | 1 | target's way from standing / `action_scale` rad |
    | 4 | FR_thigh | -1 | 1 | target's way from standing / `action_scale` rad |
    | 5 | FR_calf | -1 | 1 | target's way from standing / `action_scale` rad |
    | 6 | RL_hip | -1 | 1 | target's way from standing / `action_scale` rad |
    | 7 | RL_thigh | -1 | 1 | target's way from standing / `action_scale` rad |
    | 8 | RL_calf | -1 | 1 | target's way from standing / `action_scale` rad |
    | 9 | RR_hip | -1 | 1 | target's way from standing / `action_scale` rad |
    | 10 | RR_thigh | -1 | 1 | target's way from standing / `action_scale` rad |
    | 11 | RR_calf | -1 | 1 | target's way from standing / `action_scale` rad |

    Observation:

    | index | name | unit | meaning |
    |---|---|---|---|
    | 0-2 | velocity | m/s | of the trunk, in its frame |
    | 3-5 | turning | rad/s | of the trunk, in its frame |
    | 6-8 | gravity | 1 | its direction in the trunk's frame |
    | 9-20 | joints | rad | from where the robot stands, in the order of the actions |
    | 21-32 | joint velocities | rad/s | |
    | 33-35 | command | m/s, rad/s | velocity along x and y in the frame of the heading, and turning |
    | 36-47 | last action | 1 | |

    With `asymmetric=True` there are two parts. `policy` has entries 3 to 47, with noise of `noise_level` x 0.2, 0.05,
    0.01 and 1.5 on turning, gravity, joints and their velocities; `critic` has them exactly, then velocity (3), and of
    each foot the time in the air (4, s), the height (4, m) and whether it touches (4), and the torques (12, N m).

    Reward, per second (weights are options, and so are `tracking_sigma` and `foot_height`):

    - `reward_tracking_lin_vel`: `tracking_lin_vel` x exp(-e² / `tracking_sigma`), e the error of the velocity along x
      and y in the frame of the heading
    - `reward_tracking_ang_vel`: `tracking_ang_vel` x the same of the rate of turning
    - `reward_lin_vel_z`, `reward_ang_vel_xy`, `reward_orientation`: minus the weight x the square of the
      vertical velocity, of rolling and pitching, and of the horizontal part of the trunk's z axis
    - `reward_torques`, `reward_action_rate`: minus the weight x the sum of the squares of torques, of the
      action's change
    - `reward_pose`: `pose` x exp(-sum w d²), d the joints' distance from standing, w 0.1 for calves, else 1
    - `reward_feet_air_time`: `feet_air_time` x the sum of (flight - 0.1 s) over feet that touch down
    - `reward_feet_clearance`: -`feet_clearance` x the sum of |height - `foot_height`| x root of the horizontal speed
    - `reward_feet_slip`: -`feet_slip` x the sum of the squared horizontal speed of feet that stay on the ground
    - `reward_stand_still`: -`stand_still` x the sum of |d| while the command is to stand

    Ends when the trunk is lower than `fall_height` above the ground or tilted by more than `fall_tilt` rad. Starts:
    anywhere within 0.5 m, turned anywhere, joints within 0.1 rad of standing, velocities within 0.3 m/s and rad/s.
    Commands: uniform in `lin_vel_x`, `lin_vel_y`, `ang_vel_z`, resampled every `resampling_time` s; a share
    `standing_share` is to stand. Randomization, off unless asked for: `friction`, `added_mass` and `push_speed`
    (`VelocityTask`). Info: `lin_vel_error` (m/s), `ang_vel_error` (rad/s).
    """

    feet: ClassVar = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
    sole: ClassVar = 0.022
    camera: ClassVar = {"distance": 2.2, "trackbodyid": 1, "azimuth": 130.0, "elevation": -20.0}

    xml_file: str = "quadruped.xml"
    action_scale: float = 0.5
    tracking_lin_vel: float = 1.0
    tracking_ang_vel: float = 0.5
    tracking_sigma: float = 0.25
    lin_vel_z: float = 0.5
    ang_vel_xy: float = 0.05
    orientation: float = 1.0
    torques: float = 2e-4
    action_rate: float = 0.01
    pose: float = 0.5
    feet_air_time: float = 1.0
    feet_clearance: float = 0.3
    foot_height: float = 0.08
    feet_slip: float = 0.1
    stand_still: float = 0.2

    def bind(self) -> None:
        """Prepare the weights of the pose."""
        super().bind()
        self.pose_weights = self.array([1.0, 1.0, 0.1] * 4)

    def terms(self, now: Motion, state: TaskState) -> dict[str, Array]:
        """Return the reward terms, per second."""
        lin, ang = terms.lin_vel_error(now), terms.ang_vel_error(now)
        return {
            "reward_tracking_lin_vel": self.tracking_lin_vel * terms.tracking(lin, self.tracking_sigma),
            "reward_tracking_ang_vel": self.tracking_ang_vel * terms.tracking(ang, self.tracking_sigma),
            "reward_lin_vel_z": -self.lin_vel_z * terms.lin_vel_z(now),
            "reward_ang_vel_xy": -self.ang_vel_xy * terms.ang_vel_xy(now),
            "reward_orientation": -self.orientation * terms.orientation(now),
            "reward_torques": -self.torques * terms.torques(now),
            "reward_action_rate": -self.action_rate * terms.action_rate(now),
            "reward_pose": self.pose * terms.pose(now, self.pose_weights),
            "reward_feet_air_time": self.feet_air_time * terms.feet_air_time(now, 0.1),
            "reward_feet_clearance": -self.feet_clearance * terms.feet_clearance(now, self.foot_height),
            "reward_feet_slip": -self.feet_slip * terms.feet_slip(now),
            "reward_stand_still": -self.stand_still * terms.stand_still(now),
        }
