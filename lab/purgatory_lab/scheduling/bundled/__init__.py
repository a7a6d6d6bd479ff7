"""The bundled implementation under the scheduler: its table, worlds, checks and scenarios."""
