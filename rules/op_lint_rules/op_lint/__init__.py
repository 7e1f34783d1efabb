"""Rules about op-lint itself: its comments, its configuration, and what it could not read."""
