"""The bundled implementation with a recorder around it, component by component."""
