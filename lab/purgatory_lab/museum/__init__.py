"""The museum: bugs that people reported, and what finds each of them; begin with ``page``."""
