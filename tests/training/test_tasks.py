"""A task of one's own is found by module and by file, from anywhere, and mistakes name the file and the remedy."""

import importlib
import os
import pickle
import subprocess
import sys

import gymnasium as gym
import pytest

import tumble
from tumble.training.tasks import TaskError, find_task, gymnasium_twin, load_task, make_vec, short_name, task_id

TWO = '\ntumble.register("me/HeavyLever-v0", Lever, max_episode_steps=20, weight=2.0)\n'


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("levers.py", "me/Lever-v0"),
        ("./levers.py:me/Lever-v0", "me/Lever-v0"),
        ("levers.py:", "me/Lever-v0"),
        ("levers.py:lever", "me/Lever-v0"),
        ("levers:me/Lever-v0", "me/Lever-v0"),
        ("levers:", "me/Lever-v0"),
        ("levers", "me/Lever-v0"),
    ],
)
def test_every_form_gives_what_finds_it_from_anywhere(workshop, monkeypatch, tmp_path, name, found):
    file = workshop.write("levers.py")
    assert find_task(name) == f"{file}:{found}"
    assert find_task(f"{file}:{found}") == f"{file}:{found}", "a reference stands for itself"
    assert find_task("me/Lever-v0") == f"{file}:{found}", "once imported, the id is enough, and leads back to the file"
    monkeypatch.chdir(tmp_path)
    envs = make_vec(f"{file}:{found}", num_envs=2)
    assert envs.unwrapped.max_episode_steps == 20 and type(envs.unwrapped.task).__name__ == "Lever"
    envs.close()


def test_another_process_elsewhere_understands_the_reference(workshop, tmp_path):
    workshop.write("neighbour.py", "WEIGHT = 3.0\n")
    workshop.write("levers.py", more="\nimport neighbour\nLever.__doc__ = str(neighbour.WEIGHT)\n")
    reference = find_task("levers.py")
    program = (
        "import sys; from tumble.training.tasks import load_task; print(load_task(sys.argv[1]).kwargs['task'].__doc__)"
    )
    command = [sys.executable, "-c", program, reference]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "3.0"


def test_what_a_script_imported_by_itself_is_found_too(workshop, monkeypatch):
    file = workshop.write("levers.py")
    monkeypatch.syspath_prepend(workshop.folder)
    importlib.import_module("levers")
    assert find_task("levers.py") == find_task("levers:") == f"{file}:me/Lever-v0"


def test_pickles_know_the_class(workshop):
    workshop.write("levers.py")
    task = load_task(find_task("levers.py")).kwargs["task"]
    assert task.__module__ == "levers" and pickle.loads(pickle.dumps(task)) is task


def test_a_part_of_a_package_is_imported_as_one(workshop):
    workshop.write("robots/__init__.py", "")
    workshop.write("robots/shape.py", "from pathlib import Path\nFILE = str(Path(__file__).parents[1] / 'lever.xml')\n")
    file = workshop.write("robots/levers.py", more="\nfrom .shape import FILE\n")
    by_file, by_module = find_task("robots/levers.py"), find_task("robots.levers:me/Lever-v0")
    assert by_file == by_module == f"{file}:me/Lever-v0"
    assert load_task(by_file).kwargs["task"].__module__ == "robots.levers"


def test_installed_modules_keep_their_name(workshop, monkeypatch):
    """What lies where Python's packages lie is found by name in any folder."""
    from tumble.training import task_source

    workshop.write("installed/levers.py")
    monkeypatch.syspath_prepend(workshop.folder / "installed")
    monkeypatch.setattr(task_source, "is_users", lambda filename: False)
    assert find_task("levers") == "levers:me/Lever-v0"
    assert load_task("levers:me/Lever-v0").id == "me/Lever-v0"


def test_two_files_with_one_id_are_told_apart(workshop):
    first = workshop.write("first.py")
    with pytest.warns(UserWarning, match="Overriding environment me/Lever-v0"):
        references = [find_task("first.py"), (workshop.write("second.py"), find_task("second.py"))[1]]
    homes = [load_task(reference).kwargs["task"].__module__ for reference in references]
    assert homes == ["first", "second"] and references[0] == f"{first}:me/Lever-v0"


def test_what_was_registered_by_hand_is_found_by_id(workshop):
    """In a notebook or a script of one's own there is no file to name."""
    workshop.write("levers.py", more='\ntumble.register("me/SlowAnt-v0", tumble.envs.registry.make_task("Ant", {}))\n')
    find_task("levers:SlowAnt")
    load_task("me/SlowAnt-v0")
    tumble.register("me/ByHand-v0", gym.registry["me/Lever-v0"].kwargs["task"])
    assert find_task("me/ByHand-v0") == "me/ByHand-v0" == find_task("byhand")
    assert task_id("me/ByHand-v0") == "me/ByHand-v0" and short_name("/a/b.py:me/ByHand-v0") == "ByHand-v0"


def test_tumbles_own_names_come_first(workshop):
    workshop.write("levers.py", more='\ntumble.register("me/Ant-v0", Lever)\n')
    assert find_task("levers:ant").endswith("levers.py:me/Ant-v0")
    assert find_task("Ant") == "tumble/Ant-v0" and find_task("me/Ant").endswith(":me/Ant-v0")


def test_only_tumbles_own_tasks_have_a_twin():
    assert gymnasium_twin("tumble/Ant-v0") == "Ant-v5"
    assert gymnasium_twin("tumble/Nowhere-v0") is None
    assert gymnasium_twin("me/Ant-v0") is None and gymnasium_twin("/a/ant.py:Ant-v0") is None


@pytest.mark.parametrize(
    ("files", "name", "message"),
    [
        ({}, "me/Lever-v0", r"unknown task 'me/Lever-v0'; .*my_tasks:me/Name-v0 or path/to/my_tasks\.py"),
        ({}, "HalfChetah", "did you mean tumble/HalfCheetah-v0"),
        ({}, "levers.py", r"levers\.py: no such file"),
        ({}, "/nowhere/levers.py:me/Lever-v0", r"change `task` in the config\.toml"),
        ({}, "levers:me/Lever-v0", "there is no module 'levers', neither in the present folder"),
        ({}, "robots/levers:me/Lever-v0", r"give its path: robots/levers\.py"),
        (
            {"levers.py": "import tumble\n"},
            "levers.py",
            r'registered no task; it should call tumble\.register\("me/Name',
        ),
        ({"levers.py": "import tumble\n"}, "levers:Lever", r"registered no task; it should call tumble\.register"),
        ({"levers.py": None}, "levers.py:me/Bar-v0", "no task 'me/Bar-v0'; it registers me/Lever-v0"),
        ({"levers.py": TWO}, "levers.py", r"choose levers\.py:me/HeavyLever-v0 or levers\.py:me/Lever-v0"),
        ({"levers.py": TWO}, "levers", "registers several tasks; choose levers:me/HeavyLever-v0 or levers:me/Lever-v0"),
        ({"levers.py": "import tumble\n\n1 / 0\n"}, "levers.py", r"workshop/levers\.py:3: ZeroDivisionError: division"),
        (
            {"levers.py": "import tumble\nx = (\n"},
            "levers",
            r"workshop/levers\.py:2: SyntaxError: '\(' was never closed",
        ),
        ({"levers.py": "\nimport nothere_\n"}, "levers.py", r"levers\.py:2: ModuleNotFoundError: No module named 'not"),
        ({"levers.py": "import sys\nsys.exit(3)\n"}, "levers.py", r"levers\.py:2: SystemExit: 3"),
        ({"levers.py": "import other\n", "other.py": "\n\nx.y\n"}, "levers.py", r"other\.py:3: NameError: name 'x'"),
        ({"random.py": None}, "random.py", "'random' is a module of Python's own; rename the file"),
        ({"gymnasium.py": None}, "gymnasium.py", r"'gymnasium' is taken by another module, .*site-packages"),
    ],
)
def test_mistakes_name_the_file_and_the_remedy(workshop, files, name, message):
    for file, code in files.items():
        workshop.write(file, **({"more": code or ""} if code in (None, TWO) else {"code": code}))
    before = list(sys.path)
    with pytest.raises(TaskError, match=message) as raised:
        find_task(name)
    assert len(str(raised.value).splitlines()) == 1
    if not files or "levers" not in sys.modules:
        assert sys.path == before, "a failed import leaves nothing behind"


def test_the_stem_of_an_imported_neighbour_is_taken(workshop):
    workshop.write("levers.py")
    other = workshop.write("elsewhere/levers.py")
    find_task("levers.py")
    with pytest.raises(TaskError, match=r"elsewhere/levers\.py: the name 'levers' is taken by .*workshop/levers\.py"):
        find_task(str(other))


def test_a_mistake_can_be_mended_and_tried_again(workshop):
    workshop.write("levers.py", "import tumble\n1 / 0\n")
    with pytest.raises(TaskError):
        find_task("levers.py")
    path = workshop.write("levers.py")
    os.utime(path, (1, 1))
    assert find_task("levers.py").endswith(":me/Lever-v0")


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (("lever.xml", "bar.xml"), {}, r"me/Lever-v0: no model file bar\.xml in .*workshop"),
        (
            ("Start(noise.uniform(-0.1, 0.1, 1)", "Start(noise.uniform(-0.1, 0.1, 2)"),
            {},
            r"Lever\.reset: qpos has shape",
        ),
        (("return Start", "goals\n        return Start"), {}, r"levers\.py:14: NameError: name 'goals'"),
        (("state.memory", "state.fields"), {}, r"levers\.py:17: KeyError: .*Lever\.reads"),
        (("weight: float", "weight: float"), {"wieght": 2.0}, "unexpected keyword argument 'wieght'; there is weight"),
        (("weight: float", "weight: float"), {"weight": "much"}, "weight must be a number"),
        (("weight: float", "weight: float"), {"frame_skip": 0}, "frame_skip is 0"),
    ],
)
def test_mistakes_in_making_it_name_task_and_place(workshop, change, options, message):
    code = workshop.write("levers.py").read_text()
    workshop.write("levers.py", code.replace(*change))
    reference = find_task("levers.py")
    with pytest.raises(TaskError, match=message) as raised:
        make_vec(reference, num_envs=2, **options)
    assert "me/Lever-v0" in str(raised.value) and raised.value.__cause__ is not None


def test_a_mistake_of_tumbles_keeps_its_traceback(workshop, monkeypatch):
    from tumble.envs.gym import vector_env

    def broken(*arguments, **options):
        return [][0]

    broken.__code__ = broken.__code__.replace(co_filename=vector_env.__file__)
    monkeypatch.setattr(vector_env, "TaskBatch", broken)
    workshop.write("levers.py")
    with pytest.raises(IndexError):
        make_vec(find_task("levers.py"), num_envs=2)
