"""The lines of traces: what they say, how they are read, and where from.

``lines`` has the types and is the place to begin; ``schema`` is the same as a JSON Schema.
``parsing`` reads one line strictly, ``sources`` finds files and reads them through
``byte_streams``, ``parquet`` keeps lines as a table. ``from_cases`` tells a case of the suite as a
run; ``synthetic`` makes up runs of any length, some with a fault that is known.
"""
