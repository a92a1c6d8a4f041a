"""The robots of packages that ship files: their names, titles, kinds, licences and files, a row each."""

from typing import NamedTuple


class RobotFile(NamedTuple):
    """A robot among the files of a source (`packages.SOURCES`).

    Attributes:
        title: its name for people.
        kind: such as "quadruped", in the words of MuJoCo Menagerie where it has one.
        file: its path among the files of the source; "": its name and ".xml".
        licence: of its files; "": that of the source.
    """

    title: str
    kind: str
    file: str = ""
    licence: str = ""


LICENCES = {
    "tumble": "Apache-2.0",
    "gymnasium": "MIT",
    "dm_control": "Apache-2.0",
    "dm_locomotion": "Apache-2.0",
    "gymnasium_robotics": "MIT",
    "metaworld": "MIT",
    "myo_sim": "Apache-2.0",
    "myosuite": "Apache-2.0",
}
"""The licence of the files of each source."""

_MYO = "simhive/myo_sim"

ROBOTS: dict[str, dict[str, RobotFile]] = {
    "tumble": {
        "ant": RobotFile("Ant", "quadruped"),
        "arm": RobotFile("Arm with a gripper", "arm", "arm_robot.xml"),
        "biped": RobotFile("Biped with arms", "humanoid"),
        "drone": RobotFile("Drone with four propellers", "drone"),
        "half_cheetah": RobotFile("Half cheetah", "planar"),
        "hand": RobotFile("Hand with four fingers", "end_effector"),
        "hopper": RobotFile("Hopper", "planar"),
        "humanoid": RobotFile("Humanoid", "humanoid"),
        "pusher": RobotFile("Pusher", "arm"),
        "quadruped": RobotFile("Quadruped", "quadruped"),
        "reacher": RobotFile("Reacher", "planar"),
        "swimmer": RobotFile("Swimmer", "planar"),
        "walker2d": RobotFile("Walker", "planar"),
    },
    "gymnasium": {
        "ant": RobotFile("Ant", "quadruped"),
        "half_cheetah": RobotFile("Half cheetah", "planar"),
        "hopper": RobotFile("Hopper", "planar"),
        "humanoid": RobotFile("Humanoid", "humanoid"),
        "humanoid_standup": RobotFile("Humanoid, lying", "humanoid", "humanoidstandup.xml"),
        "pusher": RobotFile("Pusher", "arm", "pusher_v5.xml"),
        "reacher": RobotFile("Reacher", "planar"),
        "swimmer": RobotFile("Swimmer", "planar"),
        "walker2d": RobotFile("Walker", "planar", "walker2d_v5.xml"),
    },
    "dm_control": {
        "acrobot": RobotFile("Acrobot", "planar"),
        "cheetah": RobotFile("Cheetah", "planar"),
        "dog": RobotFile("Dog", "quadruped"),
        "finger": RobotFile("Finger", "planar"),
        "fish": RobotFile("Fish", "swimmer"),
        "hopper": RobotFile("Hopper", "planar"),
        "humanoid": RobotFile("Humanoid", "humanoid"),
        "humanoid_CMU": RobotFile("Humanoid of motion capture", "humanoid"),
        "manipulator": RobotFile("Planar arm with a gripper", "planar"),
        "quadruped": RobotFile("Quadruped", "quadruped"),
        "reacher": RobotFile("Reacher", "planar"),
        "stacker": RobotFile("Planar arm with boxes", "planar"),
        "walker": RobotFile("Walker", "planar"),
    },
    "dm_locomotion": {
        "dog": RobotFile("Dog", "quadruped", "dog_v2/dog.xml"),
        "fruitfly": RobotFile("Fruit fly", "biomechanical", "fruitfly_v2/fruitfly.xml"),
        "humanoid_CMU_V2019": RobotFile("Humanoid of motion capture, 2019", "humanoid"),
        "humanoid_CMU_V2020": RobotFile("Humanoid of motion capture, 2020", "humanoid"),
        "jumping_ball": RobotFile("Ball that jumps", "misc", "jumping_ball/jumping_ball_with_head.xml"),
        "rodent": RobotFile("Rodent", "quadruped"),
    },
    "gymnasium_robotics": {
        "adroit_hand": RobotFile("Adroit hand on an arm", "end_effector", "adroit_hand/adroit_relocate.xml"),
        "fetch": RobotFile("Fetch", "mobile_manipulator", "fetch/reach.xml"),
        "franka_kitchen": RobotFile(
            "Franka Emika Panda in a kitchen", "arm", "kitchen_franka/kitchen_assets/kitchen_env_model.xml"
        ),
        "shadow_hand": RobotFile("Shadow Hand", "end_effector", "hand/reach.xml", "Apache-2.0"),
    },
    "metaworld": {
        "sawyer": RobotFile("Rethink Robotics Sawyer", "arm", "sawyer_xyz/sawyer_reach_v3.xml"),
    },
    "myo_sim": {
        "myoelbow": RobotFile("Elbow with six muscles", "biomechanical", "legacy/elbow/myoelbow_1dof6muscles.xml"),
        "myoelbow_2dof": RobotFile(
            "Elbow and forearm with six muscles", "biomechanical", "legacy/elbow/myoelbow_2dof6muscles.xml"
        ),
        "myoelbow_exo": RobotFile(
            "Elbow with an exoskeleton", "biomechanical", "legacy/elbow/myoelbow_1dof6muscles_1dofexo.xml"
        ),
        "myofinger": RobotFile("Finger with five muscles", "biomechanical", "legacy/finger/myofinger_v0.xml"),
        "myolegs_osl": RobotFile("Leg and a prosthesis", "biomechanical", "legacy/osl/myolegs_osl.xml"),
    },
    "myosuite": {
        "mpl_arm": RobotFile("Modular prosthetic limb, left", "arm", "simhive/MPL_sim/scenes/left_arm.xml"),
        "myoarm": RobotFile("Arm with 63 muscles", "biomechanical", f"{_MYO}/arm/myoarm.xml"),
        "myobody": RobotFile("Body with 290 muscles", "biomechanical", f"{_MYO}/body/myobody.xml"),
        "myoelbow": RobotFile("Elbow with six muscles", "biomechanical", f"{_MYO}/elbow/myoelbow_1dof6muscles.xml"),
        "myofinger": RobotFile("Finger with five muscles", "biomechanical", f"{_MYO}/finger/myofinger_v0.xml"),
        "myohand": RobotFile("Hand with 39 muscles", "biomechanical", f"{_MYO}/hand/myohand.xml"),
        "myolegs": RobotFile("Legs with 80 muscles", "biomechanical", f"{_MYO}/leg/myolegs.xml"),
        "myotorso": RobotFile("Torso with 210 muscles", "biomechanical", f"{_MYO}/torso/myotorso.xml"),
    },
}
"""The robots of each source by name. Most lie in files with a floor; `menagerie.py` has those of MuJoCo Menagerie."""
