"""Matter on a GPU: kernels of Taichi over the tensors of a batch.

They run on a processor too, and say what the compiled code for processors computes in fewer words.
"""
