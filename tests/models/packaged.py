"""Third-party models that arrive inside installed packages: Gymnasium's own and dm_control's suite.

Files of dm_control are found without importing it, which under MuJoCo 4 asks for a patch (`envs/control_suite.py`).
"""

import importlib.util
from pathlib import Path

GYMNASIUM = (
    "ant",
    "half_cheetah",
    "hopper",
    "walker2d_v5",
    "humanoid",
    "inverted_pendulum",
    "inverted_double_pendulum",
)
DM_CONTROL = ("cartpole", "pendulum", "acrobot", "cheetah", "hopper", "walker")


def packaged_models() -> dict[str, Path | None]:
    """Return name -> file for each model; None where the package is not installed."""
    found = {f"gymnasium {n}": _file("gymnasium", f"envs/mujoco/assets/{n}.xml") for n in GYMNASIUM}
    return found | {f"dm_control {n}": _file("dm_control", f"suite/{n}.xml") for n in DM_CONTROL}


def _file(package: str, path: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    file = Path(spec.submodule_search_locations[0]) / path
    return file if file.is_file() else None
