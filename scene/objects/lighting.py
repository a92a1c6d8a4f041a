"""Lights of a scene: lamps, suns, and shapes that shine."""

from collections.abc import Callable, Sequence

from ..checks import Numbers, number, numbers
from ..entity.entity import RigidEntity
from ..model.lights import Light
from ..morphs import Morph
from ..records import same_with
from ..surfaces import Emission
from .contents import SceneContents


class SceneLighting:
    """The calls of a scene that add lights.

    Args:
        contents: of the scene.
        add_entity: `Scene.add_entity`.
    """

    def __init__(self, contents: SceneContents, add_entity: Callable[..., RigidEntity]) -> None:
        self._contents, self._add_entity = contents, add_entity

    def add_light(
        self,
        pos: Numbers,
        dir: Numbers,
        color: Numbers = (1.0, 1.0, 1.0),
        intensity: float = 1.0,
        directional: bool = False,
        castshadow: bool = True,
        cutoff: float = 45.0,
        attenuation: float = 0.0,
    ) -> None:
        """Add a light, which becomes one of the model's; pictures then have no sun, and no light of the sky.

        The model's headlight stays. A page for browsers keeps its sun.

        Args:
            pos: where it stands, (3,) m.
            dir: direction in which it shines, (3,).
            color: red, green and blue, from 0 on.
            intensity: factor of its colour.
            directional: whether its rays are parallel, as the sun's; else it is a lamp.
            castshadow: whether it casts shadows.
            cutoff: degrees from its direction up to which a lamp shines.
            attenuation: share by which it is weaker for each metre.

        Raises:
            SceneOrderError: the scene is built.
            ValueError: an argument is impossible.
        """
        self._contents.require_not_built("add_light")
        self._contents.lights.append(Light.of(pos, dir, color, intensity, directional, castshadow, cutoff, attenuation))

    def add_mesh_light(
        self,
        morph: Morph | None = None,
        color: Sequence[float] = (1.0, 1.0, 1.0, 1.0),
        intensity: float = 20.0,
        revert_dir: bool = False,
        double_sided: bool = False,
        cutoff: float = 180.0,
    ) -> RigidEntity:
        """Add a shape that shines: an entity that stands still and touches nothing. Path tracing lets it light others.

        Args:
            morph: its shape and place.
            color: red, green and blue, from 0 on; a fourth number is not used.
            intensity: factor of its colour.
            revert_dir: has no effect here: it shines to all sides, as has
            double_sided: no surface is one-sided.
            cutoff: 180: other angles are refused, as it shines to all sides.

        Returns:
            The entity.

        Raises:
            SceneOrderError: the scene is built.
            ValueError: an argument is impossible.
            TypeError: `morph` is no shape.
        """
        self._contents.require_not_built("add_mesh_light")
        owner = "add_mesh_light"
        if not isinstance(morph, Morph):
            raise TypeError(f"{owner}: morph={morph!r}: expected a shape, such as gs.morphs.Sphere(radius=0.1)")
        if cutoff != 180.0:
            raise ValueError(f"{owner}: cutoff={cutoff!r}: a shape shines to all sides; scene.add_light has lamps")
        factor = number(owner, "intensity", intensity, least=0.0)
        parts = numbers(owner, "color", tuple(color)[:3], 3)
        count = sum(name.startswith("mesh_light_") for name in self._contents.entity_names)
        still = {"fixed": True} if hasattr(morph, "fixed") else {}
        return self._add_entity(
            same_with(morph, collision=False, **still),
            surface=Emission(emissive=tuple(factor * part for part in parts)),
            name=f"mesh_light_{count}",
        )
