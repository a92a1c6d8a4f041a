"""A solver whose machine code is for another processor, as on a cluster whose nodes share a folder.

`python -m tests.physics.codegen.other_processor` prints states after some steps. PROCESSOR is LLVM's name of the
processor, one that this machine's can stand for; if it is empty, the code is for this machine's.
"""

import json
import os

import numpy as np

from tumble.physics.machine.codegen.llvm import llvm
from tumble.physics.run.compile import compile_process


def pretend() -> None:
    """Let LLVM and the keys of the store see the processor of that name, without any extension."""
    binding, name = llvm(), os.environ["PROCESSOR"]
    if name:
        binding.get_host_cpu_name = lambda: name
        binding.get_host_cpu_features = binding.FeatureMap


def main() -> None:
    """Compile, in the process that does."""
    pretend()
    compile_process.main()


def print_states() -> None:
    """Print positions and velocities of four environments."""
    import tumble
    from tumble.physics import Model, RigidSolver
    from tumble.physics.run.compile import compilers

    from .kept import FALLING

    pretend()
    compilers._MODULE = "tests.physics.codegen.other_processor"
    tumble.init(lanes=4, threads=1)
    solver = RigidSolver(Model.from_mjcf(FALLING), 4)
    solver.set_state(qvel=np.linspace(-1.0, 1.0, 4)[:, None])
    for _ in range(300):
        solver.step()
    print(json.dumps([solver.qpos.tolist(), solver.qvel.tolist()]))


if __name__ == "__main__":
    print_states()
