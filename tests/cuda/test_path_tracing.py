"""Path tracing on an emulated GPU: the processor's pictures but for rounding, which sends few paths another way."""

import mujoco
import pytest
import torch

import tumble
from tumble.physics.rendering import Camera
from tumble.physics.rendering.path.denoise import Guides, by_wavelets
from tumble.physics.rendering.path.tracer import PathTracer

from ..physics.rendering.conftest import MujocoPoses
from ..physics.rendering.path.test_rays import SCENE
from .emulation import Emulation, why_not
from .test_pictures import PROGRAM, ROOT

pytestmark = [
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.usefixtures("afterwards"),
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]

LOOKS = """
  <material name="lamp" rgba="1 0.9 0.8 1" emission="8"/><material name="gold" rgba="1 0.8 0.4 1" metallic="1"/>
  <material name="glass" rgba="0.9 1 0.9 1" roughness="0.3"/>"""
THINGS = """
  <geom type="box" size="0.3 0.3 0.02" pos="0 0 2.5" material="lamp"/>
  <geom size="0.2" pos="0.3 -0.5 0.5" material="glass"/><geom size="0.2" pos="-0.3 -0.8 0.4" material="gold"/>"""
ALL = (
    SCENE.replace("<asset>", f'<custom><numeric name="glass:ior" data="1.5"/></custom><asset>{LOOKS}')
    .replace("</worldbody>", f"{THINGS}</worldbody>")
    .replace("<mujoco>", '<mujoco><visual><headlight active="0"/></visual>')
)
SIZE, SAMPLES = (24, 16), 4
SAME = 0.95
"""Share of the pixels none of whose paths goes another way: at an edge, in a choice, through rough glass."""
CLOSE = 2e-3
"""Relative, of light in single precision along up to eight scatterings, for the others."""
OF_PATHS = PROGRAM.replace("cuda.test_pictures import pictures", "cuda.test_path_tracing import films")


def films():
    """Linear light of all kinds of geoms under a lamp and the sky, through a lens; its guides; its light, filtered."""
    source = MujocoPoses(mujoco.MjModel.from_xml_string(ALL), 2).scatter(seed=2, amount=0.2)
    camera = Camera(distance=3.5, azimuth=100, elevation=-25, lookat=(0, 0, 0.5))
    film = PathTracer(source.model, *SIZE, camera=camera, denoise=False, aperture=0.01).expose(source, samples=SAMPLES)
    return film.light.cpu(), [guide.cpu() for guide in film.guides], by_wavelets(film.light, film.guides).cpu()


def test_light_is_a_processors_but_for_rounding(tmp_path):
    """All paths but those that rounding sends another way; and the filter, on the light and guides of its own run."""
    tumble.init(precision="32", lanes=1)
    light, guides, _ = films()
    done = Emulation(tmp_path).run(OF_PATHS.replace("pictures()", "films()"), ROOT, tmp_path / "found.pt")
    found, found_guides, found_clean = torch.load(tmp_path / "found.pt")
    assert any(call["kernel"].startswith("trace_paths_") for call in done.calls("launch"))
    off = (found - light).abs().amax(dim=-1) / (0.1 + light.amax(dim=-1))
    print(f"of {off.numel()} pixels {int((off >= CLOSE).sum())} have a path that went another way")
    assert (off < CLOSE).double().mean() > SAME and light.std() > 0.1
    for ours, theirs in zip(guides, found_guides, strict=True):
        assert ((ours - theirs).abs() < 5 * CLOSE * (0.1 + ours.abs())).double().mean() > SAME
    clean = by_wavelets(found, Guides(*found_guides))
    assert ((found_clean - clean).abs() / (0.1 + clean)).max() < CLOSE and clean.std() > 0.05
