"""Stages that ask for what they do not name, compiled in a process of their own: prints what each ends with."""

import os
import tempfile
import traceback

import taichi as ti

from tumble.physics.base.stage import stage
from tumble.physics.model.features import Features
from tumble.physics.model.state import reach
from tumble.physics.run.compile.compile_process import UnitCompiler

reach._PACKAGE = __name__  # so that what stands here is looked at
HALVES = ("hu", "lls"), ("qa", "cc"), ("n", "v")
NAMES_A_FIELD = "qacc"


@stage()
def asks_for_a_feature(model, work):
    if ti.static(getattr(model.has, "".join(HALVES[0]))):
        work.qvel[0] = work.qvel[0] + 1.0


@stage()
def asks_for_a_field(model, work):
    work.qvel[0] = getattr(work, "".join(HALVES[1]))[0]


@stage()
def asks_for_a_size(model, work):
    for i in range(getattr(model, "".join(HALVES[2]))):
        work.qvel[i] = 0.0


@stage()
def names_all(model, work):
    work.qvel[0] = getattr(work, NAMES_A_FIELD)[0]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        compiler, has = UnitCompiler(4, "32"), Features(*[False] * 6)
        for function in (asks_for_a_feature, asks_for_a_field, asks_for_a_size, names_all):
            try:
                print(function.name, "is compiled:", len(compiler.compile(function.name, has)) > 0)
            except Exception:
                print(traceback.format_exc())
        os.chdir("/")
