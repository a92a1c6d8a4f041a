"""The eleven MuJoCo tasks of Gymnasium, version 5: a file each, a row each in `envs/registry.py`."""
