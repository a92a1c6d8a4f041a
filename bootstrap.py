"""From a fresh clone to a result, with nothing but Python and git on the machine.

    python3 bootstrap.py          set up, train HalfCheetah, evaluate it in Tumble and in MuJoCo, film it
    python3 bootstrap.py test     set up, pass the tests
    python3 bootstrap.py check    set up, lint, check formatting and types
    python3 bootstrap.py docs     set up, build the site of `docs` with the API into `site`

Everything goes into `.venv` beside this file, with the versions that `constraints.txt` pins; a second call reuses it.
Only the standard library is used here.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
OLDEST, NEWEST = (3, 11), (3, 13)  # Taichi 1.7.4 has wheels for these
RUN = "runs/first"

TASKS = {
    "demo": (
        "mujoco",
        [
            ["tumble", "train", "HalfCheetah", "--out", RUN],
            ["tumble", "evaluate", RUN, "--in", "tumble", "--in", "mujoco", "--video", f"{RUN}/half_cheetah.mp4"],
        ],
    ),
    "test": ("test", [["pytest", "-n", "auto", "--dist", "worksteal"]]),
    "check": ("dev", [["ruff", "check"], ["ruff", "format", "--check"], ["python", ".ci/typecheck.py"]]),
    "docs": ("docs", [["python", ".ci/build_site.py"]]),
}

ORIGINALS = ("dm_control", "gymnasium-robotics", "metaworld", "mujoco-menagerie", "myo-sim", "pettingzoo")
"""The packages with the models, tasks and lists that tests compare with.

Some pin another MuJoCo, so pip installs them without their dependencies, of which the extra `test` has the necessary
ones; Gymnasium-Robotics imports PettingZoo.
"""


def main() -> int:
    """Set up for the task that the command line names, and run its commands until one fails."""
    name = sys.argv[1] if len(sys.argv) > 1 else "demo"
    if name not in TASKS or len(sys.argv) > 2:
        print(__doc__)
        return 2
    extra, commands = TASKS[name]
    os.chdir(ROOT)
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        return run_with_another_python()
    set_up(extra)
    for command in commands:
        print("$", " ".join(command), flush=True)
        code = subprocess.call([str(BIN / command[0]), *command[1:]])
        if code:
            return code
    return 0


def run_with_another_python() -> int:
    """Start this script again with a Python that Taichi has wheels for, if the machine has one."""
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        other = shutil.which(f"python3.{minor}")
        if other:
            return subprocess.call([other, __file__, *sys.argv[1:]])
    here = ".".join(map(str, sys.version_info[:2]))
    print(f"Tumble needs Python 3.11, 3.12 or 3.13; this is {here}, and no other is on the PATH.", file=sys.stderr)
    return 1


def set_up(extra: str) -> None:
    """Make `.venv` and install Tumble with one of its extras, unless that was done for these very files."""
    stamp = VENV / f".installed-{extra}"
    inputs = b"".join((ROOT / name).read_bytes() for name in ("pyproject.toml", "setup.py", "constraints.txt"))
    digest = hashlib.sha256(inputs + str(ROOT).encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    if not (BIN / "pip").exists() and not (BIN / "pip.exe").exists():
        make_venv()
    install("-e", f".[{extra}]")
    if extra == "test":
        install("--no-deps", *ORIGINALS)
    stamp.write_text(digest)


def make_venv() -> None:
    """Make the virtual environment; Debian and Ubuntu package the module apart."""
    if subprocess.call([sys.executable, "-P", "-m", "venv", "--clear", str(VENV)]):
        version = ".".join(map(str, sys.version_info[:2]))
        sys.exit(f"python -m venv failed; on Debian or Ubuntu: sudo apt install python{version}-venv")


def install(*what: str) -> None:
    """Run pip in the virtual environment under the constraints."""
    command = [str(BIN / "python"), "-P", "-m", "pip", "install", "-c", "constraints.txt", *what]
    print("$ pip", " ".join(command[4:]), flush=True)
    code = subprocess.call([*command, "--quiet", "--disable-pip-version-check"])
    if code:
        sys.exit(code)


if __name__ == "__main__":
    sys.exit(main())
