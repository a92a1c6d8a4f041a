"""Liquids of other engines: `python matter_peer.py mpm3d|genesis ROUNDS`, in a Python that has Taichi, or Genesis.

It prints JSON: the seconds of a processor, all threads together, that each round of substeps took.
"""

import json
import sys
import time
from collections.abc import Callable

SUBSTEPS = 30


def mpm3d() -> tuple[int, Callable[[], None]]:
    """Return the particles of Taichi's example, and a function that takes a substep."""
    from taichi.examples.simulation import mpm3d as example

    example.init()

    def step() -> None:
        example.substep()
        example.ti.sync()

    return int(example.n_particles), step


def genesis() -> tuple[int, Callable[[], None]]:
    """Return the particles of a cube of Genesis' liquid, and a function that takes a substep."""
    import genesis as gs  # type: ignore[import-not-found]

    gs.init(backend=gs.cpu, logging_level="error", seed=0)
    box = gs.options.MPMOptions(lower_bound=(0, 0, 0), upper_bound=(1, 1, 1), grid_density=32)
    scene = gs.Scene(sim_options=gs.options.SimOptions(dt=1e-4), mpm_options=box, show_viewer=False)
    cube = gs.morphs.Box(pos=(0.5, 0.5, 0.4), size=(0.315, 0.315, 0.315))
    entity = scene.add_entity(morph=cube, material=gs.materials.MPM.Liquid())
    scene.add_entity(morph=gs.morphs.Plane())
    scene.build()
    return int(entity.n_particles), scene.step


def main() -> None:
    """Time the substeps, and print them."""
    began = time.process_time()
    particles, step = {"mpm3d": mpm3d, "genesis": genesis}[sys.argv[1]]()
    step()
    first, seconds = time.process_time() - began, []
    for _ in range(int(sys.argv[2])):
        began = time.process_time()
        for _ in range(SUBSTEPS):
            step()
        seconds.append(time.process_time() - began)
    print(json.dumps({"particles": particles, "substeps": SUBSTEPS, "seconds": seconds, "first": first}))


if __name__ == "__main__":
    main()
