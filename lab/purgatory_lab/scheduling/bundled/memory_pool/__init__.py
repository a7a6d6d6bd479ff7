"""The bundled memory pool under the scheduler; begin with ``scenarios``."""
