"""The quantities of a step, and the views through which kernels reach them."""
