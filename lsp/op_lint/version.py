"""The version of op-lint, in a module that imports nothing."""

VERSION = "0.1.0"
