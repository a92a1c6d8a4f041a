"""The commands of `tumble`, one file each, and what they print."""
