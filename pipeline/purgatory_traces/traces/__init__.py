"""The lines of traces: their types, their parsing, and the files they are read from.

``lines`` has the types and is the place to begin; ``schema`` is the same as a JSON Schema.
``parsing`` reads one line strictly, ``sources`` finds files and reads them through
``byte_streams``, ``parquet`` keeps lines as a table. ``from_cases`` tells a case of the suite as a
run; ``synthetic`` makes up runs of any length, some with a fault that is known.
"""
