"""The lights of a file, as MuJoCo defines them: directional and point-like, with cones, attenuation and soft shadows.

`Look.lights` chooses between them and the sun and sky that light every model alike. A light is a row of `table`, its
pose in the world follows from the bodies (`reading.placed_lights`). Light is linear here: a channel's square.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
import taichi as ti

from ...base.math import func
from ..shading import vec3

# columns of a light; lengths are metres
POSITION = 0  # 3 columns, from the camera; of a directional light 0
DIRECTION = 3  # 3 columns, unit: where it shines
AMBIENT = 6  # 3 columns
DIFFUSE = 9  # 3 columns
ATTENUATION = 12  # 3 columns: constant, linear (1/m), quadratic (1/m^2)
CONE = 15  # 2 columns: cosine of the cutoff, -1: none; exponent
SHINE = 17  # mean specular light
DIRECTIONAL = 18  # 1 if its rays are parallel
SHADOW = 19  # 1 if it casts one
RADIUS = 20  # of its bulb, which makes shadows soft
LIGHT_COLUMNS = 21

_FIXED_READS = ("xpos", "xquat", "subtree_com")
_DIRECTIONAL, _SPOT, _IMAGE = (
    int(getattr(mujoco.mjtLightType, f"mjLIGHT_{name}")) for name in ("DIRECTIONAL", "SPOT", "IMAGE")
)


@dataclass(frozen=True, eq=False)
class Lights:
    """The lights of a model: the headlight, if it is on, and then the lights that are on in the file.

    Attributes:
        table: (m, LIGHT_COLUMNS) float32, without poses; one row that gives no light if there are no lights.
        ids: (m,) MuJoCo's ids; -1: the headlight.
    """

    table: np.ndarray
    ids: np.ndarray

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields of a solver that `poses` needs."""
        return _FIXED_READS if (self.ids >= 0).any() else ()


def lights(mj: mujoco.MjModel) -> Lights:
    """Collect the lights of a model that give light to surfaces."""
    rows, ids = [], []
    head = mj.vis.headlight
    if head.active:
        row = np.zeros(LIGHT_COLUMNS)
        _colour(row, head.ambient, head.diffuse, head.specular)
        row[DIRECTIONAL] = 1.0
        rows.append(row)
        ids.append(-1)
    for i in range(mj.nlight):
        if not mj.light_active[i] or int(mj.light_type[i]) == _IMAGE:
            continue
        row = np.zeros(LIGHT_COLUMNS)
        _colour(row, mj.light_ambient[i], mj.light_diffuse[i], mj.light_specular[i])
        row[DIRECTIONAL] = int(mj.light_type[i]) == _DIRECTIONAL
        row[ATTENUATION : ATTENUATION + 3] = mj.light_attenuation[i]
        row[CONE] = -1.0
        if int(mj.light_type[i]) == _SPOT:
            if mj.light_cutoff[i] < 180:
                row[CONE] = np.cos(np.radians(mj.light_cutoff[i]))
            row[CONE + 1] = mj.light_exponent[i]
        row[SHADOW], row[RADIUS] = mj.light_castshadow[i], mj.light_bulbradius[i]
        rows.append(row)
        ids.append(i)
    if not rows:
        rows, ids = [np.zeros(LIGHT_COLUMNS)], [-1]
    return Lights(np.array(rows, np.float32), np.array(ids))


def _colour(row: np.ndarray, ambient: np.ndarray, diffuse: np.ndarray, specular: np.ndarray) -> None:
    row[AMBIENT : AMBIENT + 3], row[DIFFUSE : DIFFUSE + 3] = np.square(ambient), np.square(diffuse)
    row[SHINE] = float(np.mean(specular))


@func
def three_of(table, env, k, column):
    """Three columns of a light."""
    return vec3(table[env, k, column], table[env, k, column + 1], table[env, k, column + 2])


@func
def shining(table, env, k, point):
    """Direction from a point to a light, its distance (m), and the share of its light that arrives there."""
    direction = three_of(table, env, k, DIRECTION)
    towards, far, share = -direction, ti.f32(1.0e30), ti.f32(1.0)
    if table[env, k, DIRECTIONAL] < 0.5:
        away = three_of(table, env, k, POSITION) - point
        far = ti.max(away.norm(), 1.0e-9)
        towards = away / far
        share /= ti.max(
            table[env, k, ATTENUATION] + far * (table[env, k, ATTENUATION + 1] + far * table[env, k, ATTENUATION + 2]),
            1.0e-6,
        )
        inward = -towards.dot(direction)
        if inward < table[env, k, CONE]:
            share = 0.0
        elif table[env, k, CONE + 1] > 0.0:
            share *= ti.pow(ti.max(inward, 0.0), table[env, k, CONE + 1])
    return towards, far, share
