"""Workload studies: designs of the purgatory on a virtual clock, told apart by exact counts.

Theory of operation. A *setting* names a workload, a design and its parameters. The *simulation*
brings the requests of the workload to the design, millisecond by millisecond, and counts what the
design does. Nothing is timed: the same setting gives the same counts on every run. A *study* is a
list of settings with one question in common; *catalogue* has them all.

A design is put together of three parts, each with a module of its own: where time-outs wait
(``timers``), where operations are watched (``watcher_counts``), and when finished ones are purged
(``purging``). The lists are kept as counts, so that what would take a thousand million list steps
can be counted without taking them. ``bundled`` runs the same workload on ``purgatory_impl``
itself, and tests hold both to the same numbers.
"""
