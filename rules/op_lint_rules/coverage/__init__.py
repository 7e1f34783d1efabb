"""Rules about kernels that are missing."""
