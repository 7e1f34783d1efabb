"""Rules about single registrations and pairs of them: what loading a library does."""
