"""The maps of the mazes: rows of cells from north to south.

`#` is a wall and `.` is free. Episodes begin in cells `r` and goals lie in cells `g`; `c` is both. Where a map has no
cells of a kind, every free cell is one.
"""

from collections.abc import Sequence

U_MAZE = (
    "#####",
    "#...#",
    "###.#",
    "#...#",
    "#####",
)
OPEN = (
    "#######",
    "#.....#",
    "#.....#",
    "#.....#",
    "#######",
)
OPEN_DIVERSE_G = (
    "#######",
    "#rgggg#",
    "#ggggg#",
    "#ggggg#",
    "#######",
)
OPEN_DIVERSE_GR = (
    "#######",
    "#ccccc#",
    "#ccccc#",
    "#ccccc#",
    "#######",
)
MEDIUM = (
    "########",
    "#..##..#",
    "#..#...#",
    "##...###",
    "#..#...#",
    "#.#..#.#",
    "#...#..#",
    "########",
)
MEDIUM_DIVERSE_G = (
    "########",
    "#r.##..#",
    "#..#..g#",
    "##...###",
    "#..#...#",
    "#g#..#.#",
    "#...#g.#",
    "########",
)
LARGE = (
    "############",
    "#....#.....#",
    "#.##.#.#.#.#",
    "#......#...#",
    "#.####.###.#",
    "#..#.#.....#",
    "##.#.#.#.###",
    "#..#...#...#",
    "############",
)
LARGE_DIVERSE_G = (
    "############",
    "#r...#g....#",
    "#.##.#.#.#.#",
    "#....g.#..g#",
    "#.####.###.#",
    "#.g#.#.....#",
    "##.#.#.#.###",
    "#..#g.g#.g.#",
    "############",
)


def combined(rows: Sequence[str]) -> tuple[str, ...]:
    """Return a map whose cells for starts and for goals are cells for both."""
    return tuple(row.replace("r", "c").replace("g", "c") for row in rows)


MAPS = {
    "UMaze": U_MAZE,
    "Open": OPEN,
    "Open_Diverse_G": OPEN_DIVERSE_G,
    "Open_Diverse_GR": OPEN_DIVERSE_GR,
    "Medium": MEDIUM,
    "Medium_Diverse_G": MEDIUM_DIVERSE_G,
    "Medium_Diverse_GR": combined(MEDIUM_DIVERSE_G),
    "Large": LARGE,
    "Large_Diverse_G": LARGE_DIVERSE_G,
    "Large_Diverse_GR": combined(LARGE_DIVERSE_G),
}
"""The maps by their names in the ids of tasks."""
_CELLS = {1: "#", 0: ".", "1": "#", "0": "."}


def rows_of(maze_map: str | Sequence[Sequence[str | int]]) -> tuple[str, ...]:
    """Return the rows of a map by its name, or of rows of cells, in which walls may be 1 and free cells 0.

    Raises:
        ValueError: there is no such name, the rows differ in length, or a cell is of an unknown kind.
    """
    if isinstance(maze_map, str):
        if maze_map not in MAPS:
            raise ValueError(f"maze_map={maze_map!r}: the known names are {', '.join(MAPS)}")
        return MAPS[maze_map]
    rows = tuple("".join(_CELLS.get(cell, str(cell)) for cell in row) for row in maze_map)
    if len({len(row) for row in rows}) != 1:
        raise ValueError("maze_map: the rows differ in length" if rows else "maze_map: there are no rows")
    if wrong := {cell for row in rows for cell in row} - set("#.rgc"):
        raise ValueError(f"maze_map: a cell is {min(wrong)!r}; the known kinds are #, ., r, g, c, 1 and 0")
    return rows
