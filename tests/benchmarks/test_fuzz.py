"""The fuzzer: a few cases of each kind, and that it reports what goes wrong."""

import importlib
import random

import pytest

import tumble
from tumble.benchmarks import fuzz

CASES = 20
SEED = 52
FAULTS = """
import os, time

from tumble.benchmarks.fuzz import FuzzedReader

def read(number):
    if number == 1:
        raise KeyError("not documented")
    if number == 2:
        raise ValueError("documented")
    if number == 3:
        os._exit(11)
    if number == 4:
        time.sleep(1000)

count = iter(range(int(os.sys.argv[4]), 100))
print("what a library prints")
READERS = {"run": lambda: FuzzedReader([0], lambda item, chance: next(count), read)}
"""
REFUSING = """
from tumble.benchmarks.fuzz import FuzzedReader
READERS = {"run": lambda: FuzzedReader([""], lambda item, chance: item, int)}
"""


@pytest.fixture
def single_precision():
    yield
    tumble.init(precision="32")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("kind", ["mjcf", "urdf", "mesh", "scene", pytest.param("run", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore")
def test_damaged_files_are_read_or_refused(kind, folder, single_precision):
    """Each undamaged input is accepted; each damaged one is accepted and stays finite, or is refused as documented."""
    module = fuzz if kind != "run" else importlib.import_module(fuzz.RUNS_MODULE)
    reader = module.READERS[kind]()
    for item in reader.inputs:
        reader.read(item)
    outcomes = []
    for number in range(CASES):
        chance = random.Random(f"{SEED} {kind} {number}")
        outcomes.append(fuzz._outcome(reader, reader.damage(chance.choice(reader.inputs), chance)))
    assert set(outcomes) == set(fuzz.EXPECTED)


@pytest.mark.parametrize("kind", fuzz.KINDS[:2])
def test_damage_depends_on_the_seed_and_the_number(kind):
    text = fuzz.URDF
    damaged = [fuzz.damaged_xml(text, random.Random(f"0 {kind} {number}")) for number in range(30)]
    assert damaged == [fuzz.damaged_xml(text, random.Random(f"0 {kind} {number}")) for number in range(30)]
    assert len(set(damaged)) > 25 and damaged.count(text) < 3


def faulty(folder, monkeypatch, program):
    """Let a module of the test stand in for the one that reads run folders."""
    (folder / "faulty_reader.py").write_text(program)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(fuzz, "RUNS_MODULE", "faulty_reader")
    monkeypatch.setattr(fuzz, "PATIENCE", 5.0)


def test_what_goes_wrong_is_reported(folder, monkeypatch):
    """An undocumented exception with its line, a process that ends, one that hangs; the next case has a new process."""
    faulty(folder, monkeypatch, FAULTS)
    result = fuzz.run(["run"], 300, 6, 0, 0)
    (row,) = result.tables[0].rows
    assert (row["accepted"], row["refused"], row["findings"]) == (2, 1, 3)
    raised, ended, hung = result.notes
    assert raised == "run 1: KeyError at faulty_reader.py:8: 'not documented'"
    assert ended.startswith("run 3: it ends with code 11") and hung == "run 4: it hangs: 5 s without an answer"
    assert not result.verdicts[0].met


def test_a_refused_undamaged_input_is_an_error(folder, monkeypatch):
    faulty(folder, monkeypatch, REFUSING)
    with pytest.raises(RuntimeError, match=r"run, before the first case: it ends with code 1(?s:.*)invalid literal"):
        fuzz.run(["run"], 0, 3, 0, 0)
