"""Traces on many cores and machines: PySpark reads, sorts, judges and writes.

    commands      ``purgatory campaign`` and ``purgatory trace watch``
    campaigns     many seeded runs of the suite, resumable, isolated from what they do
    streaming     traces judged while they are written
    engine        ``purgatory trace check`` by Spark: a session, its jobs, their errors

``purgatory trace check`` finds the engine by its entry point, and nothing imports this package.
Begin with ``engine.engine``.
"""
