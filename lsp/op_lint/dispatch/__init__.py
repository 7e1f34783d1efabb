"""Torch's dispatcher, modelled without torch: keys, the computed table of an operator, and the path of a call."""
