"""The dispatcher of the torch that is installed, or of a bundled snapshot where none can be read."""
