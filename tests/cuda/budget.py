"""The cost of a step on a GPU, as far as that is known without one: the table of docs/how_it_works/gpu.md.

    python -m tests.cuda.budget --write docs/how_it_works/gpu.md

Registers and spills are those of NVIDIA's assembler (`ptxas.py`), instructions and accesses those that the emulation
executes for environments in the states where random controls have led them.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from .emulation import Emulation, why_not
from .ptxas import find_ptxas, ptxas_report

ROOT = Path(__file__).parents[2]
MODELS, NUM_ENVS, STEPS, SM = ("Ant", "Humanoid"), 256, 150, 90
"""So many environments that the threads without one, which only find that out, cost less than a hundredth."""
COUNTED = {
    "instructions": "instructions",
    "address loads": "pointer_loads",
    "float loads": "float_loads",
    "integer loads": "integer_loads",
    "stores": "stores",
    "flops": "flops",
}
ASSEMBLED = {"registers": "registers", "bytes spilled": "spill_stores", "bytes filled": "spill_loads"}
GROWTH = 0.1
"""Share by which a figure may be larger than in the table."""
BEGIN, END = (
    "<!-- budget: python -m tests.cuda.budget --write docs/how_it_works/gpu.md -->",
    "<!-- end of the budget -->",
)
PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv.pop(1))
import torch
import tumble
from tumble.benchmarks.models import load, random_controls
from tumble.physics import RigidSolver
from tumble.physics.machine.runtime import init_columns
num_envs, steps, *names = sys.argv[1:]
num_envs, steps = int(num_envs), int(steps)
starts, contacts = {}, {}
tumble.init(precision="32", lanes=4)
for name in names:
    solver = RigidSolver(load(name), num_envs)
    controls = random_controls(solver.model, num_envs, steps + 1, seed=0)
    for control in controls[:-1]:
        solver.ctrl = control
        solver.step()
    starts[name] = solver.state_dict(), controls[-1]
    contacts[name] = solver.contacts.mask.sum(1).double().mean().item()
init_columns(arch="cuda", precision="32")
for name, (state, control) in starts.items():
    solver = RigidSolver(load(name), num_envs)
    solver.load_state_dict(state)
    solver.ctrl = control
    solver.step()
print(json.dumps(contacts))
"""


def measure(folder: Path) -> dict[str, dict[str, float]]:
    """The figures of each model, by their headings; those of ptxas only where it is to be found."""
    done = Emulation(folder, count=True, log=False, sm=SM).run(PROGRAM, ROOT, NUM_ENVS, STEPS, *MODELS)
    contacts = json.loads(done.stdout.splitlines()[-1])
    _, *launches = (launch for launch in done.counts if re.fullmatch(r"run_.*_range_for", launch["kernel"]))
    assert len(launches) == len(MODELS), [launch["kernel"] for launch in launches]
    assembled = _assembled(done.modules, launches[0]["kernel"])
    figures = {}
    for name, launch in zip(MODELS, launches, strict=True):
        counts = {heading: launch[kind] / NUM_ENVS for heading, kind in COUNTED.items()}
        figures[name] = {"contacts": contacts[name], **counts, **assembled}
    return figures


def _assembled(modules: list[Path], kernel: str) -> dict[str, float]:
    """What ptxas says of a kernel; nothing where there is no ptxas."""
    module = next(path for path in modules if kernel in path.read_text())
    report = ptxas_report(module, SM)
    return {} if report is None else {heading: getattr(report[kernel], kind) for heading, kind in ASSEMBLED.items()}


def table(figures: dict[str, dict[str, float]]) -> str:
    """The figures in Markdown, between the marks."""
    headings = [*COUNTED, *ASSEMBLED]
    lines = [BEGIN, "| " + " | ".join(["", *headings]) + " |", "|---" * (1 + len(headings)) + "|"]
    for name, row in figures.items():
        cells = [f"{float(f'{row[heading]:.3g}'):,.0f}" for heading in COUNTED]
        cells += [f"{row[heading]:.0f}" for heading in ASSEMBLED]
        lines.append("| " + " | ".join([f"{name}, {row['contacts']:.2g} contacts", *cells]) + " |")
    return "\n".join([*lines, END])


def read_table(text: str) -> dict[str, dict[str, float]]:
    """The figures of a page's table."""
    header, _, *rows = text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip().splitlines()
    headings = _cells(header)[1:]
    return {
        _cells(row)[0].partition(",")[0]: {
            heading: float(cell.replace(",", "")) for heading, cell in zip(headings, _cells(row)[1:], strict=True)
        }
        for row in rows
    }


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def grown(before: dict[str, dict[str, float]], now: dict[str, dict[str, float]]) -> list[str]:
    """What costs more than in the table by more than its tenth."""
    return [
        f"{name}: {heading} {row[heading]:,.0f}, in the table {allowed:,.0f}"
        for name, row in now.items()
        for heading, allowed in before[name].items()
        if heading in row and row[heading] > (1 + GROWTH) * allowed
    ]


def write(page: Path, figures: dict[str, Any]) -> None:
    """Replace the table of a page."""
    text = page.read_text(encoding="utf-8")
    first, rest = text.split(BEGIN)
    page.write_text(first + table(figures) + rest.split(END)[1], encoding="utf-8")


def main() -> int:
    """Command line; see the module docstring."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="replace the table of this page")
    page = parser.parse_args().write
    lacking = why_not() or (None if find_ptxas() else "ptxas is not to be found: name it by TUMBLE_PTXAS")
    if lacking:
        print(f"error: {lacking}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder))
    print(table(figures))
    if page:
        write(page, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
