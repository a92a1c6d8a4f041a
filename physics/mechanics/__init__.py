"""The kernels of mechanics: kinematics, dynamics, collision, constraints, and sensors that read them."""
