"""Rules about schema strings, and about kernels that have to fit them."""
