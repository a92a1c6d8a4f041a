"""Reading a compiled `mujoco.MjModel`: what several parts ask of it. Knows no field of Tumble's own."""
