"""Sensors of a scene, for `Scene.add_sensor`: `gs.sensors.IMU(entity_idx=robot.idx, acc_noise=0.01)`."""

from types import SimpleNamespace

from .options import IMU, Contact, ContactForce, DepthCamera, JointTorque, Raycaster, SensorOptions
from .patterns import DepthCameraPattern, GridPattern, RayPattern, SphericalPattern

Lidar = Raycaster
RaycastPattern = RayPattern


types = SimpleNamespace(
    **{kind.__name__: kind.__name__ for kind in (IMU, Contact, ContactForce, JointTorque, Raycaster, DepthCamera)}
)
"""The names of kinds of sensors: keys of the readings that `Scene.read_sensors` returns."""

__all__ = [
    "IMU",
    "Contact",
    "ContactForce",
    "DepthCamera",
    "DepthCameraPattern",
    "GridPattern",
    "JointTorque",
    "Lidar",
    "RayPattern",
    "RaycastPattern",
    "Raycaster",
    "SensorOptions",
    "SphericalPattern",
    "types",
]
