"""Keys of units: which models share a unit's machine code, and what makes it another one's."""

import shutil
import subprocess
import sys
from dataclasses import fields, replace
from types import SimpleNamespace

import pytest

from tumble.physics.base.stage import STAGES
from tumble.physics.machine.codegen import keys
from tumble.physics.model.features import Features
from tumble.physics.model.state import reach
from tumble.physics.run.compile.compile_process import UnitCompiler
from tumble.physics.run.compile.units import TURN, features_asked, unit_reach

PLAIN = Features(*[False] * 6)
UNITS = [TURN, *STAGES]


def all_keys(has, width=4, precision="32"):
    compiler = SimpleNamespace(lanes=SimpleNamespace(width=width), precision=precision)
    return {name: UnitCompiler.key(compiler, name, has) for name in UNITS}


def others(has, **circumstances):
    """The units whose keys are other ones than those of a plain model."""
    plain, changed = all_keys(PLAIN), all_keys(has, **circumstances)
    assert len(set(changed.values())) == len(UNITS)
    return {name for name in UNITS if plain[name] != changed[name]}


@pytest.mark.parametrize("feature", [field.name for field in fields(Features)])
def test_models_share_the_units_that_do_not_ask_for_what_they_differ_in(feature):
    asking = {name for name in UNITS if feature in features_asked(name)}
    assert others(replace(PLAIN, **{feature: True})) == asking != set(UNITS)


def test_width_and_precision():
    assert others(PLAIN) == set()
    assert others(PLAIN, width=8) == others(PLAIN, precision="64") == set(UNITS)


def test_circumstances(monkeypatch):
    """The sources, the processor, what it can do, and the versions of Taichi and llvmlite."""
    plain, binding = keys.key_of("unit"), keys.llvm()
    found = {plain}

    def changed(name, value):
        with monkeypatch.context() as patched:
            patched.setattr(keys, name, value)
            keys._circumstances.cache_clear()
            found.add(keys.key_of("unit"))
        keys._circumstances.cache_clear()

    asked = "get_process_triple", "get_host_cpu_name", "get_host_cpu_features"
    as_it_is = {name: getattr(binding, name) for name in asked}
    for name in asked:
        other = SimpleNamespace(flatten=lambda: "+other") if name == "get_host_cpu_features" else "other"
        changed("llvm", lambda name=name, other=other: SimpleNamespace(**{**as_it_is, name: lambda: other}))
    for package in ("taichi", "llvmlite"):
        changed("version", lambda asked, package=package: "0" if asked == package else "1")
    changed("hash_of", lambda *_: "other")
    changed("_FORMAT", 0)
    assert len(found) == 8 and keys.key_of("unit") == plain


def test_sources(monkeypatch, tmp_path):
    """A changed, a new and a renamed file; but not one of a room that no unit is made of."""
    for room in (*keys._ROOMS, "rendering"):
        shutil.copytree(keys._ROOT / room, tmp_path / room, dirs_exist_ok=True)
    for name in keys._FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(keys._ROOT / name, tmp_path / name)

    def sources():
        keys.hash_of.cache_clear()
        return keys.hash_of(keys._ROOMS, keys._FILES)

    before = sources()
    monkeypatch.setattr(keys, "_ROOT", tmp_path)
    assert sources() == before
    (tmp_path / "rendering/cast/scene.py").write_text("")
    assert sources() == before
    path = tmp_path / "mechanics/constraint/rows.py"
    path.write_text(path.read_text() + "\n")
    changed = sources()
    path.rename(path.with_name("other.py"))
    renamed = sources()
    (tmp_path / "base/math/new.py").write_text("")
    assert len({before, changed, renamed, sources()}) == 4
    keys.hash_of.cache_clear()


def test_all_code_of_units_is_in_the_hash(monkeypatch):
    """The modules whose functions a unit may reach."""
    modules, visit = set(), reach._Walk._visit_function

    def noted(self, function):
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        modules.add(function.__module__)
        visit(self, function)

    monkeypatch.setattr(reach._Walk, "_visit_function", noted)
    unit_reach.cache_clear()
    for name in UNITS:
        unit_reach(name)
    hashed = {
        f"tumble.physics.{name.replace('/', '.')}"
        for name in (*keys._ROOMS, *(file.removesuffix(".py") for file in keys._FILES))
    }
    assert len(modules) > 50
    assert {module for module in modules if ".".join(module.split(".")[:3]) not in hashed} == set()


def test_the_process_that_compiles_does_not_wait_for_torch():
    """Torch takes a second of each first start and 90 MB, and kernels need nothing of it."""
    code = "import sys; import tumble.physics.run.compile.compile_process; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split()[-1] == "False"
