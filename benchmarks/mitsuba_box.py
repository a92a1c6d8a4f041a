"""The Cornell box of `path_box.py` in mitsuba 3: reference pictures and speed. It needs only mitsuba.

python benchmarks/mitsuba_box.py speed
python benchmarks/mitsuba_box.py reference tests/physics/rendering/path/mitsuba_box.json
"""

import json
import sys
import time
from typing import Any

import numpy as np

DEPTH = 9
"""Longest paths, as mitsuba counts: eight scatterings and the light at the end."""
REGIONS = 8
"""Regions along a side of the reference."""


def box(size: int, samples: int, roulette: int = 1000) -> Any:
    """The scene in mitsuba's scalar variant, for a square picture; paths are ended at random from `roulette` on."""
    import mitsuba

    mitsuba.set_variant("scalar_rgb")
    at = mitsuba.ScalarTransform4f

    def matt(*colour: float) -> dict:
        return {"type": "diffuse", "reflectance": {"type": "rgb", "value": [part * part for part in colour]}}

    def put(kind: str, pose: Any, surface: dict, **more: Any) -> dict:
        return {"type": kind, "to_world": pose, "bsdf": surface} | more

    white, red, green = matt(0.85, 0.85, 0.85), matt(0.75, 0.2, 0.2), matt(0.3, 0.7, 0.3)
    radiance = [18 * part * part for part in (0.9, 0.8, 0.6)]
    film = {"type": "hdrfilm", "width": size, "height": size, "rfilter": {"type": "box"}, "pixel_format": "rgb"}
    look = at().look_at(origin=[0, -3.9, 1], target=[0, 0, 1], up=[0, 0, 1])
    sensor = {"type": "perspective", "fov": 40, "fov_axis": "y", "to_world": look, "film": film}
    move = at().translate
    lamp = move([0, 0, 1.98]) @ at().rotate([1, 0, 0], 180) @ at().scale([0.25, 0.25, 1])
    light = {"type": "area", "radiance": {"type": "rgb", "value": radiance}}
    tall = move([-0.35, 0.3, 0.6]) @ at().rotate([0, 0, 1], 20) @ at().scale([0.3, 0.3, 0.6])
    low = move([0.35, -0.3, 0.3]) @ at().rotate([0, 0, 1], -18) @ at().scale([0.3, 0.3, 0.3])
    return mitsuba.load_dict(
        {
            "type": "scene",
            "integrator": {"type": "path", "max_depth": DEPTH, "rr_depth": roulette},
            "sensor": sensor | {"sampler": {"type": "independent", "sample_count": samples}},
            "floor": put("rectangle", at(), white),
            "ceiling": put("rectangle", move([0, 0, 2]) @ at().rotate([1, 0, 0], 180), white),
            "back": put("rectangle", move([0, 1, 1]) @ at().rotate([1, 0, 0], 90), white),
            "left": put("rectangle", move([-1, 0, 1]) @ at().rotate([0, 1, 0], 90), red),
            "right": put("rectangle", move([1, 0, 1]) @ at().rotate([0, 1, 0], -90), green),
            "lamp": put("rectangle", lamp, matt(0.9, 0.8, 0.6), emitter=light),
            "tall": put("cube", tall, white),
            "low": put("cube", low, white),
        }
    )


def render(size: int, samples: int, roulette: int = 1000) -> tuple[np.ndarray, float, float]:
    """Linear light (size, size, 3), and seconds of clock and of processors."""
    import mitsuba

    scene, clock, busy = box(size, samples, roulette), time.perf_counter(), time.process_time()
    light = np.array(mitsuba.render(scene, seed=1)).reshape(size, size, 3)
    return light, time.perf_counter() - clock, time.process_time() - busy


def main(task: str, path: str = "") -> None:
    """Print million paths a second, or write the reference."""
    import mitsuba

    if task == "speed":
        _, clock, busy = render(256, 16, roulette=5)
        paths = 256 * 256 * 16 / 1e6
        print(json.dumps({"clock": paths / clock, "busy": paths / busy, "version": mitsuba.__version__}))
        return
    size, samples = 64, 4096
    light, _, _ = render(size, samples)
    means = light.reshape(REGIONS, size // REGIONS, REGIONS, size // REGIONS, 3).mean(axis=(1, 3))
    made = {"made by": "python benchmarks/mitsuba_box.py reference", "mitsuba": mitsuba.__version__}
    made |= {"variant": "scalar_rgb", "samples": samples, "date": time.strftime("%Y-%m-%d"), "means": means.tolist()}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made, file)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
