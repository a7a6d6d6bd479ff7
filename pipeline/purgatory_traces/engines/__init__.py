"""Engines: they read lines, sort them by run, have them judged, and write the rows.

``local`` does so in this process, ``spark`` on many cores and machines; ``choice`` says which one
takes the files and why. ``external_sort`` sorts what does not fit into memory, ``sinks`` writes the
three tables, whole or not at all. The rows of all engines are equal; Spark's files are
not those of the local engine.
"""
