"""A stress run with real threads, and planted races that it must find; begin with ``harness``."""
