"""Materials, options and morphs of Genesis that are not here: each is refused by name, with the nearest that is."""

from typing import Any

_MATERIALS = {
    "SPH.Liquid": "MPM.Liquid",
    "PBD.Liquid": "MPM.Liquid",
    "PBD.Elastic": "MPM.Elastic",
    "PBD.Particle": "MPM.Sand",
    "PBD.Cloth": "MPM.Elastic, which is no sheet",
    "FEM.Elastic": "MPM.Elastic",
    "FEM.Cloth": "MPM.Elastic, which is no sheet",
    "FEM.Muscle": "MPM.Elastic, which does not contract",
    "SF.Smoke": "MPM.Liquid",
    "MPM.Muscle": "MPM.Elastic, which does not contract",
    "Hybrid": "Rigid for the links, and an entity of MPM.Elastic beside them",
    "Tool": "Rigid, with a morph that is fixed",
    "Kinematic": "Rigid, with a morph that is fixed",
}
"""By material: the nearest here."""
_OPTIONS = {
    "SPHOptions": "MPMOptions, for liquids of materials.MPM.Liquid",
    "PBDOptions": "MPMOptions, for materials.MPM",
    "FEMOptions": "MPMOptions, for materials.MPM.Elastic",
    "SFOptions": "MPMOptions, for materials.MPM",
    "ToolOptions": "RigidOptions",
    "KinematicOptions": "RigidOptions",
    "SAPCouplerOptions": "LegacyCouplerOptions",
    "IPCCouplerOptions": "LegacyCouplerOptions",
}
"""By class of options: the nearest here."""
_MUSCLE = "there is no material that contracts"
_OF_MATTER = {
    **dict.fromkeys(("set_actuation", "set_particles_actu", "get_particles_actu"), _MUSCLE),
    **dict.fromkeys(("set_muscle_group", "get_muscle_group", "set_muscle_direction", "set_muscle"), _MUSCLE),
    **dict.fromkeys(("set_free", "get_free"), "particles cannot be held; a fixed rigid body among them can"),
    **dict.fromkeys(
        ("set_particle_constraints", "remove_particle_constraints"),
        "no springs hold particles at links; contact and friction do (`Rigid(coup_friction=...)`)",
    ),
}
"""By call of entities of matter: why it is not here."""


class AbsentGroup:
    """A group of materials, each of which is refused when it is asked for: `gs.materials.SPH`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Refuse a material.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(_refusal("materials", f"{self._name}.{name}", _MATERIALS))


def absent_material(name: str) -> AbsentGroup:
    """Return a group of materials that are not here.

    Raises:
        AttributeError: for any other name.
    """
    if any(key.startswith(f"{name}.") for key in _MATERIALS):
        return AbsentGroup(name)
    raise AttributeError(_refusal("materials", name, _MATERIALS))


def refusal_of_call(name: str) -> str:
    """Return the message about a call that entities of matter do not have."""
    why = _OF_MATTER.get(name)
    return f"MPMEntity has no attribute {name!r}" + (f": {why}" if why else "")


def refusal_of_options(name: str) -> str:
    """Return the message about options that are not here."""
    return _refusal("options", name, _OPTIONS)


def _refusal(room: str, name: str, nearest: dict[str, str]) -> str:
    if name not in nearest:
        return f"module 'tumble.scene.{room}' has no attribute {name!r}"
    return f"{room}.{name} is not in Tumble: use {nearest[name]}"
