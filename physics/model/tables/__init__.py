"""The numbers of a model as kernels read them."""
