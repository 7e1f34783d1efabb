"""Build files that are Python (`setup.py`) or look like it (Bazel's and Buck's), evaluated in part and never run."""
