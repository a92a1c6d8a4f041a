"""The cost of the live view's page in a headless Chromium without a graphics card: frames a second, CPU time a frame.

    python -m tests.viewer.speed --envs 20 --seconds 20 --picture ants.png
    python -m tests.viewer.speed --flag=--disable-gpu-compositing --pixels 0.6

A frame is one that the page has drawn. CPU times are those of the browser's processes, which a busy machine changes
little; frames a second are those of a quiet one only. SwiftShader draws in the process "gpu".
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import tumble

from .browser import OFFLINE, Browser

COUNTER = """
(() => {
  const told = window.drawn = {frames: 0, calls: 0, triangles: 0};
  let tick = 0, last = -1;
  const count = () => requestAnimationFrame(() => { tick++; count(); });
  count();
  for (const [name, at] of [['drawElements', 1], ['drawElementsInstanced', 1], ['drawArrays', 2],
                            ['drawArraysInstanced', 2]]) {
    const draw = WebGL2RenderingContext.prototype[name];
    WebGL2RenderingContext.prototype[name] = function (...given) {
      told.calls++;
      told.triangles += given[at] / 3 * (name.endsWith('Instanced') ? given[given.length - 1] : 1);
      if (tick !== last) { last = tick; told.frames++; }
      return draw.apply(this, given);
    };
  }
})();
"""
KINDS = {"gpu-process": "gpu", "renderer": "page", "utility": "others", "zygote": "others"}


def cpu_seconds(browser: Browser) -> dict[str, float]:
    """Return the CPU time of a browser's processes by what they are: gpu, page, browser, others."""
    parents, found = {}, {"gpu": 0.0, "page": 0.0, "browser": 0.0, "others": 0.0}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            numbers = (folder / "stat").read_text().rpartition(")")[2].split()
            words = (folder / "cmdline").read_text().replace(" ", "\0").split("\0")
        except OSError:
            continue
        ticks = int(numbers[11]) + int(numbers[12])
        kind = next((word.removeprefix("--type=") for word in words if word.startswith("--type=")), "")
        parents[int(folder.name)] = int(numbers[1]), KINDS.get(kind, "browser"), ticks / os.sysconf("SC_CLK_TCK")
    for pid, (_, kind, seconds) in parents.items():
        above = pid
        while above in parents and above != browser.pid:
            above = parents[above][0]
        if above == browser.pid:
            found[kind] += seconds
    return found


def measured(browser: Browser, seconds: float) -> dict[str, float]:
    """Return frames a second, draw calls and triangles a frame, and CPU milliseconds a frame by process."""
    browser.until("window.drawn.frames > 3")
    time.sleep(5.0)  # what is compiled at first has been
    before, first, start, own = browser.ask("window.drawn"), cpu_seconds(browser), time.monotonic(), time.process_time()
    time.sleep(seconds)
    after, last, own = browser.ask("window.drawn"), cpu_seconds(browser), time.process_time() - own
    frames = max(after["frames"] - before["frames"], 1)
    told = {"frames/s": frames / (time.monotonic() - start)}
    told |= {f"{name} CPU ms": 1000 * (last[name] - first[name]) / frames for name in last}
    told |= {"server CPU ms": 1000 * own / frames}
    return told | {name: (after[name] - before[name]) / frames for name in ("calls", "triangles")}


def main() -> None:
    """Show environments under random actions, and print what a frame costs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", default="Ant")
    parser.add_argument("--envs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--size", type=int, nargs=2, default=(800, 450))
    parser.add_argument("--shadows", action="store_true")
    parser.add_argument("--pixels", type=float, help="of the canvas for one of the page, along a side; viser adapts it")
    parser.add_argument("--flag", action="append", default=[], help="of Chromium; may be repeated")
    parser.add_argument("--picture", type=Path, help="a PNG of the page at the end")
    asked = parser.parse_args()
    envs = tumble.make_vec(asked.task, num_envs=asked.envs)
    viewer = envs.view(envs=range(asked.envs), block=False, shadows=asked.shadows)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(Path(folder), OFFLINE + ", EXCLUDE localhost", *asked.flag, size=tuple(asked.size))
        try:
            browser.call("Page.addScriptToEvaluateOnNewDocument", source=COUNTER)
            browser.open(viewer.url + (f"?fixedDpr={asked.pixels}" if asked.pixels else ""))
            told = measured(browser, asked.seconds)
            if asked.picture:
                browser.save(asked.picture)
        finally:
            browser.close()
            viewer.close()
    print("; ".join(f"{name} {value:.3g}" for name, value in told.items()))


if __name__ == "__main__":
    main()
