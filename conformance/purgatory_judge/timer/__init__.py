"""The judge of timers: ``judge``, ``history`` for visits, ``blame`` for what is wrong."""
