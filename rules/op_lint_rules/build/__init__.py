"""Rules about what the build files do with the registrations: compiled or not, linked or dropped, loaded twice."""
