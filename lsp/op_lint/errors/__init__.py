"""What torch says when a registration or a call fails: recognised in a log, and explained by the project's sources.

`log` reads a text of any size, `recognise` finds torch's messages in it (`calls`, `registration`, `schemas`, `python`,
`checks` and `loading` say which there are, and what they mean), `diagnosis` holds each against the program.
"""
