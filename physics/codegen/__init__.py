"""Machine code of our own for launches on a CPU: made by llvmlite, called without Taichi."""
