"""Print the oldest versions that pyproject.toml allows, as constraints for pip: `python .ci/lowest.py [EXTRA ...]`.

python .ci/lowest.py test > lowest.txt && pip install -c lowest.txt -e ".[test]"
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def constraints(extras: list[str]) -> dict[str, str]:
    """Return package -> constraint, of the dependencies and of some extras; the higher of two bounds holds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lists = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras)]
    lowest: dict[str, tuple[int, ...]] = {}
    for requirement in (requirement for names in lists for requirement in names):
        words = re.match(r"([\w-]+)(?:\[[\w,]+\])?[>=]=([\d.]+)(?:,<[\d.]+)?(?: *;.*)?$", requirement)
        if words is not None:
            numbers = tuple(int(number) for number in words[2].split("."))
            lowest[words[1]] = max(numbers, lowest.get(words[1], ()))
        elif re.search(r"\d", requirement):
            sys.exit(f"pyproject.toml: no lower bound can be read in {requirement!r}")
    return {name: f"{name}=={'.'.join(map(str, numbers))}" for name, numbers in lowest.items()}


if __name__ == "__main__":
    print("\n".join(constraints(sys.argv[1:]).values()))
