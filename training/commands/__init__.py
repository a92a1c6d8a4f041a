"""The commands of `tumble`, one file each, and their output."""
