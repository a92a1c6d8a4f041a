"""The address of `physics.files.urdf` before the rooms were made."""

from .files.urdf import UrdfError, UrdfWarning, link_frame, urdf_spec, velocity_limits

__all__ = ["UrdfError", "UrdfWarning", "link_frame", "urdf_spec", "velocity_limits"]
