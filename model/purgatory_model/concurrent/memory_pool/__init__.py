"""The memory pool that threads share; begin with ``model``."""
