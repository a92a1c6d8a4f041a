"""Names that scripts of Genesis have for members of other names here, and for choices."""

from types import SimpleNamespace

from ..options import CONES, INTEGRATORS, SOLVERS

GENESIS_NAMES: dict[str, dict[str, str]] = {
    "SceneNames": {"lifecycle": "destroy=close"},
    "EntityNames": {
        "index": "base_link_idx=link_start",
        "contacts": "get_aabb=get_AABB",
        "parameters": "set_links_inertial_mass=set_links_mass get_links_inertial_mass=get_links_mass",
    },
    "DroneEntity": {"index": "COM_link_idx=link_start"},
}
"""By class and by the object that has the member: the name, and the member's name (`flat_names`)."""

integrator, constraint_solver, friction_cone = (
    SimpleNamespace(**{name: name for name in names}) for names in (INTEGRATORS, SOLVERS, CONES)
)
"""Names of choices, as in `gs.constraint_solver.Newton`."""
