"""The judge of memory pools: ``judge``, ``history`` for visits, ``blame`` for what is wrong."""
