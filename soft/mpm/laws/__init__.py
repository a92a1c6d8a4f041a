"""Laws of materials, in any arithmetic: compiled code, Taichi's, numpy's."""
