"""Rules about Python: registrations, calls of operators, loads of libraries."""
