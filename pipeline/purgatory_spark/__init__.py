"""Traces on many cores and machines: PySpark reads, sorts, judges and writes."""
