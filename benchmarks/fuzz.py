"""Damaged files by the thousand: models, meshes, scenes and run folders, each read as a user would read it.

The damage of a case depends only on the seed and the case's number, so it can be repeated:
`tumble bench fuzz --kinds mjcf --first 1234 --cases 1`. Cases run in another process: it may crash or hang, which is a
finding, and the next case runs in a new one. Other findings are exceptions that no docstring names, and models that
are accepted and whose state is not finite afterwards.
"""

import importlib
import json
import os
import random
import re
import select
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..physics.machine.children import python_command
from .results import BenchmarkResult, Table, Verdict

KINDS = ("mjcf", "urdf", "mesh", "scene", "run")
"""The kinds of files."""
RUNS_MODULE = "tumble.benchmarks.fuzz_runs"
"""The module with the reader of run folders; it imports this one."""
EXPECTED = ("accepted", "refused")
"""Outcomes of cases that are no findings."""
PATIENCE = 60.0
"""Seconds without an answer after which a case counts as hanging."""
BEGINNING = 600.0
"""Seconds that a process may take until its first case: it compiles solvers, or trains a run."""
STEPS = 5
"""Physics steps of a model that loads."""
COLUMNS = {"kind": "", "cases": ",.0f", "accepted": ",.0f", "refused": ",.0f", "findings": ".0f", "minutes": ".1f"}
NUMBERS = (
    *("0", "-0", "1", "-1", "2", "3", "0.5", "-0.5", "90", "-1e-3", "1e-3", "1e-9", "1e-40", "1e-300"),
    *("1e3", "1e6", "1e9", "1e10", "-1e10", "1e20", "1e38", "1e39", "-1e39", "1e300", "1e400", "nan", "inf", "-inf"),
)
"""Numbers that replace one in XML."""
VALUES = (
    *("", "999999999999", "0x10", "1 2", "1 2 3", "0 0 0", "1 0 0 0", "true", "auto", "none", "mesh", "free", "box"),
    *("a/b", "../..", "/dev/zero", "\u00e9", "&lt;b&gt;", *NUMBERS),
)
"""Words that replace an attribute or a number."""
REPLACEMENTS: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2, 10**30, 1e300, -1e300, 0.5, -0.5, 1e-300, float("nan"), float("inf")),
    *("x", "", "/dev/zero", "box", "../..", [], [[]], [1e300] * 3, [0.5, 0.5, 0.5], {}, {"a": 1}),
)
"""Values that replace one in JSON."""


class FuzzedReader(NamedTuple):
    """The way to read and to damage files of one kind.

    Attributes:
        inputs: undamaged ones.
        damage: returns a damaged copy of an input.
        read: reads one.
        refusals: the exceptions by which `read` may refuse one.
    """

    inputs: Sequence[Any]
    damage: Callable[[Any, random.Random], Any]
    read: Callable[[Any], object]
    refusals: tuple[type[BaseException], ...] = (ValueError, MemoryError)


def run(kinds: Sequence[str], cases: int, runs: int, first: int, seed: int) -> BenchmarkResult:
    """Read damaged files.

    Args:
        kinds: of `KINDS`.
        cases: how many of each kind but run folders.
        runs: how many run folders.
        first: the number of the first case.
        seed: of all damage.
    """
    result = BenchmarkResult([Table(f"Damaged files, seed {seed}", COLUMNS)])
    for kind in kinds:
        begun, count = time.monotonic(), runs if kind == "run" else cases
        outcomes = list(_outcomes(kind, seed, first, first + count))
        row: dict[str, Any] = {"kind": kind, "cases": count, "minutes": (time.monotonic() - begun) / 60}
        row |= {name: outcomes.count(name) for name in EXPECTED}
        findings = [outcome for outcome in outcomes if outcome not in EXPECTED]
        result.tables[0].rows.append(row | {"findings": len(findings)})
        result.notes += findings
        result.verdicts.append(Verdict(f"{kind}: findings", len(findings), 0, at_least=False))
    return result


def _outcomes(kind: str, seed: int, first: int, end: int) -> Iterator[str]:
    """Yield "accepted", "refused" or a finding for each case.

    Raises:
        RuntimeError: a process ended before its first case, because an undamaged input is refused, perhaps.
    """
    module = RUNS_MODULE if kind == "run" else __name__
    while first < end:
        with tempfile.TemporaryDirectory() as folder:
            program = f"from {__name__} import main; main()"
            command = python_command(program, module, kind, str(seed), str(first), str(end))
            stderr = Path(folder) / "stderr"
            begun, code = False, None
            with (
                stderr.open("wb") as errors,
                subprocess.Popen(command, bufsize=0, stdout=subprocess.PIPE, stderr=errors, cwd=folder) as process,
            ):
                try:
                    for answer in _answers(process):
                        if begun:
                            first += 1
                            yield answer
                        begun = True
                    code = process.poll()
                finally:
                    process.kill()
            words = stderr.read_text(errors="replace").strip()[-300:]
        hangs = f"it hangs: {PATIENCE if begun else BEGINNING:g} s without an answer"
        ending = hangs if code is None else f"it ends with code {code}: {words}"
        if not begun:
            raise RuntimeError(f"{kind}, before the first case: {ending}")
        if first < end:
            yield f"{kind} {first}: {ending}"
            first += 1


def _answers(process: "subprocess.Popen[bytes]") -> Iterator[str]:
    """Yield the answers of a process, until it ends or is silent for too long."""
    assert process.stdout is not None
    patience = BEGINNING
    while select.select([process.stdout], [], [], patience)[0]:
        line = process.stdout.readline()
        if not line:
            process.wait()
            return
        patience = PATIENCE
        yield json.loads(line)


def main() -> None:
    """Read the cases that the command line names and write a line for each, after one when the reader is ready.

    Undamaged inputs are read first; if one is refused, the process ends with that exception.
    """
    module, kind, *numbers = sys.argv[1:]
    seed, first, end = map(int, numbers)
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # output of libraries is no answer
        warnings.simplefilter("ignore")
        reader = importlib.import_module(module).READERS[kind]()
        for item in reader.inputs:
            reader.read(item)
        print(json.dumps("ready"), file=answers, flush=True)
        for number in range(first, end):
            chance = random.Random(f"{seed} {kind} {number}")
            outcome = _outcome(reader, reader.damage(chance.choice(reader.inputs), chance))
            outcome = outcome if outcome in EXPECTED else f"{kind} {number}: {outcome}"
            print(json.dumps(outcome), file=answers, flush=True)


def _outcome(reader: FuzzedReader, item: Any) -> str:
    """Return how reading goes: "accepted", "refused", or an exception's type, place and message."""
    try:
        reader.read(item)
        return "accepted"
    except reader.refusals:
        return "refused"
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}: {str(error)[:200]}"


def damaged_xml(text: str, chance: random.Random) -> str:
    """Return XML damaged one to three times: an attribute's words, a tag, or bytes."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        attributes = list(re.finditer(r'(\w+)="([^"]*)"', text))
        tags = list(re.finditer(r"<[^>]*/>", text))
        kind_of_damage = chance.random()
        if kind_of_damage < 0.75 and attributes:
            attribute = chance.choice(attributes)
            words = attribute[2].split() or [""]
            index = chance.randrange(len(words))
            numbers = re.fullmatch(r"[-+.\deE]+", words[index]) and chance.random() < 0.7
            words[index] = chance.choice(NUMBERS if numbers else (*VALUES, chance.choice(attributes)[2]))
            name = attribute[1] if chance.random() < 0.8 else chance.choice(attributes)[1]
            text = f'{text[: attribute.start()]}{name}="{" ".join(words)}"{text[attribute.end() :]}'
        elif kind_of_damage < 0.95 and tags:
            tag, other = chance.choice(tags), chance.choice(tags)[0]
            new = chance.choice(("", tag[0] * 2, other, tag[0] + other))
            text = text[: tag.start()] + new + text[tag.end() :]
        else:
            text = damaged_bytes(text.encode(), chance).decode(errors="replace")
    return text


def damaged_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return bytes of which some are changed, left out, repeated, or cut off at the end."""
    start = chance.randrange(len(data) + 1)
    length = chance.choice((1, 1, 4, 8, 64))
    part = data[start : start + length]
    new = chance.choice((b"", part * 2, bytes(chance.randrange(256) for _ in part), b"\xff" * len(part), None))
    return data[:start] if new is None else data[:start] + new + data[start + length :]


def damaged_json(value: Any, chance: random.Random) -> Any:
    """Return a copy of a JSON value with one or two entries left out or replaced, half of them by the same type."""
    value = json.loads(json.dumps(value))
    for _ in range(chance.choice((1, 1, 2))):
        inner, key = chance.choice(list(_entries(value)) or [([None], 0)])
        choice = chance.random()
        if choice < 0.2:
            del inner[key]
        elif choice < 0.6:
            same = [entry for entry in REPLACEMENTS if type(entry) is type(inner[key])]
            inner[key] = chance.choice(same)
        else:
            inner[key] = chance.choice(REPLACEMENTS)
    return value


def _entries(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each container in a JSON value, with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _entries(value[key])


class _Steps:
    """Steps models that need no other machine code than the undamaged ones, since compiling takes seconds."""

    def __init__(self, models: Sequence[Any]) -> None:
        from ..physics.machine.runtime import init
        from ..physics.model.features import Features

        init(precision="32", threads=1)
        self._compiled = {Features.of(model, True) for model in models}

    def __call__(self, model: Any) -> None:
        """Step a model; ArithmeticError if its state is not finite."""
        import torch

        from ..physics import RigidSolver
        from ..physics.model.features import Features

        if Features.of(model, True) in self._compiled:
            solver = RigidSolver(model, 4, lanes=4)
            solver.step(STEPS)
            for name in ("qpos", "qvel"):
                if not torch.isfinite(getattr(solver, name)).all():
                    raise ArithmeticError(f"{name} is not finite")
            solver.close()


def _mjcf() -> FuzzedReader:
    from ..assets import FOLDER
    from ..physics import Model

    texts = [(FOLDER / f"{name}.xml").read_text() for name in ("hopper", "ant", "reacher", "hand", "suite_finger")]
    steps = _Steps([Model.from_mjcf(texts[0])])
    return FuzzedReader(texts, damaged_xml, lambda text: steps(Model.from_mjcf(text)))


def _urdf() -> FuzzedReader:
    from ..physics import Model

    steps = _Steps([Model.from_urdf(URDF)])
    return FuzzedReader([URDF], damaged_xml, lambda text: steps(Model.from_urdf(text)))


def _mesh() -> FuzzedReader:
    """Return the reader of a mesh that a model names."""
    import trimesh

    from ..physics import Model

    box = trimesh.creation.box((1, 2, 3))
    files = {form: box.export(file_type=form) for form in ("stl", "obj", "ply", "off", "glb", "stl_ascii")}

    def damage(item: tuple[str, bytes], chance: random.Random) -> tuple[str, bytes]:
        return item[0], damaged_bytes(item[1], chance)

    def read(item: tuple[str, bytes]) -> None:
        path = Path(f"mesh.{item[0].partition('_')[0]}").absolute()
        path.write_bytes(item[1])
        Model.from_mjcf(
            f'<mujoco><asset><mesh name="m" file="{path}"/></asset><worldbody><body><freejoint/>'
            '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
        )

    return FuzzedReader(
        [(form, data if isinstance(data, bytes) else data.encode()) for form, data in files.items()], damage, read
    )


def _scene() -> FuzzedReader:
    """Return the reader of the description of a scene."""
    from .. import scene as gs

    gs.init(precision="32")
    scene = gs.Scene()
    scene.add_entity(gs.morphs.Plane())
    scene.add_entity(gs.morphs.Box(size=(0.1, 0.1, 0.1), pos=(0, 0, 1)), gs.materials.Rigid(rho=300.0), name="box")
    scene.add_entity(gs.morphs.MJCF(file="inverted_pendulum.xml"), surface=gs.surfaces.Gold())
    scene.add_camera(res=(8, 8))
    scene.add_light(pos=(0, 0, 3), dir=(0, 0, -1))
    scene.add_sensor(gs.sensors.IMU(entity_idx=1))
    description = json.loads(scene.describe())

    def read(description: Any) -> None:
        path = Path("scene.json")
        path.write_text(json.dumps(description))
        gs.Scene.load(path).close()

    return FuzzedReader([description], damaged_json, read)


URDF = """<robot name="arm"><link name="base"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0 0 0.1" rpy="0 0 0"/><geometry><box size="0.1 0.1 0.2"/></geometry></collision></link>
<link name="arm"><inertial><origin xyz="0 0 0.2"/><mass value="0.5"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><cylinder radius="0.02" length="0.4"/></geometry><material name="m"><color rgba="1 0 0 1"/></material>
</visual><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.2" rpy="0 0 0"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="2"/>
<dynamics damping="0.1" friction="0.01"/></joint>
<link name="hand"><inertial><mass value="0.1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="arm"/><child link="hand"/><axis xyz="0 0 1"/>
<limit lower="0" upper="0.1" effort="5" velocity="1"/>
<mimic joint="turn" multiplier="0.1" offset="0"/></joint></robot>"""
"""The robot that is damaged."""


READERS = {"mjcf": _mjcf, "urdf": _urdf, "mesh": _mesh, "scene": _scene}
"""The makers of the readers, by kind."""
