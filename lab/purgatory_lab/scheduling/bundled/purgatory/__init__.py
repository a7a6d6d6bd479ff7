"""The bundled purgatory under the scheduler; begin with ``scenarios``."""
