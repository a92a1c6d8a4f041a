"""The table of kinds in the docs, and pictures: `python -m tumble.terrain.kinds_table docs/reference/terrain_kinds.md`.

The table is made of the kinds' signatures and docstrings; pictures lie in the folder with the page's name.
"""

import inspect
import re
import sys
from pathlib import Path

from .genesis_names import GENESIS_KINDS
from .kinds import KINDS, Generator
from .relief import relief, sample_of

FROM_FILES = ("image", "mesh", "given")
BEGIN, END = "<!-- kinds: made by tumble.terrain.kinds_table -->", "<!-- end of kinds -->"


def parameters_of(kind: Generator) -> dict[str, tuple[str, str]]:
    """Return the kind's parameters: by name, the default as it is written and the docstring's description."""
    doc = (inspect.getdoc(kind) or "").partition("Args:\n")[2].partition("\n\n")[0]
    words = {name: " ".join(text.split()) for name, text in re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", doc, re.M)}
    return {
        name: ("" if parameter.default is parameter.empty else repr(parameter.default), words.get(name, ""))
        for name, parameter in [*inspect.signature(kind).parameters.items()][3:]
    }


def table() -> str:
    """Return the tables of all kinds as Markdown."""
    lines = ["| | kind | parameters |", "|---|---|---|"]
    for name, kind in KINDS.items():
        picture = "" if name in FROM_FILES else f"![{name}](terrain_kinds/{name}.png)"
        listed = [
            f"`{own}{f'={default}' if default else ''}` {words}"
            for own, (default, words) in parameters_of(kind).items()
        ]
        what = " ".join((inspect.getdoc(kind) or "").split("\n\nArgs:")[0].split())
        lines.append(f"| {picture} | **{name}**<br>{what} | {'<br>'.join(listed)} |")
    lines += ["", "| name in isaacgym and Genesis | is | parameters |", "|---|---|---|"]
    for name, kind in GENESIS_KINDS.items():
        listed = [f"`{own}={default}`" for own, (default, _) in parameters_of(kind).items()]
        lines.append(f"| `{name}` | {inspect.getdoc(kind)} | {', '.join(listed)} |")
    return "\n".join(lines)


def written(page: str) -> str:
    """Return a page with the table as it should be."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}"


def draw_kinds(folder: Path) -> None:
    """Draw every kind that is made only from numbers."""
    import imageio.v3

    folder.mkdir(parents=True, exist_ok=True)
    for name in KINDS:
        if name not in FROM_FILES:
            picture = relief(sample_of(name), (8.0, 8.0), width=260)
            imageio.v3.imwrite(folder / f"{name}.png", picture, plugin="pillow", optimize=True)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(written(path.read_text("utf-8")), encoding="utf-8")
    draw_kinds(path.with_suffix(""))
