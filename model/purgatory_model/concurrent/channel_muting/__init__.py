"""Channels that wait for memory: clients, network threads, handlers; begin with ``model``."""
