"""The concurrent purgatory with the exact accounting; begin with ``model``."""
