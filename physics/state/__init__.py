"""What changes: the quantities of a step and how kernels reach them."""
