"""Sensors of a scene, for `Scene.add_sensor`: `gs.sensors.IMU(entity_idx=robot.idx, acc_noise=0.01)`."""

from .options import IMU, Contact, ContactForce, DepthCamera, JointTorque, Raycaster, SensorOptions
from .patterns import DepthCameraPattern, GridPattern, RayPattern, SphericalPattern

Lidar = Raycaster
RaycastPattern = RayPattern


class types:
    """The names of kinds of sensors: keys of what `Scene.read_sensors` returns."""

    IMU = "IMU"
    Contact = "Contact"
    ContactForce = "ContactForce"
    JointTorque = "JointTorque"
    Raycaster = "Raycaster"
    DepthCamera = "DepthCamera"


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
