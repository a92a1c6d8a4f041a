"""The ray caster: its kernels and their launches."""
