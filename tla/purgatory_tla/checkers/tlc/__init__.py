"""TLC: command line (``running``), log, the meaning of the log, traces and state graph.

``running`` is the entrance, ``outcome`` decides what the messages of ``log`` mean, ``errors`` turns
them into typed errors, ``traces`` and ``dot_dump`` read what TLC prints. ``class_archive``
keeps TLC's loaded classes between runs, so that a run starts faster.
"""
