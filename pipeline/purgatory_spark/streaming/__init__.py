"""Judging traces while they are being written: files are read as they appear and grow.

Theory of operation. ``arrivals`` looks through the folder and orders spans of files; each order is
a batch of Spark's streaming. Of a topic of Kafka, Spark's own source takes their place, and offsets
that of spans. Workers read the lines, and keep for each run the state of its replay,
in RocksDB. After each batch the tables say of every run what ``purgatory trace check`` would say of
the lines read so far. A batch that was cut off is done again from the states and the tables before
it; so a kill at any moment loses nothing and counts nothing twice.
"""
