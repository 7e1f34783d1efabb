"""op-lint: what the PyTorch dispatcher will do with your registrations, before the build."""
