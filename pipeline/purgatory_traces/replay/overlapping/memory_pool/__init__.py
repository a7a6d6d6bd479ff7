"""A memory pool on a real clock: every answer needs an order of the calls that explains it."""
