"""The table of sensor types in the docs, from MuJoCo's own list: `python -m tests.models.sensor_table`."""

from pathlib import Path

import mujoco

from tumble.physics.files.mjmodel import sensors
from tumble.physics.files.mjmodel.sensors import ELSEWHERE, REASONS, type_of

PAGE = Path(__file__).parents[2] / "docs" / "physics.md"
BEGIN, END = "<!-- sensors: made by tests.models.sensor_table -->", "<!-- end of sensors -->"
BUT = {
    sensors._nothing: "computed",
    sensors._without_frame: "computed",
    sensors._contacts: "computed; not of a site whose shape has no inside",
    sensors._ray: "computed; not of a camera, nor among geoms that no ray meets",
    sensors._distance: "computed; not from height fields or signed distance functions",
    sensors._inside: "computed; not of a site whose shape has no inside",
}
"""What is said of the types that a function of `REASONS` stands for."""


def rows() -> list[tuple[str, str]]:
    """Return the name of every type of MuJoCo's list, and whether it is computed."""
    return [
        (type_of(kind), BUT[REASONS[kind]] if kind in REASONS else f"not computed: {ELSEWHERE[type_of(kind)]}")
        for kind in map(int, mujoco.mjtSensor.__members__.values())
    ]


def written(text: str) -> str:
    """Return the page with the table as it has to be; types of which the same is said stand in one row."""
    said: dict[str, list[str]] = {}
    for name, what in rows():
        said.setdefault(what, []).append(f"`{name}`")
    lines = ["| types | |", "|---|---|", *(f"| {', '.join(names)} | {what} |" for what, names in said.items())]
    before, rest = text.split(BEGIN, 1)
    return "\n".join([before + BEGIN, "", *lines, "", END + rest.split(END, 1)[1]])


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
