"""Meta-World's tasks by their ids."""

from ..row import Row
from .names import KINDS

STEPS = 500

ROWS = {
    f"metaworld/{name}": Row(f"metaworld.{kind.partition('.')[0]}", STEPS, kind=kind.partition(".")[2])
    for name, kind in KINDS.items()
}
