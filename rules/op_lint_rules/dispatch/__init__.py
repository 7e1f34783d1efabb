"""Rules about what the dispatcher makes of the kernels that are there."""
