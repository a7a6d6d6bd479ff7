"""Judging traces while they are being written: a folder is watched, and finished files are read.

Theory of operation. Spark's streaming keeps for each run the state of its replay, in RocksDB, and
commits it batch by batch together with the list of the files that it has read. After each batch
the tables say of every run what ``purgatory trace check`` would say of the lines read so far. A
batch that was cut off is done again from the state before it, and its folder of rows replaces what
it may have left; so a kill at any moment loses nothing and counts nothing twice.
"""
