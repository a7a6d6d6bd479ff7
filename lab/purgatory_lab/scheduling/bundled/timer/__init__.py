"""The bundled timer under the scheduler; begin with ``scenarios``."""
