"""TLC: its command line (``running``), its log, what the log means, its traces, its state graph.

``running`` is the entrance, ``outcome`` decides what the messages of ``log`` mean, ``errors`` turns
them into typed errors, ``traces`` and ``dot_dump`` read what TLC prints. ``class_archive``
keeps TLC's loaded classes between runs, so that a run starts faster.
"""
