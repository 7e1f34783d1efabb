"""The build graph: what the build files and the finished binaries say about which source goes where."""
